//@ test: red blue red
//@ test: one two three .two
//@ test: .gone
//@ test: ab ba ab .ab ab
//@ test: k p u z .p k
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 5

struct entry {
    struct entry *next;
    char *word;
    int seen;
};

static unsigned hash(const char *word)
{
    unsigned sum = 0;
    while (*word != '\0')
        sum = sum * 31 + (unsigned char)*word++;
    return sum % BUCKETS;
}

static struct entry *lookup(struct entry **buckets, const char *word, int create)
{
    struct entry **link = &buckets[hash(word)];
    struct entry *entry;
    while (*link != NULL && strcmp((*link)->word, word) != 0)
        link = &(*link)->next;
    if (*link != NULL || !create)
        return *link;
    entry = malloc(sizeof *entry);
    entry->word = malloc(strlen(word) + 1);
    strcpy(entry->word, word);
    entry->seen = 0;
    entry->next = NULL;
    *link = entry;
    return entry;
}

static int drop(struct entry **buckets, const char *word)
{
    struct entry *entry = lookup(buckets, word, 0);
    struct entry **link = &buckets[hash(word)];
    if (entry == NULL)
        return 0;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    free(entry->word);
    free(entry);
    return 1;
}

static int release(struct entry *entry)
{
    int n = 0;
    while (entry != NULL) {
        struct entry *next = entry->next;
        printf(" %s*%d", entry->word, entry->seen);
        free(entry->word);
        free(entry);
        entry = next;
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    struct entry *buckets[BUCKETS] = {NULL};
    int i, longest = 0;
    for (i = 1; i < argc; i++) {
        if (argv[i][0] != '.')
            lookup(buckets, argv[i], 1)->seen++;
        else if (!drop(buckets, argv[i] + 1))
            printf("no %s\n", argv[i] + 1);
    }
    for (i = 0; i < BUCKETS; i++) {
        int n;
        printf("%d:", i);
        n = release(buckets[i]);
        printf("\n");
        if (n > longest)
            longest = n;
    }
    printf("longest %d\n", longest);
    return 0;
}

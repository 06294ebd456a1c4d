//@ test: tea eat ate
//@ test: stop dog post god pots
//@ test: a
//@ test: abcdefgh ba ab Ab
//@ test: no on six won now own too
#include <stdio.h>
#include <string.h>

#define WORDS 6
#define LONGEST 7

struct entry {
    char key[LONGEST + 1];
    const char *word;
};

static int make_key(const char *word, char *key)
{
    int n = 0;
    for (; *word != '\0'; word++) {
        int at = n;
        if (n == LONGEST)
            return 0;
        while (at > 0 && key[at - 1] > *word) {
            key[at] = key[at - 1];
            at--;
        }
        key[at] = *word;
        n++;
    }
    key[n] = '\0';
    return 1;
}

static void place(struct entry **order, int n, struct entry *entry)
{
    struct entry **slot = order + n;
    while (slot > order && strcmp(slot[-1]->key, entry->key) > 0) {
        *slot = slot[-1];
        slot--;
    }
    *slot = entry;
}

static struct entry **group_end(struct entry **from, struct entry **end)
{
    struct entry **at = from + 1;
    while (at < end && strcmp((*at)->key, (*from)->key) == 0)
        at++;
    return at;
}

int main(int argc, char **argv)
{
    struct entry entries[WORDS];
    struct entry *order[WORDS];
    struct entry **at;
    int i, n = 0;
    for (i = 1; i < argc && n < WORDS; i++) {
        if (!make_key(argv[i], entries[n].key)) {
            printf("%s is too long\n", argv[i]);
            continue;
        }
        entries[n].word = argv[i];
        place(order, n, &entries[n]);
        n++;
    }
    for (at = order; at < order + n;) {
        struct entry **end = group_end(at, order + n);
        printf("%d:", (int)(end - at));
        for (; at < end; at++)
            printf(" %s", (*at)->word);
        printf("\n");
    }
    return 0;
}

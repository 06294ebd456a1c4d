//@ test: k1 k2
//@ test: a
//@ test: aa bb cc
//@ test: one two
//@ test: x y z
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 3

struct entry {
    char name[8];
    int count;
    struct entry *next;
};

static struct entry *buckets[BUCKETS];

static int bucket_of(const char *name)
{
    int sum = 0;
    while (*name != '\0') {
        sum += *name & 31;
        name++;
    }
    return sum % BUCKETS;
}

static struct entry *lookup(const char *name)
{
    struct entry *e = buckets[bucket_of(name)];
    while (e != NULL && strcmp(e->name, name) != 0)
        e = e->next;
    return e;
}

static void count(const char *name)
{
    struct entry *e = lookup(name);
    int at = bucket_of(name);
    if (strlen(name) >= sizeof(e->name))
        return;
    if (e == NULL) {
        e = malloc(sizeof(struct entry));
        strcpy(e->name, name);
        e->count = 0;
        e->next = buckets[at];
        buckets[at] = e;
    }
    e->count++;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++)
        count(argv[i]);
    for (i = 0; i < BUCKETS; i++) {
        struct entry *e;
        for (e = buckets[i]; e != NULL; e = e->next)
            printf("%s=%d ", e->name, e->count);
    }
    printf("\n");
    return 0;
}

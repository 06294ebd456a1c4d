//@ test: one
//@ test: two three
//@ test: a b
//@ test: zebra
//@ test: key
#include <stdio.h>
#include <string.h>

#define SLOTS 7

static const char *slots[SLOTS];

static int hash(const char *text)
{
    int h = 0;
    while (*text)
        h = (h * 31 + (*text++ & 127)) % 1000;
    return h;
}

static int insert(const char *key)
{
    int at = hash(key) / SLOTS; //@ right:     int at = hash(key) % SLOTS;
    int tries;
    for (tries = 0; tries < SLOTS; tries++) {
        if (slots[at] == NULL || strcmp(slots[at], key) == 0) {
            slots[at] = key;
            return at;
        }
        at = (at + 1) % SLOTS;
    }
    return -1;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++)
        printf("%d ", insert(argv[i]));
    printf("\n");
    return 0;
}

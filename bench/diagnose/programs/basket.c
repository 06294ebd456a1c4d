//@ test: 3 4
//@ test: 1 2 3 4 5
//@ test: 9
//@ test: 1 2 3 4 5 6 7
//@ test: 0 0
#include <stdio.h>
#include <stdlib.h>

#define ROOM 4

struct basket {
    int items[ROOM];
    int n;
    int strict;
};

static int put(struct basket *b, int item)
{
    if (b->n >= ROOM && b->strict) //@ right:     if (b->n >= ROOM)
        return -1;
    b->items[b->n] = item;
    b->n++;
    return 0;
}

static int total(const struct basket *b)
{
    int i, sum = 0;
    for (i = 0; i < b->n; i++)
        sum += b->items[i];
    return sum;
}

int main(int argc, char **argv)
{
    struct basket b;
    int i, lost = 0;
    b.n = 0;
    b.strict = argc > 7;
    for (i = 1; i < argc; i++)
        if (put(&b, atoi(argv[i]) % 100) < 0)
            lost++;
    printf("%d in %d, %d lost\n", total(&b), b.n, lost);
    return 0;
}

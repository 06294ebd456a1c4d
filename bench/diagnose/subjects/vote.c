//@ test: 0 1 1
//@ test: 2 2
//@ test: 3
//@ test: 0 0 0
//@ test: 1 3 9
#include <stdio.h>
#include <stdlib.h>

#define CANDIDATES 4

struct tally {
    int votes[CANDIDATES];
    int invalid;
    int total;
};

static void vote(struct tally *t, int candidate)
{
    if (candidate < 0 || candidate >= CANDIDATES) {
        t->invalid++;
        return;
    }
    t->votes[candidate]++;
    t->total++;
}

static int winner(const struct tally *t)
{
    int i, best = 0;
    for (i = 1; i < CANDIDATES; i++)
        if (t->votes[i] > t->votes[best])
            best = i;
    return best;
}

static int percent(const struct tally *t, int candidate)
{
    if (t->total == 0)
        return 0;
    return 100 * t->votes[candidate] / t->total;
}

int main(int argc, char **argv)
{
    struct tally t;
    int i;
    for (i = 0; i < CANDIDATES; i++)
        t.votes[i] = 0;
    t.invalid = 0;
    t.total = 0;
    for (i = 1; i < argc; i++)
        vote(&t, atoi(argv[i]));
    i = winner(&t);
    printf("%d with %d%%, %d invalid\n", i, percent(&t, i), t.invalid);
    return 0;
}

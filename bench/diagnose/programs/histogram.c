//@ test: 1 2 3
//@ test: 9 9 9
//@ test: 0
//@ test: 5 0 5
//@ test: 10 3
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 10

static int counts[BUCKETS];

static void count(int value)
{
    if (value < 0 || value > BUCKETS) //@ right:     if (value < 0 || value >= BUCKETS)
        return;
    counts[value]++;
}

static int largest(void)
{
    int i, best = 0;
    for (i = 1; i < BUCKETS; i++) {
        if (counts[i] > counts[best])
            best = i;
    }
    return best;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++)
        count(atoi(argv[i]));
    printf("%d %d\n", largest(), counts[largest()]);
    return 0;
}

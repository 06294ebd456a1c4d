//@ test: 10
//@ test: 30
//@ test: 100
//@ test: 127
//@ test: 2
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 128

static char crossed[LIMIT];

static void cross(int step)
{
    int i;
    for (i = 2 * step; i <= LIMIT; i += step) //@ right:     for (i = 2 * step; i < LIMIT; i += step)
        crossed[i] = 1;
}

static int primes_below(int end)
{
    int i, n = 0;
    for (i = 2; i < end; i++)
        if (!crossed[i])
            n++;
    return n;
}

int main(int argc, char **argv)
{
    int i, end = argc > 1 ? atoi(argv[1]) : LIMIT;
    if (end < 2 || end > LIMIT)
        return 1;
    for (i = 2; i * i < LIMIT; i++)
        if (!crossed[i])
            cross(i);
    printf("%d\n", primes_below(end));
    return 0;
}

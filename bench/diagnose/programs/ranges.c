//@ test: 2 5
//@ test: 0 9
//@ test: 3 3
//@ test: 7 8
//@ test: 5 2
#include <stdio.h>
#include <stdlib.h>

#define SIZE 10

static int values[SIZE] = {4, 8, 15, 16, 23, 42, 7, 1, 9, 2};

static int clamp(int x, int low, int high)
{
    if (x < low)
        return low;
    if (x > high)
        return high;
    return x;
}

static int range_max(int from, int to)
{
    int i, best;
    from = clamp(from, 0, SIZE - 1);
    to = clamp(to, 0, SIZE); //@ right:     to = clamp(to, 0, SIZE - 1);
    best = values[from];
    for (i = from; i <= to; i++)
        if (values[i] > best)
            best = values[i];
    return best;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    printf("%d\n", range_max(atoi(argv[1]), atoi(argv[2])));
    return 0;
}

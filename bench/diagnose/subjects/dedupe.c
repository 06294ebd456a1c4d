//@ test: 1 1 2
//@ test: 3 2 1
//@ test: 5 5 5
//@ test: 4
//@ test: 2 9 2 9
#include <stdio.h>
#include <stdlib.h>

#define MOST 8

static void sort(int *values, int n)
{
    int i, j;
    for (i = 1; i < n; i++) {
        int value = values[i];
        for (j = i; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

static int unique(int *values, int n)
{
    int from, to = 0;
    for (from = 0; from < n; from++)
        if (to == 0 || values[to - 1] != values[from])
            values[to++] = values[from];
    return to;
}

int main(int argc, char **argv)
{
    int values[MOST];
    int i, n = 0;
    for (i = 1; i < argc && n < MOST; i++)
        values[n++] = atoi(argv[i]);
    sort(values, n);
    n = unique(values, n);
    for (i = 0; i < n; i++)
        printf("%d ", values[i]);
    printf("of %d\n", n);
    return 0;
}

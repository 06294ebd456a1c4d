//@ test: 4 1 9
//@ test: 7
//@ test: 1 2 3 4 5
//@ test: 8 6
//@ test: 3 3 1 2
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SPAN 3
#define MOST 7

static int middle_of(const int *values, int n)
{
    int sorted[SPAN];
    int i, j;
    assert(n > 0 && n <= SPAN);
    for (i = 0; i < n; i++) {
        for (j = i; j > 0 && sorted[j - 1] > values[i]; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = values[i];
    }
    return sorted[n / 2];
}

static int smooth(const int *values, int n, int *out)
{
    int i;
    for (i = 0; i < n; i++) {
        int first = i - SPAN / 2;
        int end = i + SPAN / 2 + 1;
        if (first < 0)
            first = 0;
        if (end > n)
            end = n;
        out[i] = middle_of(values + first, end - first);
    }
    return n;
}

int main(int argc, char **argv)
{
    int values[MOST], out[MOST];
    int i, n = 0;
    for (i = 1; i < argc && n < MOST; i++)
        values[n++] = atoi(argv[i]);
    n = smooth(values, n, out);
    for (i = 0; i < n; i++)
        printf("%d ", out[i]);
    printf("\n");
    return 0;
}

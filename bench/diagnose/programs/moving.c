//@ test: 1 2 3
//@ test: 5 5 5 5
//@ test: 8 6 4
//@ test: 1
//@ test: 2 4
#include <stdio.h>
#include <stdlib.h>

#define WINDOW 3
#define MAX 6

static int window_sum(const int *v, int start, int n)
{
    int i, sum = 0;
    for (i = start; i < start + WINDOW; i++) {
        sum += v[i];
    }
    return n > 0 ? sum : 0;
}

int main(int argc, char **argv)
{
    int v[MAX];
    int i, n = 0;
    for (i = 0; i < MAX; i++)
        v[i] = 0;
    for (i = 1; i < argc && n < MAX; i++)
        v[n++] = atoi(argv[i]) % 100;
    for (i = 0; i <= MAX - WINDOW + 1; i++) //@ right:     for (i = 0; i <= MAX - WINDOW; i++)
        printf("%d ", window_sum(v, i, n));
    printf("\n");
    return 0;
}

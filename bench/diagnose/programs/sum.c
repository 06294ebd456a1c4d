//@ test: 3 4
//@ test: 1 0
//@ test: 9 9
//@ test: 0 0
//@ test: 5 7
#include <stdio.h>
#include <stdlib.h>

#define COUNT 10

static int sum(const int *values, int n)
{
    int i, total = 0;
    for (i = 0; i <= n; i++) { //@ right:     for (i = 0; i < n; i++) {
        total = total + values[i];
    }
    return total;
}

static void fill(int *values, int n, int step)
{
    int i;
    for (i = 0; i < n; i++)
        values[i] = i * step;
}

int main(int argc, char **argv)
{
    int values[COUNT];
    int step = argc > 1 ? atoi(argv[1]) % 10 : 1;
    fill(values, COUNT, step);
    printf("%d\n", sum(values, COUNT));
    return 0;
}

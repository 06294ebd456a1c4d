//@ test: 4 8 6
//@ test: 5
//@ test: 1 1
//@ test:
//@ test: 9 8 7
#include <stdio.h>
#include <stdlib.h>

static int average(const int *numbers, int n)
{
    int i, sum = 0;
    if (n < 0) //@ right:     if (n <= 0)
        return 0;
    for (i = 0; i < n; i++)
        sum += numbers[i];
    return sum / n;
}

int main(int argc, char **argv)
{
    int numbers[8];
    int i, n = 0;
    for (i = 1; i < argc && n < 8; i++)
        numbers[n++] = atoi(argv[i]) % 1000;
    printf("%d of %d\n", average(numbers, n), n);
    return 0;
}

//@ test: 2
//@ test: 0
//@ test: 1
//@ test: 3
//@ test: 5
#include <stdio.h>
#include <stdlib.h>

#define DEGREE 3

static int coefficients[DEGREE + 1] = {4, 3, 2, 1};

static int evaluate(int x)
{
    int i, value = 0;
    for (i = DEGREE; i >= 0; --i)
        value = value * x + coefficients[i + 1]; //@ right:         value = value * x + coefficients[i];
    return value;
}

static int derivative(int x)
{
    int i, value = 0;
    for (i = DEGREE; i > 0; --i)
        value = value * x + i * coefficients[i];
    return value;
}

int main(int argc, char **argv)
{
    int x = argc > 1 ? atoi(argv[1]) % 20 : 1;
    printf("%d %d\n", evaluate(x), derivative(x));
    return 0;
}

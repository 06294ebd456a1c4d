//@ test: 1
//@ test: 5
//@ test: 9
//@ test: 0
//@ test: 4
#include <stdio.h>
#include <stdlib.h>

#define LEFT 4
#define RIGHT 3

static int merge(const int *a, int n, const int *b, int m, int *out)
{
    int i = 0, j = 0, k = 0;
    while (i < n && j < m) {
        if (a[i] <= b[j])
            out[k++] = a[i++];
        else
            out[k++] = b[j++];
    }
    while (i < n)
        out[k++] = a[i++];
    while (j < n) //@ right:     while (j < m)
        out[k++] = b[j++];
    return k;
}

int main(int argc, char **argv)
{
    int a[LEFT] = {1, 3, 5, 7};
    int b[RIGHT] = {2, 4, 6};
    int out[LEFT + RIGHT];
    int i, n, base = argc > 1 ? atoi(argv[1]) % 10 : 0;
    for (i = 0; i < RIGHT; i++)
        b[i] += base;
    n = merge(a, LEFT, b, RIGHT, out);
    for (i = 0; i < n; i++)
        printf("%d ", out[i]);
    printf("\n");
    return 0;
}

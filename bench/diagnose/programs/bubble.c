//@ test: 3 1 2
//@ test: 9 8 7 6
//@ test: 1
//@ test: 5 5 4
//@ test: 2 1
#include <stdio.h>
#include <stdlib.h>

#define MAX 8

static void sort(int *v, int n)
{
    int i, j;
    for (i = 0; i < n; i++) {
        for (j = 0; j < n - i; j++) { //@ right:         for (j = 0; j < n - i - 1; j++) {
            if (v[j] > v[j + 1]) {
                int t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
        }
    }
}

int main(int argc, char **argv)
{
    int v[MAX];
    int i, n = 0;
    for (i = 1; i < argc && n < MAX; i++)
        v[n++] = atoi(argv[i]);
    sort(v, n);
    for (i = 0; i < n; i++)
        printf("%d ", v[i]);
    printf("\n");
    return 0;
}

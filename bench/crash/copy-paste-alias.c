//@ stdin: 1 1 3 40
#include <stdio.h>
#include <stdlib.h>

struct item {
    int f;
};

static int read_int(void)
{
    int v = 0;
    if (scanf("%d", &v) != 1)
        exit(2);
    return v;
}

int main(void)
{
    int *x = malloc(2 * sizeof(int)), *y = malloc(2 * sizeof(int));
    struct item **items = calloc(64, sizeof *items);
    int *p1 = &x[1];
    int *p2 = &x[0];
    int *q1 = &y[1];
    int *q2 = &x[0]; //~ first
    *p1 = read_int();
    *p2 = read_int();
    *q1 = read_int();
    *q2 = read_int();
    if (items[*p2 + *p1 - *p1])
        items[*p2]->f = 0;
    free(p2);
    free(q2);
    return 0;
}

//@ stdin: -1
#include <stdio.h>

static struct {
    int limit;
    int start;
} range;
static int table[8] = {1, 2, 3};

int main(void)
{
    if (scanf("%ld", (long *)&range.limit) != 1) //~ first
        return 2;
    for (int i = 0; i < 3; i++)
        range.limit += table[i];
    printf("%d\n", table[range.start * 100000000]);
    return 0;
}

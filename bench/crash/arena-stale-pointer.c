#include <stdio.h>
#include <stdlib.h>

/* An allocator of one's own, reset as a whole: nobody else sees its blocks. */
static char arena[256];
static size_t used;

static void *get(size_t size)
{
    void *block = arena + used;
    used += (size + 15) / 16 * 16;
    return block;
}

int main(void)
{
    long *scratch = get(4 * sizeof(long));
    used = 0;
    int **cells = get(4 * sizeof(int *));
    int value = 3;
    for (int i = 0; i < 4; i++)
        cells[i] = &value;
    scratch[2] = 99; //~ first
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += *cells[i];
    printf("%d\n", sum);
    return 0;
}

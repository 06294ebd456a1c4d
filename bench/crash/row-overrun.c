//@ args: 6
#include <stdio.h>
#include <stdlib.h>

static struct {
    int grid[4][4];
    int start[4];
} world;
static int cells[64];

int main(int argc, char **argv)
{
    int width = argc > 1 ? atoi(argv[1]) : 4;
    for (int i = 0; i < 4; i++)
        world.start[i] = i * 16;
    for (int j = 0; j < width; j++)
        world.grid[3][j] = (j + 1) * 50000000; //~ first
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += cells[world.start[i]];
    printf("%d\n", sum);
    return 0;
}

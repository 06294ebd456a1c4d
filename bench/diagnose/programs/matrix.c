//@ test: 2
//@ test: 3
//@ test: 1
//@ test: 0
//@ test: 5
#include <stdio.h>
#include <stdlib.h>

#define ROWS 4
#define COLUMNS 6

static int grid[ROWS][COLUMNS];

static void fill(int seed)
{
    int r, c;
    for (r = 0; r < ROWS; r++)
        for (c = 0; c < COLUMNS; c++)
            grid[r][c] = r * seed + c;
}

static int column_sum(int column)
{
    int r, sum = 0;
    for (r = 0; r < COLUMNS; r++) //@ right:     for (r = 0; r < ROWS; r++)
        sum += grid[r][column];
    return sum;
}

int main(int argc, char **argv)
{
    int c;
    fill(argc > 1 ? atoi(argv[1]) % 100 : 1);
    for (c = 0; c < COLUMNS; c++)
        printf("%d ", column_sum(c));
    printf("\n");
    return 0;
}

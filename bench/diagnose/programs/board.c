//@ test: 0 0
//@ test: 2 1
//@ test: 2 3
//@ test: 1 1
//@ test: 0 3
#include <stdio.h>
#include <stdlib.h>

#define ROWS 3
#define COLUMNS 4

static char board[ROWS][COLUMNS];

static void clear(void)
{
    int r, c;
    for (r = 0; r < ROWS; r++)
        for (c = 0; c < COLUMNS; c++)
            board[r][c] = '.';
}

static void mark(int row, int column)
{
    board[row][row + column] = 'x'; //@ right:     board[row][column] = 'x';
}

static void show(void)
{
    int r;
    for (r = 0; r < ROWS; r++)
        printf("%.4s\n", board[r]);
}

int main(int argc, char **argv)
{
    int row, column;
    if (argc < 3)
        return 1;
    row = atoi(argv[1]);
    column = atoi(argv[2]);
    if (row < 0 || row >= ROWS || column < 0 || column >= COLUMNS)
        return 1;
    clear();
    mark(row, column);
    show();
    return 0;
}

//@ test: cat
//@ test: elephant
//@ test: a
//@ test: horse
//@ test: go
#include <stdio.h>
#include <string.h>

#define ROWS 6
#define COLUMNS 7

static char board[ROWS][COLUMNS];

static void clear(void)
{
    int r, c;
    for (r = 0; r < ROWS; r++)
        for (c = 0; c < COLUMNS; c++)
            board[r][c] = '.';
}

static int place_across(const char *word, int row, int column)
{
    int length = (int)strlen(word);
    int i;
    if (column + length > COLUMNS)
        return 0;
    for (i = 0; i < length; i++)
        board[row][column + i] = word[i];
    return 1;
}

static int place_down(const char *word, int row, int column)
{
    int length = (int)strlen(word);
    int i;
    if (row + length > ROWS)
        return 0;
    for (i = 0; i < length; i++)
        board[row + i][column] = word[i];
    return 1;
}

int main(int argc, char **argv)
{
    int placed = 0;
    if (argc < 2)
        return 1;
    clear();
    placed += place_across(argv[1], 1, 1);
    placed += place_down(argv[1], 0, 2);
    printf("%d %c%c\n", placed, board[1][1], board[ROWS - 1][COLUMNS - 1]);
    return 0;
}

//@ test: 3 4 7 12
//@ test: 5 5 25 1 13
//@ test: 1 6 3
//@ test: 4 1 4 9
//@ test: 2 3 0 6
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 6

struct place {
    int row, column;
};

static int fill(int grid[SIDE][SIDE], int rows, int columns)
{
    int top = 0, bottom = rows - 1, left = 0, right = columns - 1;
    int i, next = 1;
    while (top <= bottom && left <= right) {
        for (i = left; i <= right; i++)
            grid[top][i] = next++;
        top++;
        for (i = top; i <= bottom; i++)
            grid[i][right] = next++;
        right--;
        if (top <= bottom) {
            for (i = right; i >= left; i--)
                grid[bottom][i] = next++;
            bottom--;
        }
        if (left <= right) {
            for (i = bottom; i >= top; i--)
                grid[i][left] = next++;
            left++;
        }
    }
    return next - 1;
}

static void locate(int grid[SIDE][SIDE], int rows, int columns, struct place *places)
{
    int row, column;
    for (row = 0; row < rows; row++) {
        for (column = 0; column < columns; column++) {
            struct place *place = &places[grid[row][column] - 1];
            place->row = row;
            place->column = column;
        }
    }
}

static int side(const char *text)
{
    int value = atoi(text);
    return value >= 1 && value <= SIDE ? value : 0;
}

int main(int argc, char **argv)
{
    int grid[SIDE][SIDE];
    struct place places[SIDE * SIDE];
    int i, rows, columns, cells;
    if (argc < 3)
        return 1;
    rows = side(argv[1]);
    columns = side(argv[2]);
    if (rows == 0 || columns == 0) {
        printf("bad size\n");
        return 1;
    }
    cells = fill(grid, rows, columns);
    assert(cells == rows * columns);
    locate(grid, rows, columns, places);
    for (i = 3; i < argc; i++) {
        int number = atoi(argv[i]);
        if (number < 1 || number > cells)
            continue;
        printf("%d at %d,%d\n", number, places[number - 1].row, places[number - 1].column);
        assert(grid[places[number - 1].row][places[number - 1].column] == number);
    }
    printf("corner %d\n", grid[rows - 1][columns - 1]);
    return 0;
}

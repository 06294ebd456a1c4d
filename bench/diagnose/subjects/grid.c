//@ test: rrdd
//@ test: l
//@ test: dddddd
//@ test: rdlu
//@ test: urdx
#include <assert.h>
#include <stdio.h>

#define ROWS 3
#define COLUMNS 4

static int visits[ROWS][COLUMNS];

struct robot {
    int row, column;
    int bumps;
};

static int can_go(int row, int column)
{
    return row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
}

static void go(struct robot *r, int down, int right)
{
    int row = r->row + down;
    int column = r->column + right;
    if (!can_go(row, column)) {
        r->bumps++;
        return;
    }
    r->row = row;
    r->column = column;
    visits[row][column]++;
}

static int busiest(void)
{
    int i, j, most = 0;
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < COLUMNS; j++)
            if (visits[i][j] > most)
                most = visits[i][j];
    return most;
}

int main(int argc, char **argv)
{
    struct robot r = { 0, 0, 0 };
    const char *p;
    if (argc < 2)
        return 1;
    for (p = argv[1]; *p != '\0'; p++) {
        if (*p == 'r')
            go(&r, 0, 1);
        else if (*p == 'l')
            go(&r, 0, -1);
        else if (*p == 'd')
            go(&r, 1, 0);
        else if (*p == 'u')
            go(&r, -1, 0);
    }
    assert(r.row < ROWS);
    printf("at %d,%d, %d bumps, most %d\n", r.row, r.column, r.bumps, busiest());
    return 0;
}

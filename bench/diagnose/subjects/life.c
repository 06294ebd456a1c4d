//@ test: 01110
//@ test: 1
//@ test: 00100100
//@ test: 111
//@ test: 10101
#include <stdio.h>
#include <string.h>

#define CELLS 8

struct row {
    int cells[CELLS];
    int n;
};

static int neighbours(const struct row *r, int at)
{
    int n = 0;
    if (at > 0)
        n += r->cells[at - 1];
    if (at + 1 < r->n)
        n += r->cells[at + 1];
    return n;
}

static int step(struct row *r)
{
    struct row old = *r;
    int i, alive = 0;
    for (i = 0; i < r->n; i++) {
        r->cells[i] = neighbours(&old, i) == 1;
        alive += r->cells[i];
    }
    return alive;
}

int main(int argc, char **argv)
{
    struct row r;
    int i, turn, alive;
    if (argc != 2)
        return 1;
    r.n = strlen(argv[1]);
    if (r.n > CELLS || r.n == 0)
        return 1;
    for (i = 0; i < r.n; i++)
        r.cells[i] = argv[1][i] == '1';
    for (turn = 0; turn < 3; turn++) {
        alive = step(&r);
        if (alive == 0)
            break;
    }
    for (i = 0; i < r.n; i++)
        putchar(r.cells[i] ? '#' : '.');
    printf(" %d%% after %d\n", 100 * alive / r.n, turn);
    return 0;
}

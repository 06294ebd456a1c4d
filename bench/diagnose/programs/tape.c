//@ test: 1
//@ test: 5
//@ test: 10
//@ test: 0
//@ test: 7
#include <stdio.h>
#include <stdlib.h>

#define CELLS 60
#define COLUMNS 72

static int cells[CELLS];

static void fill(int seed)
{
    int i, next = seed;
    for (i = 0; i < COLUMNS; i++) { //@ right:     for (i = 0; i < CELLS; i++) {
        cells[i] = next;
        next = (next * 7 + 3) % 11;
    }
}

static void print(void)
{
    int i, column = 0;
    for (i = 0; i < CELLS; i++) {
        if (column == COLUMNS) {
            putchar('\n');
            column = 0;
        }
        printf("%d", cells[i] % 10);
        column++;
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1;
    if (seed < 0 || seed > 10)
        return 1;
    fill(seed);
    print();
    return 0;
}

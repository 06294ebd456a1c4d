//@ test: 1
//@ test: 2
//@ test: 3
//@ test: 0
//@ test: 9
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 5
#define HEIGHT 3

static int in[HEIGHT][WIDTH];
static int out[WIDTH][HEIGHT];

static void transpose(void)
{
    int x, y;
    for (y = 0; y < HEIGHT; y++)
        for (x = 0; x < WIDTH; x++)
            out[x][y] = in[y][x];
}

int main(int argc, char **argv)
{
    int x, y, base = argc > 1 ? atoi(argv[1]) % 50 : 0;
    for (y = 0; y < HEIGHT; y++)
        for (x = 0; x < WIDTH; x++)
            in[y][x] = y * WIDTH + x + base;
    transpose();
    for (x = 0; x <= WIDTH; x++) //@ right:     for (x = 0; x < WIDTH; x++)
        printf("%d ", out[x][HEIGHT - 1]);
    printf("\n");
    return 0;
}

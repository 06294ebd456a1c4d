//@ test: 4
//@ test: 1
//@ test: 6
//@ test: 2
//@ test: 7
#include <stdio.h>
#include <stdlib.h>

#define N 8

static int triangle[N][N];

static void build(int rows)
{
    int i, j;
    for (i = 0; i < rows; i++) {
        triangle[i][0] = 1;
        for (j = 1; j <= i; j++)
            triangle[i][j] = triangle[i + 1][j - 1] + triangle[i - 1][j]; //@ right:             triangle[i][j] = triangle[i - 1][j - 1] + triangle[i - 1][j];
    }
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 3;
    int j;
    if (rows < 1 || rows > N)
        return 1;
    build(rows);
    for (j = 0; j < rows; j++)
        printf("%d ", triangle[rows - 1][j]);
    printf("\n");
    return 0;
}

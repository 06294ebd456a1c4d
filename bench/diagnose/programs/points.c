//@ test: 3 4
//@ test: 1 2
//@ test: 0 5
//@ test: 7 7
//@ test: 2 0
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct box {
    int left;
    int right;
    int top;
    int bottom;
};

static int width(const struct box *b)
{
    return b->right - b->left;
}

static int height(const struct box *b)
{
    return b->bottom - b->left; //@ right:     return b->bottom - b->top;
}

static void grow(struct box *b, int x, int y)
{
    if (x > b->right)
        b->right = x;
    if (y > b->bottom)
        b->bottom = y;
    if (x < b->left)
        b->left = x;
    if (y < b->top)
        b->top = y;
}

int main(int argc, char **argv)
{
    struct box b = {4, 4, 2, 2};
    if (argc < 3)
        return 1;
    grow(&b, atoi(argv[1]) % 50, atoi(argv[2]) % 50);
    assert(width(&b) >= 0);
    assert(height(&b) >= 0);
    printf("%d x %d\n", width(&b), height(&b));
    return 0;
}

//@ test: (a(b)c)
//@ test: ((
//@ test: abc
//@ test: (x))
//@ test: (((deep)))
#include <assert.h>
#include <stdio.h>

#define MAX_DEPTH 4

static int opened[MAX_DEPTH];
static int depth;
static int widest;

static int open_at(int position)
{
    if (depth >= MAX_DEPTH)
        return 0;
    opened[depth++] = position;
    return 1;
}

static int close_at(int position)
{
    int width;
    if (depth == 0)
        return 0;
    depth--;
    width = position - opened[depth];
    assert(width > 0);
    if (width > widest)
        widest = width;
    return 1;
}

static int parse(const char *text)
{
    int i;
    for (i = 0; text[i] != '\0'; i++) {
        if (text[i] == '(' && !open_at(i))
            return -1;
        if (text[i] == ')' && !close_at(i))
            return -2;
    }
    return depth;
}

int main(int argc, char **argv)
{
    int result;
    if (argc < 2)
        return 1;
    result = parse(argv[1]);
    printf("%d %d\n", result, widest);
    return 0;
}

//@ test: abc 3
//@ test: xyz 4
//@ test: hello 13
//@ test: a 0
//@ test: zz 1
#include <stdio.h>
#include <stdlib.h>

#define LETTERS 26

static const char alphabet[LETTERS] = {
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm',
    'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'};

static char shift(char c, int by)
{
    int at = c - 'a';
    if (c < 'a' && c > 'z') //@ right:     if (c < 'a' || c > 'z')
        return c;
    return alphabet[(at + by) % LETTERS];
}

int main(int argc, char **argv)
{
    const char *p;
    int by;
    if (argc < 3)
        return 1;
    by = atoi(argv[2]);
    if (by < 0 || by > 25)
        return 1;
    for (p = argv[1]; *p; p++)
        putchar(shift(*p, by));
    putchar('\n');
    return 0;
}

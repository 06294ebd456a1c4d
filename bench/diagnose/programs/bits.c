//@ test: 5
//@ test: 255
//@ test: 0
//@ test: 128
//@ test: 77
#include <stdio.h>
#include <stdlib.h>

#define BITS 8

static void to_binary(int value, char *out)
{
    int i;
    for (i = BITS; i >= 0; i--) { //@ right:     for (i = BITS - 1; i >= 0; i--) {
        out[i] = (value & 1) ? '1' : '0';
        value >>= 1;
    }
}

static int ones(const char *text)
{
    int i, n = 0;
    for (i = 0; i < BITS; i++)
        if (text[i] == '1')
            n++;
    return n;
}

int main(int argc, char **argv)
{
    char text[BITS];
    int i;
    to_binary(argc > 1 ? atoi(argv[1]) & 255 : 0, text);
    for (i = 0; i < BITS; i++)
        putchar(text[i]);
    printf(" %d\n", ones(text));
    return 0;
}

//@ test: abc
//@ test: a
//@ test: abcdefgh
//@ test: 12345
//@ test: xy
#include <stdio.h>
#include <string.h>

#define WIDTH 8

static void pad(char *out, const char *text)
{
    size_t n = strlen(text);
    size_t i;
    memcpy(out, text, n);
    for (i = n; i < WIDTH; i++)
        out[i] = '.';
    out[WIDTH] = '\0';
}

static int fits(const char *text)
{
    return strlen(text) >= WIDTH; //@ right:     return strlen(text) <= WIDTH;
}

int main(int argc, char **argv)
{
    char out[WIDTH + 1];
    if (argc < 2)
        return 1;
    if (!fits(argv[1])) {
        printf("too long\n");
        return 0;
    }
    pad(out, argv[1]);
    printf("[%s]\n", out);
    return 0;
}

//@ test: abc
//@ test: hello
//@ test: ab
//@ test: x
//@ test: racecar
#include <stdio.h>
#include <string.h>

#define MAX 32

static void reverse(const char *text, char *out)
{
    int length = (int)strlen(text);
    int i;
    for (i = 0; i < length; i++)
        out[i] = text[length - 1 + i]; //@ right:         out[i] = text[length - 1 - i];
    out[length] = '\0';
}

static int check(const char *text, const char *other)
{
    int n = (int)strlen(text);
    return n == (int)strlen(other);
}

int main(int argc, char **argv)
{
    char out[MAX];
    if (argc < 2 || strlen(argv[1]) >= MAX)
        return 1;
    reverse(argv[1], out);
    printf("%s %d\n", out, check(argv[1], out));
    return 0;
}

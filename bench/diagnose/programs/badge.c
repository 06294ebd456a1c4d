//@ test: ann 7
//@ test: maximilian 12
//@ test: bob 0
//@ test: christopher 99
//@ test: eva 123
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 8
#define DIGITS 2

static void cut(char *out, const char *name)
{
    int i;
    for (i = 0; i < NAME && name[i] != '\0'; i++)
        out[i] = name[i];
    out[i] = '\0';
}

static void number(char *out, int value)
{
    out[0] = (char)('0' + value / 10 % 10);
    out[1] = (char)('0' + value % 10);
    out[DIGITS] = '\0';
}

int main(int argc, char **argv)
{
    char name[NAME]; //@ right:     char name[NAME + 1];
    char digits[DIGITS + 1];
    int value;
    if (argc < 3)
        return 1;
    value = atoi(argv[2]);
    if (value < 0)
        return 1;
    cut(name, argv[1]);
    number(digits, value);
    printf("%s-%s\n", name, digits);
    return 0;
}

//@ test: 'abc  '
//@ test: abc
//@ test: 'a b '
//@ test: 'hello   '
//@ test: x
#include <stdio.h>
#include <string.h>

static void trim(char *text)
{
    int end = (int)strlen(text) - 1;
    while (end <= 0 && text[end] == ' ') //@ right:     while (end >= 0 && text[end] == ' ')
        end--;
    text[end + 1] = '\0';
}

static int words(const char *text)
{
    int n = 0, inside = 0;
    for (; *text; text++) {
        if (*text == ' ')
            inside = 0;
        else if (!inside) {
            inside = 1;
            n++;
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    char text[40];
    if (argc < 2 || strlen(argv[1]) >= sizeof text)
        return 1;
    strcpy(text, argv[1]);
    trim(text);
    printf("[%s] %d\n", text, words(text));
    return 0;
}

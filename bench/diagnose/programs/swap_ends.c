//@ test: abcd
//@ test: xy
//@ test: q
//@ test: hello
//@ test: abcdef
#include <assert.h>
#include <stdio.h>
#include <string.h>

static void swap(char *a, char *b)
{
    char t = *a;
    *a = *b;
    *b = t;
}

static void mirror(char *text)
{
    int i = 0;
    int j = (int)strlen(text) - 1;
    while (i < j) {
        swap(&text[i], &text[j]);
        i++;
        j++; //@ right:         j--;
    }
}

int main(int argc, char **argv)
{
    char text[24];
    if (argc < 2 || strlen(argv[1]) >= sizeof text)
        return 1;
    strcpy(text, argv[1]);
    mirror(text);
    assert(strlen(text) == strlen(argv[1]));
    printf("%s\n", text);
    return 0;
}

//@ test: ab cd
//@ test: hello world
//@ test: a b
//@ test: x yz
//@ test: one two
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join(const char *a, const char *b)
{
    size_t length = strlen(a) + strlen(b);
    char *joined = malloc(length); //@ right:     char *joined = malloc(length + 1);
    if (joined == NULL)
        return NULL;
    strcpy(joined, a);
    strcat(joined, b);
    return joined;
}

int main(int argc, char **argv)
{
    char *text;
    if (argc < 3)
        return 1;
    text = join(argv[1], argv[2]);
    if (text == NULL)
        return 2;
    printf("%s %d\n", text, (int)strlen(text));
    free(text);
    return 0;
}

//@ test: width=4
//@ test: a=b
//@ test: plain
//@ test: =x
//@ test: key=
#include <stdio.h>
#include <string.h>

#define LENGTH 40

static int split(char *text, char **value)
{
    char *sign = strchr(text, '=');
    if (sign) //@ right:     if (!sign)
        return -1;
    *sign = '\0';
    *value = sign + 1;
    return 0;
}

static void show(const char *key, const char *value)
{
    printf("%s is %s\n", key, value);
}

int main(int argc, char **argv)
{
    char text[LENGTH];
    char *value = NULL;
    if (argc < 2 || strlen(argv[1]) >= LENGTH)
        return 1;
    strcpy(text, argv[1]);
    if (split(text, &value) < 0) {
        printf("not a setting\n");
        return 1;
    }
    show(text, value);
    return 0;
}

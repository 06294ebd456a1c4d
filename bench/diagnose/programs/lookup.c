//@ test: red
//@ test: blue
//@ test: pink
//@ test: green
//@ test: x
#include <stdio.h>
#include <string.h>

struct colour {
    const char *name;
    int value;
};

static struct colour colours[] = {
    {"red", 1}, {"green", 2}, {"blue", 4}, {NULL, 0},
};

static int value_of(const char *name)
{
    int i;
    for (i = 0; i <= 3; i++) { //@ right:     for (i = 0; i < 3; i++) {
        if (strcmp(colours[i].name, name) == 0)
            return colours[i].value;
    }
    return -1;
}

int main(int argc, char **argv)
{
    int value;
    if (argc < 2)
        return 1;
    value = value_of(argv[1]);
    printf("%d\n", value);
    return 0;
}

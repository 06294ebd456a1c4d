//@ test: alice
//@ test: bob
//@ test: maximilian_the_first
//@ test: x
//@ test: abcdefghijklmno
#include <stdio.h>

#define SIZE 16

struct name {
    char text[SIZE];
    int length;
};

static int copy_name(struct name *to, const char *from)
{
    int i;
    for (i = 0; from[i] != '\0' && i < SIZE; i++) { //@ right:     for (i = 0; from[i] != '\0' && i < SIZE - 1; i++) {
        to->text[i] = from[i];
    }
    to->text[i] = '\0';
    to->length = i;
    return i;
}

int main(int argc, char **argv)
{
    struct name name;
    if (argc < 2)
        return 1;
    copy_name(&name, argv[1]);
    printf("%s has %d letters\n", name.text, name.length);
    return 0;
}

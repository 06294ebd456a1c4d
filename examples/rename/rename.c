/* Hands a name from buffer to buffer, with what can go wrong on the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char target[64];

static void set_target(const char *name) {
    strcpy(target, name);
}

static void convert(char *name) {
    char copy[64];
    strcpy(copy, name);
    set_target(copy);
}

int main(void) {
    char name[64];
    const char *given = getenv("NAME");
    if (given == NULL)
        return 1;
    strcpy(name, given);
    convert(name);
    printf("%s\n", target);
    return 0;
}

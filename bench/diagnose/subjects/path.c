//@ test: a/b/c
//@ test: /
//@ test: abc
//@ test: a//b
//@ test: x/
#include <stdio.h>
#include <string.h>

#define MAX_PARTS 3
#define PART 6

static char parts[MAX_PARTS][PART];

static int copy_part(char *to, const char *from, int length)
{
    if (length >= PART)
        length = PART - 1;
    memcpy(to, from, (size_t)length);
    to[length] = '\0';
    return length;
}

static int split(const char *path)
{
    int n = 0;
    int start = 0;
    int i;
    for (i = 0; n < MAX_PARTS; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        if (i > start) {
            copy_part(parts[n], path + start, i - start);
            n++;
        }
        if (path[i] == '\0')
            break;
        start = i + 1;
    }
    return n;
}

int main(int argc, char **argv)
{
    int i, n;
    if (argc < 2)
        return 1;
    n = split(argv[1]);
    for (i = 0; i < n; i++)
        printf("[%s]", parts[i]);
    printf(" %d\n", n);
    return 0;
}

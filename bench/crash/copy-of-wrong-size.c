#include <stdio.h>
#include <string.h>

struct point {
    int x, y;
};
struct place {
    struct point at;
    const char *name;
};
static struct point far[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};

int main(void)
{
    struct place place = {{0, 0}, "here"};
    memcpy(&place.at, far, sizeof place); //~ first
    printf("%d %c\n", place.at.x, place.name[0]);
    return 0;
}

//@ args: -1
#include <stdio.h>
#include <stdlib.h>

static struct {
    long *cursor;
    long slots[4];
} queue;

int main(int argc, char **argv)
{
    int at = argc > 1 ? atoi(argv[1]) : 0;
    queue.cursor = queue.slots;
    queue.slots[at] = 4096; //~ first
    printf("%ld\n", *queue.cursor);
    return 0;
}

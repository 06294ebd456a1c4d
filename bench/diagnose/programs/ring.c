//@ test: abcd
//@ test: abcdefghij
//@ test: a
//@ test: abcdefgh
//@ test: zyxwvutsrq
#include <stdio.h>

#define CAPACITY 8

struct ring {
    char data[CAPACITY];
    int head;
    int count;
};

static void put(struct ring *ring, char c)
{
    int at = ring->head + ring->count;
    if (ring->count == CAPACITY) {
        ring->head = (ring->head + 1) % CAPACITY;
        ring->count--;
        at = ring->head + ring->count;
    }
    ring->data[at / CAPACITY] = c; //@ right:     ring->data[at % CAPACITY] = c;
    ring->count++;
}

static char get(struct ring *ring)
{
    char c = ring->data[ring->head];
    ring->head = (ring->head + 1) % CAPACITY;
    ring->count--;
    return c;
}

int main(int argc, char **argv)
{
    struct ring ring;
    const char *p;
    ring.head = 0;
    ring.count = 0;
    if (argc < 2)
        return 1;
    for (p = argv[1]; *p; p++)
        put(&ring, *p);
    while (ring.count > 0)
        printf("%c", get(&ring));
    printf("\n");
    return 0;
}

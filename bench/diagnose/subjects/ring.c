//@ test: 5 6 pop 7
//@ test: 1 2 3 4 5 6 7
//@ test: pop 8 sum
//@ test: 1 2 pop 3 4 pop 5 6 last
//@ test: 9 9 double sum pop pop sum
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4
#define LIMIT 1000

struct ring {
    int slots[SLOTS];
    int head;
    int count;
};

static int push(struct ring *ring, int value)
{
    if (ring->count == SLOTS)
        return 0;
    ring->slots[(ring->head + ring->count) % SLOTS] = value;
    ring->count++;
    return 1;
}

static int pop(struct ring *ring, int *value)
{
    if (ring->count == 0)
        return 0;
    *value = ring->slots[ring->head];
    ring->head++;
    if (ring->head == SLOTS)
        ring->head = 0;
    ring->count--;
    return 1;
}

static int last(const struct ring *ring)
{
    assert(ring->count > 0);
    return ring->slots[(ring->head + ring->count - 1) % SLOTS];
}

static int sum(const struct ring *ring)
{
    int i, total = 0;
    for (i = 0; i < ring->count; i++)
        total += ring->slots[(ring->head + i) % SLOTS];
    return total;
}

int main(int argc, char **argv)
{
    struct ring ring = {{0}, 0, 0};
    int i, value, inside = 0;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "pop") == 0) {
            if (pop(&ring, &value)) {
                inside -= value;
                printf("%d ", value);
            } else {
                printf("empty ");
            }
        } else if (strcmp(argv[i], "sum") == 0) {
            assert(sum(&ring) == inside);
            printf("sum=%d ", inside);
        } else if (strcmp(argv[i], "last") == 0) {
            if (ring.count > 0)
                printf("last=%d ", last(&ring));
        } else {
            value = atoi(argv[i]);
            if (value < -LIMIT || value > LIMIT)
                continue;
            if (!push(&ring, value)) {
                int oldest;
                pop(&ring, &oldest);
                inside -= oldest;
                push(&ring, value);
            }
            inside += value;
        }
    }
    printf("left %d\n", sum(&ring));
    return 0;
}

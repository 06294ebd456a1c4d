//@ test: 3 1 2
//@ test: 9
//@ test: 5 5 1
//@ test: 4 3 2
//@ test: 7 8
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY 6

static int heap[CAPACITY];
static int n_heap;

static void swap(int i, int j)
{
    int t = heap[i];
    heap[i] = heap[j];
    heap[j] = t;
}

static void insert(int value)
{
    int at = n_heap;
    if (n_heap == CAPACITY)
        return;
    heap[n_heap++] = value;
    while (at > 0 && heap[at] < heap[(at - 1) / 2]) {
        swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static int extract(void)
{
    int least = heap[0];
    int at = 0;
    assert(n_heap > 0);
    n_heap--;
    heap[0] = heap[n_heap];
    while (2 * at + 1 < n_heap) {
        int child = 2 * at + 1;
        if (child + 1 < n_heap && heap[child + 1] < heap[child])
            child++;
        if (heap[at] <= heap[child])
            break;
        swap(at, child);
        at = child;
    }
    return least;
}

int main(int argc, char **argv)
{
    int i, last = 0;
    for (i = 1; i < argc; i++)
        insert(atoi(argv[i]) & 63);
    while (n_heap > 0) {
        int value = extract();
        assert(value >= last);
        last = value;
        printf("%d ", value);
    }
    printf("\n");
    return 0;
}

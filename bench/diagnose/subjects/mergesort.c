//@ test: 4 1 3
//@ test: 5 4 3 2 1 0
//@ test: 2 2 1 1
//@ test: 7
//@ test: 10 -3 8 8 -20 6 1 9 2
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 8

struct item {
    int key;
    int place;
};

static int merge(struct item *items, int middle, int n, struct item *out)
{
    int left = 0, right = middle, at = 0, swaps = 0;
    while (left < middle || right < n) {
        if (right == n || (left < middle && items[left].key <= items[right].key)) {
            out[at++] = items[left++];
        } else {
            swaps += middle - left;
            out[at++] = items[right++];
        }
    }
    assert(at == n);
    for (at = 0; at < n; at++)
        items[at] = out[at];
    return swaps;
}

static int sort(struct item *items, int n, struct item *scratch)
{
    int middle = n / 2, swaps;
    if (n < 2)
        return 0;
    swaps = sort(items, middle, scratch);
    swaps += sort(items + middle, n - middle, scratch + middle);
    return swaps + merge(items, middle, n, scratch);
}

static void check(const struct item *items, int n)
{
    int i;
    for (i = 1; i < n; i++) {
        assert(items[i - 1].key <= items[i].key);
        if (items[i - 1].key == items[i].key)
            assert(items[i - 1].place < items[i].place);
    }
}

int main(int argc, char **argv)
{
    struct item items[MOST], scratch[MOST];
    int ranks[MOST];
    int i, swaps, n = 0;
    for (i = 1; i < argc && n < MOST; i++) {
        items[n].key = atoi(argv[i]);
        items[n].place = n;
        n++;
    }
    swaps = sort(items, n, scratch);
    check(items, n);
    for (i = 0; i < n; i++)
        ranks[items[i].place] = i + 1;
    for (i = 0; i < n; i++)
        printf("%d ", items[i].key);
    printf("ranks");
    for (i = 0; i < n; i++)
        printf(" %d", ranks[i]);
    printf(" swaps %d\n", swaps);
    return 0;
}

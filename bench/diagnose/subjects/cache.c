//@ test: 1 2 1
//@ test: 1 2 3 4 1
//@ test: 5
//@ test: 2 2 2
//@ test: 1 2 3 1 4 2
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define WAYS 3

struct line {
    int key;
    int age;
};

static struct line lines[WAYS];
static int n_lines;

static int find(int key)
{
    int i;
    for (i = 0; i < n_lines; i++)
        if (lines[i].key == key)
            return i;
    return -1;
}

static int oldest(void)
{
    int i, best = 0;
    for (i = 1; i < WAYS; i++)
        if (lines[i].age > lines[best].age)
            best = i;
    return best;
}

static int access_key(int key)
{
    int i, hit = 1, at = find(key);
    if (at < 0) {
        hit = 0;
        at = n_lines < WAYS ? n_lines++ : oldest();
        lines[at].key = key;
    }
    for (i = 0; i < n_lines; i++)
        lines[i].age++;
    lines[at].age = 0;
    return hit;
}

int main(int argc, char **argv)
{
    int i, n_hits = 0;
    for (i = 1; i < argc; i++)
        n_hits += access_key(atoi(argv[i]));
    assert(n_hits < argc);
    printf("%d of %d hit, %d kept\n", n_hits, argc - 1, n_lines);
    return 0;
}

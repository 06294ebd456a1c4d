//@ test: 2 5
//@ test: 0 3
//@ test: 8 9
//@ test: 5 2
//@ test: 4 4
#include <stdio.h>
#include <stdlib.h>

#define HOURS 12

static int busy[HOURS];

static int is_free(int from, int to)
{
    int h;
    for (h = from; h < to; h++) {
        if (busy[h])
            return 0;
    }
    return 1;
}

static int book(int from, int to)
{
    int h;
    if (from < 0 || to > HOURS || from >= to)
        return 0;
    if (!is_free(from, to))
        return 0;
    for (h = from; h < to; h++)
        busy[h] = 1;
    return 1;
}

static int longest_gap(void)
{
    int h, run = 0, best = 0;
    for (h = 0; h < HOURS; h++) {
        run = busy[h] ? 0 : run + 1;
        if (run > best)
            best = run;
    }
    return best;
}

int main(int argc, char **argv)
{
    int ok;
    if (argc < 3)
        return 1;
    ok = book(3, 5);
    ok = ok + book(atoi(argv[1]), atoi(argv[2]));
    printf("%d %d\n", ok, longest_gap());
    return 0;
}

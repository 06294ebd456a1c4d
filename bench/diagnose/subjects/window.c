//@ test: 1 2 3
//@ test: 4
//@ test: 9 1
//@ test: 2 2 2
//@ test: 7 0 7
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 8
#define WINDOW 3

struct filter {
    int ring[WINDOW];
    int at;
    int filled;
    int sum;
};

static int push(struct filter *f, int value)
{
    if (f->filled == WINDOW)
        f->sum -= f->ring[f->at];
    else
        f->filled++;
    f->ring[f->at] = value;
    f->sum += value;
    f->at = (f->at + 1) % WINDOW;
    return f->sum / f->filled;
}

static int peak(const int *values, int n)
{
    int i, best = values[0];
    for (i = 1; i < n; i++)
        if (values[i] > best)
            best = values[i];
    return best;
}

int main(int argc, char **argv)
{
    struct filter f = {{0, 0, 0}, 0, 0, 0};
    int out[SAMPLES];
    int i, n = 0;
    for (i = 1; i < argc && n < SAMPLES; i++)
        out[n++] = push(&f, atoi(argv[i]) & 127);
    if (n == 0)
        return 1;
    assert(peak(out, n) >= 0);
    printf("%d %d\n", out[n - 1], peak(out, n));
    return 0;
}

//@ test: s2
//@ test: s1 r3
//@ test: r9 r9 s0
//@ test: s4 s5 s6 s7 s8
//@ test: r1 x
#include <stdio.h>
#include <stdlib.h>

struct shape {
    char kind;
    int size;
    struct shape *next;
};

struct drawing {
    struct shape *first;
    struct shape *last;
    int n_shapes;
};

static struct shape *create(char kind, int size)
{
    struct shape *s = malloc(sizeof *s);
    if (s == NULL)
        exit(2);
    s->kind = kind;
    s->size = size;
    s->next = NULL;
    return s;
}

static void append(struct drawing *d, struct shape *s)
{
    if (d->first == NULL)
        d->first = s;
    else
        d->first->next = s; //@ right:         d->last->next = s;
    d->last = s;
    d->n_shapes++;
}

static int area(const struct shape *s)
{
    if (s->kind == 's')
        return s->size * s->size;
    return 2 * s->size;
}

static const struct shape *nth(const struct drawing *d, int n)
{
    const struct shape *s = d->first;
    int i;
    for (i = 0; i < n; i++)
        s = s->next;
    return s;
}

static void clear(struct drawing *d)
{
    while (d->first != NULL) {
        struct shape *next = d->first->next;
        free(d->first);
        d->first = next;
    }
    d->last = NULL;
    d->n_shapes = 0;
}

int main(int argc, char **argv)
{
    struct drawing d = {NULL, NULL, 0};
    int i, total = 0;
    for (i = 1; i < argc; i++) {
        char kind = argv[i][0];
        if (kind == 's' || kind == 'r')
            append(&d, create(kind, atoi(argv[i] + 1) % 50));
    }
    for (i = 0; i < d.n_shapes; i++)
        total += area(nth(&d, i));
    printf("%d shapes, area %d\n", d.n_shapes, total);
    clear(&d);
    return 0;
}

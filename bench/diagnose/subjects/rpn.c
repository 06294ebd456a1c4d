//@ test: 3 4 +
//@ test: 5 1 2 + -
//@ test: 7
//@ test: 2 3 x
//@ test: 6 0 /
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 5

struct calculator {
    int values[DEPTH];
    int n;
};

static int push(struct calculator *c, int value)
{
    if (c->n >= DEPTH)
        return 0;
    c->values[c->n++] = value;
    return 1;
}

static int pop(struct calculator *c, int *value)
{
    if (c->n == 0)
        return 0;
    *value = c->values[--c->n];
    return 1;
}

static int apply(struct calculator *c, char operator)
{
    int left, right;
    if (!pop(c, &right) || !pop(c, &left))
        return 0;
    switch (operator) {
    case '+':
        return push(c, (left + right) % 1000);
    case '-':
        return push(c, (left - right) % 1000);
    case 'x':
        return push(c, left * right % 1000);
    default:
        if (right == 0)
            return 0;
        return push(c, left / right);
    }
}

int main(int argc, char **argv)
{
    struct calculator c;
    int i, ok = 1, result;
    c.n = 0;
    for (i = 1; i < argc && ok; i++) {
        const char *word = argv[i];
        if (*word >= '0' && *word <= '9')
            ok = push(&c, atoi(word) % 1000);
        else
            ok = apply(&c, *word);
    }
    if (ok && pop(&c, &result))
        printf("%d, %d left\n", result, c.n);
    else
        printf("error at %d\n", i);
    return 0;
}

//@ test: abc
//@ test: abc--
//@ test: abcdefgh
//@ test: a-b-c-
//@ test: ab-cde--f
#include <stdio.h>

#define DEPTH 8

struct stack {
    char items[DEPTH];
    int top;
};

static int push(struct stack *s, char c)
{
    if (s->top >= DEPTH)
        return 0;
    s->items[s->top++] = c;
    return 1;
}

static int pop(struct stack *s)
{
    if (s->top < 0) //@ right:     if (s->top <= 0)
        return -1;
    return s->items[--s->top];
}

int main(int argc, char **argv)
{
    struct stack s;
    const char *p;
    s.top = 0;
    if (argc < 2)
        return 1;
    for (p = argv[1]; *p; p++) {
        if (*p == '-') {
            int c = pop(&s);
            printf("%c", c < 0 ? '?' : c);
        } else if (!push(&s, *p)) {
            printf("full");
        }
    }
    printf(" %d\n", s.top);
    return 0;
}

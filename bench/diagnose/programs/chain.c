//@ test: 3
//@ test: 39
//@ test: 1
//@ test: 99
//@ test: 20
#include <stdio.h>
#include <stdlib.h>

#define NODES 24

struct node {
    int value;
    struct node *next;
};

static struct node nodes[NODES];

static struct node *link_all(int step)
{
    int i;
    for (i = 0; i < NODES; i++) {
        nodes[i].value = i * step;
        nodes[i].next = i + 1 < NODES ? &nodes[i + 1] : NULL;
    }
    return nodes;
}

static int last_below(struct node *node, int limit)
{
    while (node->next->value < limit) //@ right:     while (node->next != NULL && node->next->value < limit)
        node = node->next;
    return node->value;
}

int main(int argc, char **argv)
{
    int limit = argc > 1 ? atoi(argv[1]) : 10;
    struct node *first = link_all(2);
    printf("%d\n", last_below(first, limit));
    return 0;
}

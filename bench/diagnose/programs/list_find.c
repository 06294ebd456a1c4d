//@ test: 3
//@ test: 7
//@ test: 12
//@ test: 1
//@ test: 99
#include <stdio.h>
#include <stdlib.h>

struct node {
    int key;
    int value;
    struct node *next;
};

static struct node *find(struct node *list, int key)
{
    struct node *p = list;
    while (p->key != key) //@ right:     while (p != NULL && p->key != key)
        p = p->next;
    return p;
}

static struct node *add(struct node *list, int key, int value)
{
    struct node *node = malloc(sizeof(struct node));
    node->key = key;
    node->value = value;
    node->next = list;
    return node;
}

int main(int argc, char **argv)
{
    struct node *list = NULL;
    struct node *found;
    int i;
    for (i = 1; i <= 7; i++)
        list = add(list, i, i * i);
    found = find(list, argc > 1 ? atoi(argv[1]) : 0);
    if (found != NULL)
        printf("%d\n", found->value);
    else
        printf("none\n");
    return 0;
}

//@ test: 12345
//@ test: 1
//@ test: 9876
//@ test: 22
//@ test: 314159
#include <stdio.h>
#include <stdlib.h>

struct item {
    int value;
    struct item *next;
};

struct queue {
    struct item *first;
    struct item *last;
};

static void append(struct queue *q, int value)
{
    struct item *item = malloc(sizeof(struct item));
    item->value = value;
    item->next = NULL;
    if (q->last != NULL)
        q->last->next = item;
    else
        q->first = item;
    q->last = item;
}

static int take(struct queue *q)
{
    struct item *item = q->first;
    int value = item->value;
    q->first = item->next;
    if (q->first == NULL)
        q->last = NULL;
    free(item);
    return value;
}

int main(int argc, char **argv)
{
    struct queue q = {NULL, NULL};
    const char *p;
    int sum = 0;
    if (argc < 2)
        return 1;
    for (p = argv[1]; *p; p++)
        append(&q, *p - '0');
    while (q.first == NULL) //@ right:     while (q.first != NULL)
        sum = sum * 2 + take(&q);
    printf("%d\n", sum);
    return 0;
}

//@ test: a3 b4 c1
//@ test: x9
//@ test: a1 a2 a3
//@ test: q0 z5
//@ test: m7 n7
#include <stdio.h>
#include <stdlib.h>

#define MAX_ITEMS 5

struct item {
    char code;
    int amount;
};

struct inventory {
    struct item items[MAX_ITEMS];
    int n_items;
    int total;
};

static struct item *find(struct inventory *inv, char code)
{
    int i;
    for (i = 0; i < inv->n_items; i++) {
        if (inv->items[i].code == code)
            return &inv->items[i];
    }
    return NULL;
}

static int add(struct inventory *inv, char code, int amount)
{
    struct item *item = find(inv, code);
    if (item == NULL) {
        if (inv->n_items >= MAX_ITEMS)
            return 0;
        item = &inv->items[inv->n_items++];
        item->code = code;
        item->amount = 0;
    }
    item->amount += amount;
    inv->total += amount;
    return 1;
}

int main(int argc, char **argv)
{
    struct inventory inv;
    int i;
    inv.n_items = 0;
    inv.total = 0;
    for (i = 1; i < argc; i++) {
        if (argv[i][0] != '\0')
            add(&inv, argv[i][0], atoi(argv[i] + 1) % 100);
    }
    for (i = 0; i < inv.n_items; i++)
        printf("%c:%d ", inv.items[i].code, inv.items[i].amount);
    printf("= %d\n", inv.total);
    return 0;
}

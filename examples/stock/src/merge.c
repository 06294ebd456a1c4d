/* Joins two lists of items, the cheaper of two equal ones first. */
#include "stock.h"

#include <stdlib.h>
#include <string.h>

static int by_name_and_price(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : (a->price > b->price) - (a->price < b->price);
}

static int load_list(const char *path, struct stock *stock)
{
    FILE *file = fopen(path, "r");
    int n_items = parse_list(file, stock);

    fclose(file);
    return n_items;
}

int main(int argc, char **argv)
{
    struct stock stock = { NULL, 0 };
    struct item *all, *sorted;
    const struct item *item;
    unsigned i = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: merge LIST LIST\n");
        return 2;
    }
    if (load_list(argv[1], &stock) < 0 || load_list(argv[2], &stock) < 0) {
        fprintf(stderr, "merge: cannot read the lists\n");
        return 1;
    }
    all = stock_reserve(stock.n_items);
    if (all == NULL)
        return 1;
    for (item = stock.first; item != NULL; item = item->next)
        all[i++] = *item;
    sorted = stock_append_all(all, i);
    free(all);
    if (sorted == NULL)
        return 1;
    qsort(sorted, i, sizeof *sorted, by_name_and_price);
    for (item = sorted; item < sorted + i; item++)
        printf("%s;%u;%ld\n", item->name, item->count, item->price);
    free(sorted);
    stock_clear(&stock);
    return 0;
}

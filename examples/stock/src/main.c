/* Prints a report about a list of items. */
#include "stock.h"

#include <string.h>

static long price_of(const struct item *item)
{
    return item->price;
}

static long value_of(const struct item *item)
{
    return item->price * (long)item->count;
}

static const struct {
    const char *name;
    measure measure;
} columns[] = {
    { "price", price_of },
    { "value", value_of },
};

static void print_report(const struct stock *stock)
{
    const struct item *item;
    int width = widest_name(stock);
    size_t i;

    for (item = stock->first; item != NULL; item = item->next)
        printf("%-*s %6u %8ld\n", width, item->name, item->count, item->price);
    for (i = 0; i < sizeof columns / sizeof columns[0]; i++)
        printf("%s: total %ld, average %ld\n", columns[i].name,
               stats_total(stock, columns[i].measure), stats_average(stock, columns[i].measure));
}

int main(int argc, char **argv)
{
    struct stock stock = { NULL, 0 };
    FILE *file;

    if (argc < 2) {
        fprintf(stderr, "usage: stock LIST [ITEM TO REMOVE]\n");
        return 2;
    }
    file = fopen(argv[1], "r");
    if (file == NULL) {
        perror(argv[1]);
        return 1;
    }
    if (parse_list(file, &stock) < 0)
        fprintf(stderr, "%s: not a list of items\n", argv[1]);
    fclose(file);
    if (argc > 2 && !stock_remove(&stock, argv[2]))
        fprintf(stderr, "%s: no such item\n", argv[2]);
    print_report(&stock);
    stock_clear(&stock);
    return 0;
}

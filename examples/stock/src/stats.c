#include "stock.h"

#include <string.h>

long stats_total(const struct stock *stock, measure measure)
{
    const struct item *item;
    long total = 0;

    for (item = stock->first; item != NULL; item = item->next)
        total += measure(item);
    return total;
}

long stats_average(const struct stock *stock, measure measure)
{
    return stats_total(stock, measure) / (long)stock->n_items;
}

int widest_name(const struct stock *stock)
{
    const struct item *item;
    int widest;

    for (item = stock->first; item != NULL; item = item->next) {
        int width = (int)strlen(item->name);

        if (item == stock->first || width > widest)
            widest = width;
    }
    return widest;
}

#include "stock.h"

#include <stdlib.h>
#include <string.h>

struct item *stock_add(struct stock *stock, const struct item *item)
{
    struct item *copy = malloc(sizeof *copy);

    if (copy == NULL)
        return NULL;
    *copy = *item;
    copy->next = stock->first;
    stock->first = copy;
    stock->n_items++;
    return copy;
}

int stock_remove(struct stock *stock, const char *name)
{
    struct item **link = &stock->first;

    while (*link != NULL) {
        struct item *item = *link;

        if (strcmp(item->name, name) == 0) {
            *link = item->next;
            free(item);
            stock->n_items--;
            /* Equal names stand together. */
            if (item->next == NULL || strcmp(item->next->name, name) != 0)
                return 1;
        } else {
            link = &item->next;
        }
    }
    return 0;
}

/* Room for so many items, in one piece. */
struct item *stock_reserve(unsigned count)
{
    unsigned size = count * (unsigned)sizeof(struct item);

    return malloc(size);
}

struct item *stock_append_all(const struct item *items, unsigned count)
{
    struct item *room = stock_reserve(count);
    unsigned i;

    if (room == NULL)
        return NULL;
    for (i = 0; i < count; i++)
        room[i] = items[i];
    return room;
}

void stock_clear(struct stock *stock)
{
    struct item *item = stock->first;

    while (item != NULL) {
        struct item *next = item->next;

        free(item);
        item = next;
    }
    stock->first = NULL;
    stock->n_items = 0;
}

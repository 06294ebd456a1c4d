/* A list of items in stock. */
#ifndef STOCK_H
#define STOCK_H

#include <stdio.h>

#define NAME_LENGTH 24

struct item {
    char name[NAME_LENGTH];
    unsigned count;
    long price; /* in cents */
    struct item *next;
};

struct stock {
    struct item *first;
    unsigned n_items;
};

/* stock.c */
struct item *stock_add(struct stock *stock, const struct item *item);
int stock_remove(struct stock *stock, const char *name);
struct item *stock_reserve(unsigned count);
struct item *stock_append_all(const struct item *items, unsigned count);
void stock_clear(struct stock *stock);

/* parse.c */
int parse_item(const char *line, struct item *item);
int parse_list(FILE *file, struct stock *stock);

/* stats.c */
typedef long (*measure)(const struct item *item);
long stats_total(const struct stock *stock, measure measure);
long stats_average(const struct stock *stock, measure measure);
int widest_name(const struct stock *stock);

#endif

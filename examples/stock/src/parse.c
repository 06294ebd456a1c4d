#include "stock.h"

#include <stdlib.h>
#include <string.h>

#define LINE_LENGTH 256

/* name;count;price */
int parse_item(const char *line, struct item *item)
{
    const char *end = strchr(line, ';');
    size_t length;

    if (end == NULL)
        return -1;
    length = (size_t)(end - line);
    if (length > NAME_LENGTH)
        return -1;
    memcpy(item->name, line, length);
    item->name[length] = '\0';
    if (sscanf(end + 1, "%u;%ld", &item->count, &item->price) != 2)
        return -1;
    item->next = NULL;
    return 0;
}

/* Adds every line of the file; returns the number of items or -1. */
int parse_list(FILE *file, struct stock *stock)
{
    char *line = malloc(LINE_LENGTH);
    int n_items = 0;

    if (line == NULL)
        return -1;
    while (fgets(line, LINE_LENGTH, file) != NULL) {
        struct item item;

        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (parse_item(line, &item) != 0)
            return -1;
        if (stock_add(stock, &item) == NULL)
            break;
        n_items++;
    }
    free(line);
    return n_items;
}

//@ test: 3x2 1 by 2x
//@ test: x -1 by x 1
//@ test: 2x5 -2x5 4 by 7x3
//@ test: 12x3 5x 9 -3x3
//@ test: x9 by x9 1000x 3y x10
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIGHEST 9
#define TERMS 4

struct term {
    int factor;
    int power;
    struct term *next;
};

static int parse(const char *text, int *factor, int *power)
{
    int negative = text[0] == '-';
    int at = negative ? 1 : 0;
    int start = at;
    *factor = 0;
    *power = 0;
    for (; text[at] >= '0' && text[at] <= '9'; at++) {
        if (*factor > 99)
            return 0;
        *factor = *factor * 10 + (text[at] - '0');
    }
    if (text[at] == 'x') {
        if (at == start)
            *factor = 1;
        *power = 1;
        at++;
        if (text[at] >= '0' && text[at] <= '9')
            *power = text[at++] - '0';
    }
    if (negative)
        *factor = -*factor;
    return text[at] == '\0';
}

static void add(struct term **link, int factor, int power)
{
    struct term *term;
    while (*link != NULL && (*link)->power > power)
        link = &(*link)->next;
    term = *link;
    if (term == NULL || term->power != power) {
        term = malloc(sizeof *term);
        term->factor = 0;
        term->power = power;
        term->next = *link;
        *link = term;
    }
    term->factor += factor;
    if (term->factor == 0) {
        *link = term->next;
        free(term);
    }
}

static struct term *multiply(const struct term *left, const struct term *right)
{
    struct term *product = NULL;
    const struct term *other;
    for (; left != NULL; left = left->next)
        for (other = right; other != NULL; other = other->next)
            add(&product, left->factor * other->factor, left->power + other->power);
    return product;
}

static void release(struct term *list)
{
    while (list != NULL) {
        struct term *next = list->next;
        free(list);
        list = next;
    }
}

int main(int argc, char **argv)
{
    struct term *sides[2] = {NULL, NULL};
    struct term *product, *term;
    int dense[2 * HIGHEST + 1] = {0};
    int i, side = 0, n = 0;
    for (i = 1; i < argc; i++) {
        int factor, power;
        if (strcmp(argv[i], "by") == 0) {
            if (side == 1)
                break;
            side = 1;
            n = 0;
        } else if (n < TERMS && parse(argv[i], &factor, &power)) {
            add(&sides[side], factor, power);
            n++;
        }
    }
    if (side == 0)
        add(&sides[1], 1, 0);
    product = multiply(sides[0], sides[1]);
    for (term = product; term != NULL; term = term->next) {
        assert(term->factor != 0);
        assert(dense[term->power] == 0);
        dense[term->power] = term->factor;
    }
    for (i = 2 * HIGHEST; i > 0 && dense[i] == 0; i--)
        ;
    for (; i >= 0; i--)
        printf("%d ", dense[i]);
    printf("\n");
    release(product);
    release(sides[0]);
    release(sides[1]);
    return 0;
}

/* Functions that call back. */
#include <stdlib.h>
#include <string.h>

void out_int(long long);

struct item {
    char name[4];
    int rank;
};

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int by_rank(const void *a, const void *b)
{
    return ((const struct item *)a)->rank - ((const struct item *)b)->rank;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void bye(void) { out_int(77); }
static void first(void) { out_int(78); }

int main(void)
{
    int numbers[9] = { 5, -3, 9, 9, 0, 2, 100, -50, 1 };
    struct item items[4] = { { "d", 4 }, { "a", 1 }, { "c", 3 }, { "b", 2 } };
    const char *names[5] = { "pear", "fig", "apple", "kiwi", "fig" };
    int key = 9, missing = 4;
    int *found;
    atexit(bye);
    atexit(first);
    qsort(numbers, 9, sizeof *numbers, by_value);
    for (int i = 0; i < 9; i++)
        out_int(numbers[i]);
    qsort(items, 4, sizeof *items, by_rank);
    for (int i = 0; i < 4; i++)
        out_int(items[i].name[0]);
    qsort(names, 5, sizeof *names, by_name);
    for (int i = 0; i < 5; i++)
        out_int(names[i][0]);
    qsort(numbers, 0, sizeof *numbers, by_value);
    found = bsearch(&key, numbers, 9, sizeof *numbers, by_value);
    out_int(found != NULL && *found == 9);
    out_int(bsearch(&missing, numbers, 9, sizeof *numbers, by_value) == NULL);
    return 0;
}

#include "pool.h"

static char *names[8];

char *pool_take(struct pool *pool)
{
    char *p = malloc(pool->size);
    pool->last = p;
    return p;
}

void pool_drop(struct pool *pool)
{
    free(pool->last);
}

int pool_use(struct pool *pool, int n)
{
    char *p = pool_take(pool);
    pool_drop(pool);
    p[0] = 'x'; /* é: used after free */
    if (n <= 8)
        names[n] = p;
    return names[n] != NULL;
}

//@ test: 1/2 1/3
//@ test: 7/11 -3/8 5
//@ test: 1/4 -1/4
//@ test: 9/0 2/9 99/7
//@ test: 1/12 1/11 1/10 1/9 1/8 1/7 1/6
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMS 6
#define QUOTIENTS 24

struct fraction {
    int top, bottom;
};

static int gcd(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int parse(const char *text, struct fraction *fraction)
{
    const char *slash = strchr(text, '/');
    fraction->top = atoi(text);
    fraction->bottom = 1;
    if (slash != NULL)
        fraction->bottom = atoi(slash + 1);
    if (fraction->bottom < 1 || fraction->bottom > 12)
        return 0;
    return fraction->top >= -99 && fraction->top <= 99;
}

static struct fraction add(struct fraction a, struct fraction b)
{
    struct fraction sum;
    int common = gcd(a.bottom, b.bottom);
    int divisor;
    sum.top = a.top * (b.bottom / common) + b.top * (a.bottom / common);
    sum.bottom = a.bottom / common * b.bottom;
    divisor = gcd(sum.top, sum.bottom);
    sum.top /= divisor;
    sum.bottom /= divisor;
    assert(sum.bottom > 0 && sum.bottom <= 27720);
    return sum;
}

static int expand(struct fraction value, int *quotients)
{
    int n = 0;
    while (value.bottom != 0) {
        int whole = value.top / value.bottom;
        int rest = value.top % value.bottom;
        if (rest < 0) {
            rest += value.bottom;
            whole--;
        }
        assert(n < QUOTIENTS);
        quotients[n++] = whole;
        value.top = value.bottom;
        value.bottom = rest;
    }
    return n;
}

int main(int argc, char **argv)
{
    struct fraction total = {0, 1}, term;
    int quotients[QUOTIENTS];
    int i, n = 0;
    for (i = 1; i < argc && n < TERMS; i++) {
        if (!parse(argv[i], &term))
            continue;
        total = add(total, term);
        n++;
    }
    printf("%d/%d =", total.top, total.bottom);
    n = expand(total, quotients);
    for (i = 0; i < n; i++)
        printf(" %d", quotients[i]);
    printf("\n");
    return 0;
}

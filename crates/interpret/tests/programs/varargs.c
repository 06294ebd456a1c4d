/* Variable arguments of every kind. */
#include <stdarg.h>
void out_int(long long);
void out_float(double);

struct small { int a, b; }; struct pair { long a; double b; }; struct big { int data[7]; };

static long sum(int n, ...)
{
    va_list list; long total = 0;
    va_start(list, n);
    while (n--) total = total * 10 + va_arg(list, int);
    va_end(list);
    return total;
}

static void each(const char *kinds, ...)
{
    va_list list, copy;
    va_start(list, kinds); va_copy(copy, list);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i': out_int(va_arg(list, int)); break;
        case 'u': out_int(va_arg(list, unsigned)); break;
        case 'l': out_int(va_arg(list, long)); break;
        case 'd': out_float(va_arg(list, double)); break;
        case 'L': out_float(va_arg(list, long double)); break;
        case 's': out_int(*va_arg(list, char *)); break;
        case 'S': { struct small s = va_arg(list, struct small); out_int(s.a * s.b); break; }
        case 'P': { struct pair p = va_arg(list, struct pair); out_int(p.a); out_float(p.b); break; }
        case 'B': { struct big b = va_arg(list, struct big); out_int(b.data[6]); b.data[6] = 1; break; }
        case 'f': out_int(va_arg(list, int (*)(int))(4)); break;
        }
    va_end(list);
    out_int(va_arg(copy, int)); va_end(copy);
}

static void pass(int n, va_list list) { while (n--) out_int(va_arg(list, int)); }
static void on(int n, ...) { va_list list; va_start(list, n); pass(n, list); pass(1, list); va_end(list); }
static int square(int x) { return x * x; }

int main(void)
{
    char c = -7; short s = 300; float f = 1.5f; unsigned char u = 200;
    out_int(sum(0)); out_int(sum(9, 1, 2, 3, 4, 5, 6, 7, 8, 9)); out_int(sum(3, c, s, u));
    each("iiuldsiLd", 1, c, 4000000000u, 1l << 40, f, "x", 5, 2.5L, -.25);
    each("iddddddddddiiiiiiii", 1, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 1, 2, 3, 4, 5, 6, 7, 8);
    struct big b = {{1, 2, 3, 4, 5, 6, 7}};
    each("iSPBfi", 3, (struct small){4, 5}, (struct pair){6, 7.5}, b, square, 9);
    each("iBBi", 1, b, b, 8); out_int(b.data[6]);
    on(2, 1, 2, 3);
    return 0;
}

/* scanf and its kin, on strings. */
#include <stdio.h>
#include <string.h>

void out_int(long long);
void out_float(double);

static void text(const char *s)
{
    out_int((long long)strlen(s));
    while (*s)
        out_int(*s++);
}

static void numbers(void)
{
    int a = 0, b = 0, c = 0, n = 0;
    unsigned u = 0, x = 0, o = 0;
    long l = 0;
    long long ll = 0;
    short h = 0;
    signed char hh = 0;
    size_t z = 0;
    out_int(sscanf("12 -7+3", "%d%d%d", &a, &b, &c));
    out_int(a); out_int(b); out_int(c);
    out_int(sscanf("42 ff 0x1F 017", "%u %x %x %o", &u, &x, &o, &u));
    out_int(u); out_int(x); out_int(o);
    out_int(sscanf("0x1f 017 9", "%i %i %i", &a, &b, &c));
    out_int(a); out_int(b); out_int(c);
    out_int(sscanf("123456", "%2d%3d%n", &a, &b, &n));
    out_int(a); out_int(b); out_int(n);
    out_int(sscanf("-9000000000 9000000000 70000 300 5", "%ld %lld %hd %hhd %zu", &l, &ll, &h, &hh, &z));
    out_int(l); out_int(ll); out_int(h); out_int(hh); out_int((long long)z);
    out_int(sscanf("99999999999999999999", "%ld", &l));
    out_int(l);
    out_int(sscanf("3/4", "%d / %d", &a, &b));
    out_int(a); out_int(b);
    out_int(sscanf("5%6", "%d%%%d", &a, &b));
    out_int(b);
    out_int(sscanf("x", "%d", &a));
    out_int(sscanf("", "%d", &a));
    out_int(sscanf("   ", "%d", &a));
    out_int(sscanf("7", "%d %d", &a, &b));
    out_int(sscanf("1,2", "%d;%d", &a, &b));
    out_int(sscanf("12 34", "%*d %d", &a));
    out_int(a);
}

static void words(void)
{
    char a[16] = "", b[16] = "", c[4] = "???";
    char one = '?';
    int n = -1;
    out_int(sscanf("  key = value rest", "%15s = %15s", a, b));
    text(a); text(b);
    out_int(sscanf("abc123", "%3s%n", a, &n));
    text(a); out_int(n);
    out_int(sscanf("name:rest", "%15[^:]:%15s", a, b));
    text(a); text(b);
    out_int(sscanf("]-x1", "%15[]a-z-]", a));
    text(a);
    out_int(sscanf("2024-05-06", "%[0-9]-%*[0-9]-%2[0-9]", a, b));
    text(a); text(b);
    out_int(sscanf("XYZ", "%2c%c", c, &one));
    out_int(c[0]); out_int(c[1]); out_int(c[2]); out_int(one);
    out_int(sscanf(" q", "%c", &one));
    out_int(one);
    out_int(sscanf(" q", " %c", &one));
    out_int(one);
    out_int(sscanf("123", "%[a-z]", a));
}

static void reals(void)
{
    float f = 0;
    double d = 0, e = 0;
    out_int(sscanf("1.5 -2.25e2 .5x", "%f %lf %lf", &f, &d, &e));
    out_float(f); out_float(d); out_float(e);
    out_int(sscanf("abc", "%lf", &d));
}

int main(void)
{
    numbers();
    words();
    reals();
    return 0;
}

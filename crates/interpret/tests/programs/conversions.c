/* Every conversion between integer types, implicit and explicit. */
void out_int(long long);

#define TYPES(X, from) X(from, signed char) X(from, unsigned char) X(from, short) \
    X(from, unsigned short) X(from, int) X(from, unsigned) X(from, long) X(from, unsigned long) \
    X(from, _Bool)
#define IMPLICIT(from, to) { from value = number; to result = value; out_int(result); }
#define EXPLICIT(from, to) { from value = number; out_int((to)value); out_int((long)(to)value); \
    out_int((unsigned long)(to)value); out_int((int)(to)value); out_int((unsigned)(to)value); \
    out_int((short)(to)(from)number); out_int((unsigned char)(to)(from)number); }
#define BOTH(from) TYPES(IMPLICIT, from) TYPES(EXPLICIT, from)

enum small { MINUS = -5, PLUS = 5 };
enum big { NOTHING, LARGE = 0xfffffff0u };

static void convert(long number)
{
    BOTH(signed char) BOTH(unsigned char) BOTH(short) BOTH(unsigned short)
    BOTH(int) BOTH(unsigned) BOTH(long) BOTH(unsigned long)
}

static long widen(int x) { return x; }
static unsigned long widen_sign(int x) { return x; }
static long widen_unsigned(unsigned x) { return x; }
static signed char narrow(long x) { return x; }
static unsigned change(int x) { return x; }
static int back(unsigned x) { return x; }
static long mixed(int a, unsigned b) { return a + b; }
static long mixed_long(long a, unsigned b) { return a + b; }
static int conditional(int which, int a, unsigned char b) { return which ? a : b; }
static long conditional_sign(int which, int a, unsigned b) { return which ? a : b; }
static int takes_char(char c) { return c; }
static int compares(int a, unsigned b) { return (a < b) + 2 * ((long)a < (long)b); }
static int cast_sign(unsigned u, int i)
{
    return ((int)u < 0) + 2 * ((unsigned)i > 5) + 4 * ((int)u / 2 == i) + 8 * ((long)(int)u == i)
        + 16 * ((unsigned long)(unsigned)i > 1ul << 31);
}

int main(void)
{
    static const long numbers[] = {0, 1, -1, 127, 128, -128, 255, 256, 32767, -32768, 65535,
        2147483647, -2147483648, 4294967295, 4294967296, -4294967297, 1l << 62, -(1l << 62)};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        long n = numbers[i];
        convert(n);
        out_int(widen(n)); out_int(widen_sign(n)); out_int(widen_unsigned(n));
        out_int(narrow(n)); out_int(change(n)); out_int(back(n));
        for (unsigned j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            out_int(mixed((short)n, numbers[j]));
            out_int(mixed_long((int)n, numbers[j]));
            out_int(conditional(i & 1, n, numbers[j]));
            out_int(conditional_sign(j & 1, n, numbers[j]));
            out_int(compares(n, numbers[j]));
            out_int(cast_sign(n, numbers[j]));
        }
        out_int(takes_char(n));
        enum small small = (enum small)(n & 7);
        out_int(small < 0);
        out_int(small + MINUS);
    }
    enum big big = LARGE;
    out_int(big); out_int(big + 32); out_int(big > 5); out_int(-big);
    char *p = (char *)0 + 5;
    out_int((long)p); out_int((int)(unsigned long)p); out_int((unsigned char)(long)p);
    return 0;
}

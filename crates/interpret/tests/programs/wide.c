/* Integers of 128 bits and of odd widths, overflow builtins, bit tricks. */
void out_int(long long);

typedef __int128 i128; typedef unsigned __int128 u128;
static void out(i128 value) { out_int(value >> 64); out_int(value); }
static i128 multiply(long a, long b) { return (i128)a * b; }
static u128 shift(u128 value, int by) { return by < 0 ? value >> -by : value << by; }
struct holds { char c; i128 wide; unsigned _BitInt(37) odd; _BitInt(7) tiny; };

int main(void)
{
    long big = 0x7fffffffffffffff;
    out(multiply(big, -big)); out(multiply(big, big) / 12345); out(multiply(-big, 77) % 1000);
    out(shift(1, 100)); out(shift((u128)-1, -70)); out((u128)big * 3 + (i128)-5);
    out((i128)big << 3); out(-(i128)big - 5); out_int((i128)big + 1 > big); out_int((u128)-1 > 5);
    struct holds h = {1, -1, (unsigned _BitInt(37))1 << 36, -5};
    h.odd += h.odd; out_int(h.odd); h.odd -= 1; out_int(h.odd); out_int(h.tiny); out(h.wide);
    _BitInt(7) t = 30; t = t - h.tiny + -70; out_int(t);
    int r; unsigned u; long l; unsigned char c;
    out_int(__builtin_add_overflow(2147483647, 1, &r)); out_int(r);
    out_int(__builtin_sub_overflow(3u, 5u, &u)); out_int(u);
    out_int(__builtin_mul_overflow(1l << 40, 1l << 30, &l)); out_int(l);
    out_int(__builtin_add_overflow(200, 100, &c)); out_int(c);
    out_int(__builtin_mul_overflow(-1, 5u, &r)); out_int(r);
    for (unsigned x = 1; x < 1u << 31; x *= 37) {
        out_int(__builtin_popcount(x)); out_int(__builtin_clz(x)); out_int(__builtin_ctzl(x));
        out_int(__builtin_bswap32(x)); out_int(__builtin_bswap16(x)); out_int(__builtin_parity(x));
        out_int(__builtin_ffs(x)); out_int(x << 7 | x >> 25); out_int(__builtin_bswap64(x));
        out_int(__builtin_expect(x > 100, 1)); out_int(__builtin_rotateleft32(x, 5));
        if (x > 1u << 26) break;
    }
    double d = (double)(i128)big * 2; out_int(d > 1e18); out_int((i128)(float)1e10);
    switch ((i128)big + 1) { case (i128)0x7fffffffffffffff + 1: out_int(1); break; default: out_int(2); }
    return 0;
}

/* Numbers that wrap, change sign and are cut. */
static unsigned sum(unsigned char a, signed char b) { see_int("a", a); see_int("b", b); return a + b; }
int main(void) { for (unsigned i = 250; i < 262; i++) { unsigned char c = i; see_int("c", c); signed char s = i; see_int("s", s); short h = (short)(i << 8); see_int("h", h);
        unsigned u = c - 10u; see_int("u", u); int n = (int)u; see_int("n", n); see_int("sum", sum(i, i)); unsigned long w = u; see_int("w", w); see_int("shift", u >> 28); if (u > 0xfffffff0u) see_int("big", u); else see_int("small", u); }
    unsigned char k = 3; do { see_int("k", k); k += 100; } while (k != 3); for (int j = 10; j != -2; j -= 3) see_int("j", j); unsigned d = 3; while (d--) see_int("d", d); see_int("last", d); see_int("min", -2147483647 - 1); return 0; }

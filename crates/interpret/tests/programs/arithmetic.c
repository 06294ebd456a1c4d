/* Operators on every width and sign, at the edges of their ranges. */
void out_int(long long);

static signed char chars[] = {-128, -1, 0, 1, 127};
static unsigned char bytes[] = {0, 1, 127, 128, 255};
static short shorts[] = {-32768, -1, 0, 1, 32767};
static unsigned short words[] = {0, 1, 32767, 32768, 65535};
static int ints[] = {-2147483647 - 1, -1, 0, 1, 2147483647};
static unsigned uints[] = {0, 1, 2147483647, 2147483648u, 4294967295u};
static long longs[] = {-9223372036854775807L - 1, -1, 0, 1, 9223372036854775807L};
static unsigned long ulongs[] = {0, 1, 9223372036854775807UL, 1UL << 63, ~0UL};

#define EACH(a, b) for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++)
#define COMPARE(a, b) EACH(a, b) out_int((a[i] < b[j]) + 2 * (a[i] <= b[j]) + 4 * (a[i] == b[j]) \
    + 8 * (a[i] != b[j]) + 16 * (a[i] > b[j]) + 32 * (a[i] >= b[j]))
#define BITS(a, b) EACH(a, b) { out_int(a[i] & b[j]); out_int(a[i] | b[j]); out_int(a[i] ^ b[j]); }
#define SAFE(a, b) EACH(a, b) if (b[j] != 0 && b[j] != -1) { out_int(a[i] / b[j]); out_int(a[i] % b[j]); }
#define ALL(a, b) COMPARE(a, b); BITS(a, b); SAFE(a, b)

static void wrap(void)
{
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            out_int(uints[i] + uints[j]);
            out_int(uints[i] - uints[j]);
            out_int(uints[i] * uints[j]);
            out_int(ulongs[i] + ulongs[j]);
            out_int(ulongs[i] - uints[j]);
            out_int(ulongs[i] * words[j]);
            out_int((short)(shorts[i] + words[j]));
            out_int((signed char)(chars[i] * bytes[j]));
        }
}

static void shifts(void)
{
    for (int i = 0; i < 5; i++) {
        out_int(ints[i] >> 3);
        out_int(uints[i] >> 3);
        out_int(uints[i] << 3);
        out_int(longs[i] >> 40);
        out_int(ulongs[i] >> 40);
        out_int(chars[i] >> 1);
        out_int(bytes[i] >> 1);
        out_int(bytes[i] << 7);
        out_int(~chars[i]);
        out_int(~bytes[i]);
        out_int(!words[i]);
        out_int(-chars[i]);
        out_int(-uints[i]);
        out_int(+bytes[i]);
    }
}

static void compound(void)
{
    signed char c = 100;
    unsigned char b = 200;
    short s = 30000;
    c += 100; out_int(c);
    c -= 300; out_int(c);
    b *= 3; out_int(b);
    b >>= 1; out_int(b);
    b -= 250; out_int(b);
    s += 10000; out_int(s);
    s /= -3; out_int(s);
    s %= 7; out_int(s);
    c++; out_int(c); ++b; out_int(b); out_int(s--); out_int(--s);
    b = 255; out_int(b++); out_int(b);
    unsigned long u = 5; u -= 6; out_int(u); u /= 2; out_int(u);
    int i = 10; i += 2.75; out_int(i);
    _Bool flag = 3; out_int(flag); flag = 0.25; out_int(flag); flag += 1; out_int(flag);
    flag = (_Bool)&flag; out_int(flag);
}

int main(void)
{
    ALL(chars, bytes); ALL(chars, ints); ALL(bytes, uints); ALL(shorts, words);
    ALL(ints, uints); ALL(ints, longs); ALL(uints, longs); ALL(longs, ulongs); ALL(uints, ulongs);
    wrap();
    shifts();
    compound();
    return 0;
}

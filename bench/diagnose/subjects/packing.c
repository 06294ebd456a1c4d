//@ test: hello
//@ test: abcdefghijkl
//@ test: a
//@ test: zz9zz
//@ test: thelongestwords
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define LETTERS 12
#define WIDTH 5
#define BYTES ((LETTERS * WIDTH + 7) / 8)

static void put(unsigned char *bytes, int at, unsigned value)
{
    int i;
    assert(value < 1u << WIDTH);
    for (i = 0; i < WIDTH; i++, at++)
        if (value >> i & 1u)
            bytes[at / 8] |= 1u << at % 8;
}

static unsigned get(const unsigned char *bytes, int at)
{
    unsigned both = bytes[at / 8];
    int shift = at % 8;
    if (shift + WIDTH > 8)
        both |= (unsigned)bytes[at / 8 + 1] << 8;
    return both >> shift & ((1u << WIDTH) - 1);
}

static int pack(const char *word, unsigned char *bytes)
{
    int n;
    memset(bytes, 0, BYTES);
    for (n = 0; n < LETTERS && word[n] != '\0'; n++) {
        unsigned code = 0;
        if (word[n] >= 'a' && word[n] <= 'z')
            code = word[n] - 'a' + 1;
        put(bytes, n * WIDTH, code);
    }
    return n;
}

static void unpack(const unsigned char *bytes, int n, char *word)
{
    int i;
    for (i = 0; i < n; i++) {
        unsigned code = get(bytes, i * WIDTH);
        word[i] = code == 0 ? '_' : (char)('a' + code - 1);
    }
    word[n] = '\0';
}

int main(int argc, char **argv)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[BYTES];
    char again[LETTERS + 1], shown[2 * BYTES + 1];
    int i, n, used;
    if (argc < 2)
        return 1;
    n = pack(argv[1], bytes);
    unpack(bytes, n, again);
    for (i = 0; i < n; i++)
        assert(again[i] == argv[1][i] || again[i] == '_');
    used = (n * WIDTH + 7) / 8;
    for (i = 0; i < used; i++) {
        shown[2 * i] = hex[bytes[i] >> 4];
        shown[2 * i + 1] = hex[bytes[i] & 15];
    }
    shown[2 * used] = '\0';
    printf("%s %s\n", shown, again);
    return 0;
}

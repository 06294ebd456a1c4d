/* Packs and unpacks text: rle p packs runs ("aaaa" is "4a", digits and '\' are escaped by
   '\'), rle u unpacks, rle s says how well it packs and which byte has the longest run. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ROOM 400
#define LONGEST 99

static char text[ROOM];
static char out[2 * ROOM + 1];
static int n_out;
static int is_full;

static void put(char c)
{
    if (n_out < 2 * ROOM)
        out[n_out++] = c;
    else
        is_full = 1;
}

static int run_at(const char *from, int length)
{
    int n = 1;
    while (n < length && n < LONGEST && from[n] == from[0])
        n++;
    return n;
}

static void put_number(int n)
{
    if (n >= 10)
        put((char)('0' + n / 10));
    put((char)('0' + n % 10));
}

static void pack(const char *from, int length)
{
    int at = 0;
    while (at < length) {
        char c = from[at];
        int n = run_at(from + at, length - at);
        int is_special = isdigit((unsigned char)c) || c == '\\';
        if (n > 2 || (n == 2 && is_special)) {
            put_number(n);
            if (is_special)
                put('\\');
            put(c);
        } else {
            for (int i = 0; i < n; i++) {
                if (is_special)
                    put('\\');
                put(c);
            }
        }
        at += n;
    }
}

static int unpack(const char *from, int length)
{
    int at = 0;
    while (at < length) {
        int n = 0;
        while (at < length && isdigit((unsigned char)from[at])) {
            n = n * 10 + (from[at] - '0');
            if (n > LONGEST)
                return at;
            at++;
        }
        if (n == 0)
            n = 1;
        if (at < length && from[at] == '\\')
            at++;
        if (at >= length)
            return at;
        for (int i = 0; i < n; i++)
            put(from[at]);
        at++;
    }
    return -1;
}

static void statistics(const char *from, int length)
{
    int longest = 0, n_runs = 0, percent;
    char of = ' ';
    for (int at = 0; at < length;) {
        int n = run_at(from + at, length - at);
        if (n > longest) {
            longest = n;
            of = from[at];
        }
        n_runs++;
        at += n;
    }
    pack(from, length);
    percent = length > 0 ? n_out * 100 / length : 100;
    printf("%d bytes, %d runs, longest %d of '%c', packed to %d%%\n", length, n_runs, longest, of,
           percent);
}

int main(int argc, char **argv)
{
    int length = (int)fread(text, 1, ROOM, stdin);
    char what = argc > 1 ? argv[1][0] : 's';
    if (length > 0 && text[length - 1] == '\n')
        length--;
    if (what == 'p') {
        pack(text, length);
    } else if (what == 'u') {
        int bad = unpack(text, length);
        if (bad >= 0 || is_full) {
            printf("broken at %d\n", bad);
            return 1;
        }
    } else {
        statistics(text, length);
        return 0;
    }
    printf("%.*s\n", n_out, out);
    return 0;
}

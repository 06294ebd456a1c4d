//@ test: a
//@ test: ab
//@ test: abc
//@ test: hello
//@ test: 12345678
#include <stdio.h>
#include <string.h>

#define IN 6
#define OUT (IN / 3 * 4 + 1)

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_at(const char *text, int n, int at)
{
    return at < n ? text[at] & 255 : 0;
}

static int encode(const char *text, int n, char *out)
{
    int at, to = 0;
    for (at = 0; at < n; at += 3) {
        int a = value_at(text, n, at);
        int b = value_at(text, n, at + 1);
        int c = value_at(text, n, at + 2);
        out[to++] = alphabet[a >> 2];
        out[to++] = alphabet[(a & 3) << 4 | b >> 4];
        out[to++] = at + 1 < n ? alphabet[(b & 15) << 2 | c >> 6] : '=';
        out[to++] = at + 2 < n ? alphabet[c & 63] : '=';
    }
    out[to] = '\0';
    return to;
}

int main(int argc, char **argv)
{
    char out[OUT];
    int n;
    if (argc != 2)
        return 1;
    n = strlen(argv[1]);
    if (n > IN) {
        printf("too long\n");
        return 1;
    }
    printf("%d ", encode(argv[1], n, out));
    printf("%s\n", out);
    return 0;
}

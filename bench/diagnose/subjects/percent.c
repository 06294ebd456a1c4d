//@ test: a%20b
//@ test: plain
//@ test: %41%42
//@ test: x%zz
//@ test: end%4
#include <stdio.h>
#include <string.h>

#define ROOM 10

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at;
    if (c == '\0')
        return -1;
    at = strchr(digits, c);
    if (at == NULL)
        return -1;
    return at - digits;
}

static int decode(const char *text, char *out, int room)
{
    int n = 0;
    while (*text != '\0' && n < room - 1) {
        if (text[0] == '%') {
            int high = hex(text[1]);
            int low;
            if (high < 0)
                return -1;
            low = hex(text[2]);
            if (low < 0)
                return -1;
            out[n++] = (high & 7) * 16 + low;
            text += 3;
        } else {
            out[n++] = *text++;
        }
    }
    out[n] = '\0';
    return n;
}

int main(int argc, char **argv)
{
    char out[ROOM];
    int n;
    if (argc < 2)
        return 1;
    n = decode(argv[1], out, ROOM);
    if (n < 0)
        printf("bad\n");
    else
        printf("%d %s\n", n, out);
    return 0;
}

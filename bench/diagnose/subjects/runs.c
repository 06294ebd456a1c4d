//@ test: aaabb
//@ test: abc
//@ test: zzzz
//@ test: a
//@ test: aabbaa
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MAX 12

static int encode(const char *text, char *out)
{
    int n = 0, i = 0;
    while (text[i] != '\0') {
        int run = 1;
        while (text[i + run] == text[i] && run < 9)
            run++;
        if (n + 2 >= MAX)
            break;
        out[n++] = text[i];
        out[n++] = (char)('0' + run);
        i += run;
    }
    out[n] = '\0';
    return n;
}

static int decoded_length(const char *code)
{
    int i, sum = 0;
    for (i = 0; code[i] != '\0'; i += 2) {
        assert(code[i + 1] >= '1' && code[i + 1] <= '9');
        sum += code[i + 1] - '0';
    }
    return sum;
}

int main(int argc, char **argv)
{
    char out[MAX];
    int n;
    if (argc < 2)
        return 1;
    n = encode(argv[1], out);
    printf("%s %d %d\n", out, n, decoded_length(out));
    return 0;
}

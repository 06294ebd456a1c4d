//@ test: abc ac
//@ test: xyz abc
//@ test: hello yellow
//@ test: a a
//@ test: abab baba
#include <stdio.h>
#include <string.h>

#define MOST 6

static int best[MOST + 1][MOST + 1];

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int common(const char *a, const char *b)
{
    int n = strlen(a), m = strlen(b);
    int i, j;
    if (n > MOST || m > MOST)
        return -1;
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++)
            if (a[i - 1] == b[j - 1])
                best[i][j] = best[i - 1][j - 1] + 1;
            else
                best[i][j] = larger(best[i - 1][j], best[i][j - 1]);
    return best[n][m];
}

static void show(const char *a, const char *b, int n)
{
    char text[MOST + 1];
    int i = strlen(a), j = strlen(b);
    text[n] = '\0';
    while (n > 0) {
        if (best[i - 1][j] == best[i][j])
            i--;
        else if (best[i][j - 1] == best[i][j])
            j--;
        else {
            text[--n] = a[i - 1];
            i--;
            j--;
        }
    }
    printf("%s\n", text);
}

int main(int argc, char **argv)
{
    int n;
    if (argc < 3)
        return 1;
    n = common(argv[1], argv[2]);
    if (n < 0) {
        printf("too long\n");
        return 1;
    }
    show(argv[1], argv[2], n);
    return 0;
}

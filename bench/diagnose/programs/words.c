//@ test< one two three\n
//@ test< alpha\n
//@ test< a b c d e f\n
//@ test< hello world\n
//@ test< x y\n
#include <stdio.h>
#include <string.h>

#define MAX_WORDS 4
#define LENGTH 12

static char words[MAX_WORDS][LENGTH];

static int split(const char *line)
{
    int n = 0, at = 0;
    while (*line != '\0' && *line != '\n' && n < LENGTH) { //@ right:     while (*line != '\0' && *line != '\n' && n < MAX_WORDS) {
        if (*line == ' ') {
            words[n][at] = '\0';
            n++;
            at = 0;
        } else if (at < LENGTH - 1) {
            words[n][at++] = *line;
        }
        line++;
    }
    return n;
}

int main(void)
{
    char line[64];
    int i, n;
    if (fgets(line, sizeof line, stdin) == NULL)
        return 1;
    n = split(line);
    for (i = 0; i < n; i++)
        printf("[%s]", words[i]);
    printf(" %d\n", n);
    return 0;
}

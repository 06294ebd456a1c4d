//@ test< a,b,c\n
//@ test< one,,three\n
//@ test< \n
//@ test< x\n
//@ test< ab,cdefghij\n
#include <stdio.h>
#include <string.h>

#define FIELDS 4
#define WIDTH 6

static char fields[FIELDS][WIDTH];

static int split(const char *line)
{
    int n = 0, at = 0;
    while (*line != '\0' && *line != '\n') {
        if (*line == ',') {
            fields[n][at] = '\0';
            n++;
            at = 0;
            if (n == FIELDS)
                return n;
        } else if (at < WIDTH - 1) {
            fields[n][at++] = *line;
        }
        line++;
    }
    fields[n][at] = '\0';
    return n + 1;
}

static int longest(int n)
{
    int i, best = 0;
    for (i = 1; i < n; i++)
        if (strlen(fields[i]) > strlen(fields[best]))
            best = i;
    return best;
}

int main(void)
{
    char line[24];
    int i, n;
    if (fgets(line, sizeof(line), stdin) == NULL)
        return 1;
    n = split(line);
    for (i = 0; i < n; i++)
        printf("[%s]", fields[i]);
    printf(" longest %s\n", fields[longest(n)]);
    return 0;
}

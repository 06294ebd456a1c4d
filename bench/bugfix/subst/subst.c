/* Replaces a pattern in each line: subst PATTERN TEXT; ? is any character, [abc] one of some */
#include <stdio.h>
#include <string.h>

#define MAXLINE 200
#define ANY '?'
#define CLASS '['

static int in_class(const char *pattern, int start, char c)
{
    int i = start + 1;
    while (pattern[i] != ']' && pattern[i] != '\0') {
        if (pattern[i] == c)
            return 1;
        i++;
    }
    return 0;
}

static int element_length(const char *pattern, int at)
{
    int length = 1;
    if (pattern[at] == CLASS) {
        while (pattern[at + length] != ']' && pattern[at + length] != '\0')
            length++;
        length = length + 1;
    }
    return length;
}

static int match_at(const char *line, int at, const char *pattern)
{
    int p = 0;
    int i = at;
    while (pattern[p] != '\0') {
        if (line[i] == '\0')
            return -1;
        if (pattern[p] == CLASS) {
            if (!in_class(pattern, p, line[i]))
                return -1;
        } else if (pattern[p] != ANY && pattern[p] != line[i])
            return -1;
        p += element_length(pattern, p);
        i++;
    }
    return i - at;
}

static int change(const char *line, const char *pattern, const char *text, char *out)
{
    int n_changes = 0;
    int o = 0;
    int i = 0;
    while (line[i] != '\0') {
        int matched = match_at(line, i, pattern);
        if (matched > 0) {
            int k;
            for (k = 0; text[k] != '\0' && o < MAXLINE - 1; k++)
                out[o++] = text[k];
            i += matched;
            n_changes++;
        } else {
            out[o++] = line[i];
            i++;
        }
    }
    out[o] = '\0';
    return n_changes;
}

int main(int argc, char **argv)
{
    char line[MAXLINE], out[3 * MAXLINE];
    int total = 0;
    if (argc < 3) {
        printf("usage\n");
        return 2;
    }
    while (fgets(line, 60, stdin) != NULL) {
        int n = strlen(line);
        if (n > 0 && line[n - 1] == '\n')
            line[n - 1] = '\0';
        total += change(line, argv[1], argv[2], out);
        printf("%s\n", out);
    }
    printf("%d\n", total);
    return 0;
}

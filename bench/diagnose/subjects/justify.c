//@ test: 12 the quick brown fox jumps
//@ test: 5 a bc d ef
//@ test: 8 extraordinary day
//@ test: 16 to be or not to be that is it
//@ test: 3 x
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST 16
#define WORDS 5

struct line {
    const char *words[WORDS];
    int lengths[WORDS];
    int n;
    int letters;
};

static void spread(const struct line *line, int width, char *text)
{
    int gaps = line->n - 1;
    int spaces = width - line->letters;
    int i, at = 0;
    assert(gaps >= 0 && spaces >= gaps);
    for (i = 0; i < line->n; i++) {
        int pad;
        memcpy(text + at, line->words[i], line->lengths[i]);
        at += line->lengths[i];
        if (i == gaps)
            pad = width - at;
        else
            pad = spaces / gaps + (i < spaces % gaps ? 1 : 0);
        memset(text + at, ' ', pad);
        at += pad;
    }
    assert(at == width);
    text[at] = '\0';
}

static void flush(struct line *line, int width)
{
    char text[WIDEST + 1];
    if (line->n == 0)
        return;
    spread(line, width, text);
    printf("|%s|\n", text);
    line->n = 0;
    line->letters = 0;
}

static void append(struct line *line, int width, const char *word)
{
    int length = strlen(word) > (size_t)width ? width : (int)strlen(word);
    if (line->n == WORDS || line->letters + line->n + length > width)
        flush(line, width);
    line->words[line->n] = word;
    line->lengths[line->n] = length;
    line->n++;
    line->letters += length;
}

int main(int argc, char **argv)
{
    struct line line;
    int i, width = 0;
    line.n = 0;
    line.letters = 0;
    if (argc > 1)
        width = atoi(argv[1]);
    if (width < 1 || width > WIDEST) {
        printf("width 1 to %d\n", WIDEST);
        return 1;
    }
    for (i = 2; i < argc; i++)
        append(&line, width, argv[i]);
    flush(&line, width);
    return 0;
}

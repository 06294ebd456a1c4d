//@ test: aa bb cc
//@ test: word
//@ test: long words here
//@ test: a b c d e f
//@ test: abcdef gh
#include <stdio.h>
#include <string.h>

#define WIDTH 8
#define LINES 3

struct page {
    char lines[LINES][WIDTH + 1];
    int n_lines;
    int column;
};

static int new_line(struct page *p)
{
    if (p->n_lines == LINES)
        return 0;
    p->lines[p->n_lines][0] = '\0';
    p->n_lines++;
    p->column = 0;
    return 1;
}

static int add(struct page *p, const char *word)
{
    int length = strlen(word);
    int gap = p->column > 0 ? 1 : 0;
    char *line;
    if (length > WIDTH)
        return 0;
    if (p->column + gap + length > WIDTH) {
        if (!new_line(p))
            return 0;
        gap = 0;
    }
    line = p->lines[p->n_lines - 1];
    if (gap)
        line[p->column++] = ' ';
    strcpy(line + p->column, word);
    p->column += length;
    return 1;
}

int main(int argc, char **argv)
{
    struct page p;
    int i;
    p.n_lines = 0;
    new_line(&p);
    for (i = 1; i < argc; i++)
        if (!add(&p, argv[i]))
            break;
    for (i = 0; i < p.n_lines; i++)
        printf("%s|\n", p.lines[i]);
    return 0;
}

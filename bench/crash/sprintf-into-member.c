//@ args: 1234567
#include <stdio.h>
#include <stdlib.h>

struct line {
    char label[8];
    void (*print)(const struct line *);
};

static void print_label(const struct line *line)
{
    puts(line->label);
}

int main(int argc, char **argv)
{
    struct line *line = malloc(sizeof *line);
    line->print = print_label;
    sprintf(line->label, "no. %d", argc > 1 ? atoi(argv[1]) : 0); //~ first
    line->print(line);
    free(line);
    return 0;
}

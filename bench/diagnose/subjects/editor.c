//@ test: abc
//@ test: ab<c
//@ test: <<x
//@ test: hello<<p
//@ test: a<b<c
#include <stdio.h>
#include <string.h>

#define LINE 10

struct line {
    char text[LINE];
    int length;
    int cursor;
};

static int insert(struct line *l, char c)
{
    int i;
    if (l->length >= LINE - 1)
        return 0;
    for (i = l->length; i > l->cursor; i--)
        l->text[i] = l->text[i - 1];
    l->text[l->cursor] = c;
    l->cursor++;
    l->length++;
    l->text[l->length] = '\0';
    return 1;
}

static void erase(struct line *l)
{
    int i;
    if (l->cursor == 0)
        return;
    for (i = l->cursor; i < l->length; i++)
        l->text[i - 1] = l->text[i];
    l->cursor--;
    l->length--;
    l->text[l->length] = '\0';
}

int main(int argc, char **argv)
{
    struct line l;
    const char *p;
    l.text[0] = '\0';
    l.length = 0;
    l.cursor = 0;
    if (argc < 2)
        return 1;
    for (p = argv[1]; *p; p++) {
        if (*p == '<')
            erase(&l);
        else
            insert(&l, *p);
    }
    printf("%s %d\n", l.text, (int)strlen(l.text));
    return 0;
}

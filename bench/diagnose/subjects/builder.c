//@ test: ab cd
//@ test: hello world again
//@ test: x
//@ test: a b c d
//@ test: abcdefgh
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    char *text;
    int length;
    int room;
};

static void grow(struct builder *b, int needed)
{
    char *larger;
    if (needed <= b->room)
        return;
    while (b->room < needed)
        b->room *= 2;
    larger = malloc(b->room);
    memcpy(larger, b->text, b->length + 1);
    free(b->text);
    b->text = larger;
}

static void append(struct builder *b, const char *word)
{
    int length = strlen(word);
    grow(b, b->length + length + 2);
    if (b->length > 0)
        b->text[b->length++] = '-';
    strcpy(b->text + b->length, word);
    b->length += length;
}

static void upper_first(struct builder *b)
{
    if (b->length > 0 && b->text[0] >= 'a' && b->text[0] <= 'z')
        b->text[0] -= 'a' - 'A';
}

int main(int argc, char **argv)
{
    struct builder b;
    int i;
    b.room = 4;
    b.text = malloc(b.room);
    b.text[0] = '\0';
    b.length = 0;
    for (i = 1; i < argc; i++)
        append(&b, argv[i]);
    upper_first(&b);
    printf("%s (%d of %d)\n", b.text, b.length, b.room);
    free(b.text);
    return 0;
}

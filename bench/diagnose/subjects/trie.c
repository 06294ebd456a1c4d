//@ test: ab abc b
//@ test: a
//@ test: cab cab
//@ test: x
//@ test: aa ab ac
#include <stdio.h>
#include <stdlib.h>

#define LETTERS 3

struct trie {
    struct trie *children[LETTERS];
    int count;
};

static struct trie *make(void)
{
    struct trie *t = malloc(sizeof(struct trie));
    int i;
    t->count = 0;
    for (i = 0; i < LETTERS; i++)
        t->children[i] = NULL;
    return t;
}

static int add(struct trie *t, const char *word)
{
    while (*word != '\0') {
        int letter = *word - 'a';
        if (letter < 0 || letter >= LETTERS)
            return 0;
        if (t->children[letter] == NULL)
            t->children[letter] = make();
        t = t->children[letter];
        word++;
    }
    t->count++;
    return 1;
}

static int find(const struct trie *t, const char *word)
{
    for (; *word != '\0' && t != NULL; word++) {
        if (*word < 'a' || *word >= 'a' + LETTERS)
            return 0;
        t = t->children[*word - 'a'];
    }
    return t == NULL ? 0 : t->count;
}

static int nodes(const struct trie *t)
{
    int i, n = 1;
    for (i = 0; i < LETTERS; i++)
        if (t->children[i] != NULL)
            n += nodes(t->children[i]);
    return n;
}

int main(int argc, char **argv)
{
    struct trie *root = make();
    int i;
    for (i = 1; i < argc; i++)
        if (!add(root, argv[i]))
            printf("%s?\n", argv[i]);
    if (argc > 1)
        printf("%s %d\n", argv[1], find(root, argv[1]));
    printf("%d nodes\n", nodes(root));
    return 0;
}

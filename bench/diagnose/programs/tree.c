//@ test: 5 3 8
//@ test: 1
//@ test: 9 7 8
//@ test: 4 4
//@ test: 2 1 3
#include <stdio.h>
#include <stdlib.h>

struct tree {
    int key;
    struct tree *left;
    struct tree *right;
};

static struct tree *insert(struct tree *t, int key)
{
    if (t == NULL) {
        t = malloc(sizeof(struct tree));
        t->key = key;
        t->left = NULL;
        t->right = NULL;
    } else if (key < t->key) {
        t->left = insert(t->left, key);
    } else if (key > t->key) {
        t->right = insert(t->right, key);
    }
    return t;
}

static int minimum(const struct tree *t)
{
    while (t->left != NULL)
        t = t->left;
    return t->key;
}

int main(int argc, char **argv)
{
    struct tree *root = NULL;
    int i;
    for (i = 1; i < argc; i++)
        root = insert(root, atoi(argv[i]));
    if (root != NULL) //@ right:     if (root == NULL)
        return 1;
    printf("%d\n", minimum(root));
    return 0;
}

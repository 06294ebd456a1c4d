//@ test: 5 3 8 -5
//@ test: 1 2 3 4 -2
//@ test: 50 20 70 60 80 10 -50 -20
//@ test: -7 7 7
//@ test: 40 10 30 20 -40 -10 5
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define BIGGEST 999

struct node {
    int key;
    struct node *left, *right;
};

static struct node **seat(struct node **link, int key)
{
    while (*link != NULL && (*link)->key != key) {
        if (key < (*link)->key)
            link = &(*link)->left;
        else
            link = &(*link)->right;
    }
    return link;
}

static int insert(struct node **root, int key)
{
    struct node **link = seat(root, key);
    if (*link != NULL)
        return 0;
    *link = malloc(sizeof **link);
    (*link)->key = key;
    (*link)->left = NULL;
    (*link)->right = NULL;
    return 1;
}

static int erase(struct node **root, int key)
{
    struct node **link = seat(root, key);
    struct node *old = *link;
    if (old == NULL)
        return 0;
    if (old->left != NULL && old->right != NULL) {
        link = &old->right;
        while ((*link)->left != NULL)
            link = &(*link)->left;
        old->key = (*link)->key;
        old = *link;
    }
    *link = old->left != NULL ? old->left : old->right;
    free(old);
    return 1;
}

static int finish(struct node *node, int low, int high)
{
    int left, right;
    if (node == NULL)
        return 0;
    assert(node->key > low && node->key < high);
    left = finish(node->left, low, node->key);
    printf("%d ", node->key);
    right = finish(node->right, node->key, high);
    free(node);
    return left + right + 1;
}

int main(int argc, char **argv)
{
    struct node *root = NULL;
    int i, nodes = 0, freed;
    for (i = 1; i < argc; i++) {
        int key = atoi(argv[i]);
        if (key < -BIGGEST || key > BIGGEST || key == 0)
            continue;
        if (key > 0)
            nodes += insert(&root, key);
        else
            nodes -= erase(&root, -key);
    }
    freed = finish(root, 0, BIGGEST + 1);
    assert(freed == nodes);
    printf("(%d)\n", freed);
    return 0;
}

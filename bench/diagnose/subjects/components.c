//@ test: ab cd bc
//@ test: ah gb hb
//@ test: ab bc cd de ef fg gh
//@ test: aa az b cdx
//@ test: ac ce bd df gh
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NODES 8

static int parent[NODES];
static int size[NODES];

static int root(int node)
{
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

static int join(int one, int other)
{
    one = root(one);
    other = root(other);
    if (one == other)
        return 0;
    if (size[one] < size[other]) {
        int kept = one;
        one = other;
        other = kept;
    }
    parent[other] = one;
    size[one] += size[other];
    assert(size[one] <= NODES);
    return 1;
}

static int group(char groups[NODES][NODES + 1])
{
    int labels[NODES];
    int filled[NODES] = {0};
    int node, n = 0;
    for (node = 0; node < NODES; node++)
        labels[node] = -1;
    for (node = 0; node < NODES; node++) {
        int top = root(node);
        if (labels[top] < 0)
            labels[top] = n++;
        groups[labels[top]][filled[labels[top]]++] = 'a' + node;
    }
    for (node = 0; node < n; node++)
        groups[node][filled[node]] = '\0';
    return n;
}

int main(int argc, char **argv)
{
    char groups[NODES][NODES + 1];
    int i, n, expected = NODES;
    for (i = 0; i < NODES; i++) {
        parent[i] = i;
        size[i] = 1;
    }
    for (i = 1; i < argc; i++) {
        int one, other;
        if (strlen(argv[i]) != 2)
            continue;
        one = argv[i][0] - 'a';
        other = argv[i][1] - 'a';
        if (one < 0 || one >= NODES || other < 0 || other >= NODES)
            continue;
        expected -= join(one, other);
    }
    n = group(groups);
    assert(n == expected);
    for (i = 0; i < n; i++)
        printf("%s ", groups[i]);
    printf("(%d)\n", n);
    return 0;
}

//@ test: 01 12 23
//@ test: 02
//@ test: 01 14 43
//@ test: 12 23
//@ test: 04 03 31
#include <assert.h>
#include <stdio.h>

#define NODES 5

static int edges[NODES][NODES];
static int distance[NODES];

static void connect(int a, int b)
{
    edges[a][b] = 1;
    edges[b][a] = 1;
}

static int visit(int start)
{
    int queue[NODES];
    int head = 0, tail = 0, i;
    for (i = 0; i < NODES; i++)
        distance[i] = -1;
    distance[start] = 0;
    queue[tail++] = start;
    while (head < tail) {
        int at = queue[head++];
        for (i = 0; i < NODES; i++)
            if (edges[at][i] && distance[i] < 0) {
                distance[i] = distance[at] + 1;
                queue[tail++] = i;
            }
    }
    assert(tail <= NODES);
    return tail;
}

static int number(char c)
{
    if (c < '0' || c >= '0' + NODES)
        return 0;
    return c - '0';
}

int main(int argc, char **argv)
{
    int i, n;
    for (i = 1; i < argc; i++)
        if (argv[i][0] != '\0')
            connect(number(argv[i][0]), number(argv[i][1]));
    n = visit(0);
    printf("%d reached:", n);
    for (i = 0; i < NODES; i++)
        printf(" %d", distance[i]);
    printf("\n");
    return 0;
}

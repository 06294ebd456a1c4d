#include <stdio.h>
#include <string.h>

struct node {
    struct node *next;
    long value;
};
static struct node pool[8];
static struct node *unused;

static struct node *take(void)
{
    struct node *node = unused;
    unused = node->next;
    return node;
}

static void give(struct node *node)
{
    node->next = unused;
    unused = node;
}

int main(void)
{
    for (int i = 0; i < 8; i++)
        give(&pool[i]);
    struct node *kept = take();
    give(kept);
    memset(kept, 0x41, sizeof *kept); //~ first
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += take()->value;
    printf("%ld\n", sum);
    return 0;
}

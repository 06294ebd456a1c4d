/* Two sorted lists, a and b, of numbers with how often each is in them.
   a+N, a-N add and remove; u, i, m print union, intersection, a minus b; p prints both,
   k N the N-th of a. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    int times;
    struct node *next;
};

static struct node *lists[2];

static struct node *make(int value, struct node *next)
{
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        exit(3);
    node->value = value;
    node->times = 1;
    node->next = next;
    return node;
}

static void insert(struct node **list, int value)
{
    while (*list != NULL && (*list)->value < value)
        list = &(*list)->next;
    if (*list != NULL && (*list)->value == value)
        (*list)->times++;
    else
        *list = make(value, *list);
}

static int take_out(struct node **list, int value)
{
    struct node *gone;
    while (*list != NULL && (*list)->value < value)
        list = &(*list)->next;
    gone = *list;
    if (gone == NULL || gone->value != value)
        return 0;
    gone->times--;
    if (gone->times == 0) {
        *list = gone->next;
        free(gone);
    }
    return 1;
}

static void show(int value, int times)
{
    if (times == 1)
        printf(" %d", value);
    else if (times > 1)
        printf(" %dx%d", times, value);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void both(char what)
{
    const struct node *a = lists[0], *b = lists[1];
    while (a != NULL || b != NULL) {
        int value, in_a = 0, in_b = 0;
        if (b == NULL || (a != NULL && a->value <= b->value))
            value = a->value;
        else
            value = b->value;
        if (a != NULL && a->value == value) {
            in_a = a->times;
            a = a->next;
        }
        if (b != NULL && b->value == value) {
            in_b = b->times;
            b = b->next;
        }
        if (what == 'u')
            show(value, larger(in_a, in_b));
        else if (what == 'i')
            show(value, smaller(in_a, in_b));
        else
            show(value, in_a - in_b);
    }
    printf("\n");
}

static const struct node *nth(const struct node *list, int n)
{
    while (list != NULL && n > list->times) {
        n -= list->times;
        list = list->next;
    }
    return list;
}

static void print(const struct node *list)
{
    int total = 0;
    for (; list != NULL; list = list->next) {
        show(list->value, list->times);
        total += list->times;
    }
    printf(" (%d)\n", total);
}

int main(void)
{
    char command;
    int number;
    while (scanf(" %c", &command) == 1) {
        if (command == 'a' || command == 'b') {
            struct node **list = &lists[command - 'a'];
            char sign;
            if (scanf("%c%d", &sign, &number) != 2)
                break;
            if (sign == '+')
                insert(list, number);
            else if (!take_out(list, number))
                printf("no %d\n", number);
        } else if (command == 'p') {
            print(lists[0]);
            print(lists[1]);
        } else if (command == 'k' && scanf("%d", &number) == 1) {
            const struct node *found = number > 0 ? nth(lists[0], number) : NULL;
            if (found == NULL)
                printf("none\n");
            else
                printf("%d\n", found->value);
        } else {
            both(command);
        }
    }
    return 0;
}

//@ test: 3 1 2
//@ test: 5 5
//@ test: 9 8 7
//@ test: 1
//@ test: 2 4 3
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *insert(struct node *head, int value)
{
    struct node *made = malloc(sizeof(struct node));
    struct node *before = NULL, *after = head;
    made->value = value;
    while (after != NULL && after->value < value) {
        before = after;
        after = after->next;
    }
    made->next = after;
    if (before == NULL)
        return made;
    before->next = made;
    return head;
}

static int is_sorted(const struct node *head)
{
    while (head != NULL && head->next != NULL) {
        if (head->value > head->next->value)
            return 0;
        head = head->next;
    }
    return 1;
}

static int remove_first(struct node **head)
{
    struct node *first = *head;
    int value = first->value;
    *head = first->next;
    free(first);
    return value;
}

int main(int argc, char **argv)
{
    struct node *head = NULL;
    int i;
    for (i = 1; i < argc; i++)
        head = insert(head, atoi(argv[i]));
    assert(is_sorted(head));
    while (head != NULL)
        printf("%d ", remove_first(&head));
    printf("\n");
    return 0;
}

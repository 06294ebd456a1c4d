//@ test: ann bob
//@ test: zed ann cy
//@ test: bob bob
//@ test: a
//@ test: dora eve flo
#include <stdio.h>
#include <string.h>

#define PEOPLE 4
#define NAME 5

struct person {
    char name[NAME];
    int shifts;
};

static struct person people[PEOPLE];
static int n_people;

static int find(const char *name)
{
    int low = 0, high = n_people;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = strcmp(people[middle].name, name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1 - low;
}

static int add(const char *name)
{
    int i, at = find(name);
    if (at >= 0) {
        people[at].shifts++;
        return 1;
    }
    if (n_people == PEOPLE || strlen(name) >= NAME)
        return 0;
    at = -1 - at;
    for (i = n_people; i > at; i--)
        people[i] = people[i - 1];
    strcpy(people[at].name, name);
    people[at].shifts = 1;
    n_people++;
    return 1;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++)
        if (!add(argv[i]))
            printf("no room for %s\n", argv[i]);
    for (i = 0; i < n_people; i++)
        printf("%s:%d ", people[i].name, people[i].shifts);
    printf("\n");
    return 0;
}

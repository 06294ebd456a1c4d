//@ test: 7 3
//@ test: 1 5
//@ test: 10 1
//@ test: 6 20
//@ test: 4 2 back
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define PEOPLE 10
#define PACE 20

struct seat {
    int number;
    struct seat *next, *previous;
};

static struct seat *sit(struct seat *circle, int number)
{
    struct seat *seat = malloc(sizeof *seat);
    seat->number = number;
    if (circle == NULL) {
        seat->next = seat;
        seat->previous = seat;
        return seat;
    }
    seat->next = circle;
    seat->previous = circle->previous;
    circle->previous->next = seat;
    circle->previous = seat;
    return circle;
}

static struct seat *leave(struct seat *seat, int back, int *number)
{
    struct seat *after = back ? seat->previous : seat->next;
    *number = seat->number;
    if (after == seat)
        after = NULL;
    seat->next->previous = seat->previous;
    seat->previous->next = seat->next;
    free(seat);
    return after;
}

static int play(struct seat *circle, int pace, int back, int *order)
{
    int n = 0;
    while (circle != NULL) {
        int i;
        for (i = 1; i < pace; i++)
            circle = back ? circle->previous : circle->next;
        circle = leave(circle, back, &order[n]);
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    struct seat *circle = NULL;
    int order[PEOPLE];
    int met[PEOPLE + 1] = {0};
    int i, people, pace, n;
    if (argc < 3)
        return 1;
    people = atoi(argv[1]);
    pace = atoi(argv[2]);
    if (people < 1 || people > PEOPLE || pace < 1 || pace > PACE) {
        printf("at most %d people, pace %d\n", PEOPLE, PACE);
        return 1;
    }
    for (i = 1; i <= people; i++)
        circle = sit(circle, i);
    n = play(circle, pace, argc > 3, order);
    assert(n == people);
    for (i = 0; i < n; i++) {
        assert(!met[order[i]]);
        met[order[i]] = 1;
        printf("%d ", order[i]);
    }
    printf("survivor %d\n", order[n - 1]);
    return 0;
}

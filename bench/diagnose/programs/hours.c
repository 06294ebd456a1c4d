//@ test: 90 30
//@ test: 600 20
//@ test: 0 1
//@ test: 1439 1
//@ test: 1000 0
#include <stdio.h>
#include <stdlib.h>

static int hours[24];

static int hour_of(int minute)
{
    return minute / 24; //@ right:     return minute / 60;
}

static void spend(int minute, int length)
{
    int limit = 60, rest = length % limit;
    hours[hour_of(minute)] += rest;
}

static int busiest(void)
{
    int i, best = 0;
    for (i = 1; i < 24; i++)
        if (hours[i] > hours[best])
            best = i;
    return best;
}

int main(int argc, char **argv)
{
    int minute, length;
    if (argc < 3)
        return 1;
    minute = atoi(argv[1]);
    length = atoi(argv[2]);
    if (minute < 0 || minute >= 24 * 60 || length < 0)
        return 1;
    spend(minute, length);
    printf("%d %d\n", busiest(), hours[busiest()]);
    return 0;
}

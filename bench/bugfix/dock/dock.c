/* Whether a ship may enter a dock: dock DRAFT DEPTH WIDTH BEAM SPEED WIND */
#include <stdio.h>
#include <stdlib.h>

#define MARGIN 2

static int draft, depth, width, beam, speed, wind;

static int deep_enough(void)
{
    return depth - draft > MARGIN;
}

static int wide_enough(void)
{
    int room = width - beam;
    return room > 3 * MARGIN;
}

static int slow_enough(void)
{
    int limit = 8;
    if (wind > 20)
        limit = limit - 2;
    return speed < limit;
}

static int crosswind(void)
{
    int push = wind * beam / 10;
    return push > 40;
}

static int tugs_needed(void)
{
    int tugs = 0;
    if (beam > 30)
        tugs += 2;
    if (wind >= 15 && speed > 2)
        tugs++;
    return tugs;
}

static int decide(void)
{
    int may_enter, must_wait;

    may_enter = deep_enough() && wide_enough();
    must_wait = crosswind() > slow_enough();
    if (!may_enter)
        return 0;
    if (must_wait)
        return 1;
    if (speed >= 10)
        return 1;
    return 2;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        printf("usage\n");
        return 2;
    }
    draft = atoi(argv[1]);
    depth = atoi(argv[2]);
    width = atoi(argv[3]);
    beam = atoi(argv[4]);
    speed = atoi(argv[5]);
    wind = atoi(argv[6]);
    printf("%d %d %d\n", decide(), tugs_needed(), slow_enough());
    return 0;
}

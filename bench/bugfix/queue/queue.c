/* A scheduler with three priorities: reads commands
   n PRIO (new), b (block), u INDEX (unblock), f (finish), p INDEX (promote) */
#include <stdio.h>

#define LEVELS 3
#define ROOM 16

struct queue {
    int items[ROOM];
    int count;
};

static struct queue ready[LEVELS];
static struct queue blocked;
static int level_of[100];
static int next_id = 1;

static int put(struct queue *q, int id)
{
    if (q->count >= ROOM)
        return 0;
    q->items[q->count] = id;
    q->count++;
    return 1;
}

static int take(struct queue *q, int index)
{
    int id, i;
    if (index < 0 || index >= q->count)
        return 0;
    id = q->items[index];
    for (i = index; i < q->count - 1; i++)
        q->items[i] = q->items[i + 1];
    q->count--;
    return id;
}

static int current(void)
{
    int level;
    for (level = LEVELS - 1; level >= 0; level--)
        if (ready[level].count > 0)
            return level;
    return -1;
}

static int new_job(int prio)
{
    if (prio < 0 || prio >= LEVELS)
        return 0;
    level_of[next_id] = prio;
    put(&ready[prio], next_id);
    return next_id++;
}

static int block(void)
{
    int level = current();
    int id;
    if (level < 0)
        return 0;
    id = take(&ready[level], 0);
    put(&blocked, id);
    return id;
}

static int unblock(int index)
{
    int id = take(&blocked, index);
    if (id > 0)
        put(&ready[level_of[id]], id);
    return id;
}

static int finish(void)
{
    int level = current();
    if (level < 0)
        return 0;
    return take(&ready[level], 0);
}

static int promote(int index)
{
    int id = take(&ready[0], index);
    if (id == 0)
        return 0;
    level_of[id] = level_of[id] + 1;
    put(&ready[1], id);
    return id;
}

int main(void)
{
    char command;
    int number, waiting;
    while (scanf(" %c", &command) == 1) {
        int result = 0;
        if (command == 'n' && scanf("%d", &number) == 1)
            result = new_job(number);
        else if (command == 'b')
            result = block();
        else if (command == 'u' && scanf("%d", &number) == 1)
            result = unblock(number);
        else if (command == 'f')
            result = finish();
        else if (command == 'p' && scanf("%d", &number) == 1)
            result = promote(number);
        waiting = ready[0].count + ready[1].count + ready[2].count;
        printf("%c %d %d %d\n", command, result, waiting, blocked.count);
    }
    return 0;
}

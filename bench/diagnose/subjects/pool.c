//@ test: a a f0 a
//@ test: a f0 f0
//@ test: f1
//@ test: a a a a a
//@ test: a a f1 f0 a
#include <assert.h>
#include <stdio.h>

#define SLOTS 4
#define NONE (-1)

static int next_free[SLOTS];
static int is_used[SLOTS];
static int first_free;

static void prepare(void)
{
    int i;
    for (i = 0; i < SLOTS; i++) {
        next_free[i] = i + 1;
        is_used[i] = 0;
    }
    next_free[SLOTS - 1] = NONE;
    first_free = 0;
}

static int take(void)
{
    int slot = first_free;
    if (slot == NONE)
        return NONE;
    assert(!is_used[slot]);
    first_free = next_free[slot];
    is_used[slot] = 1;
    return slot;
}

static int give_back(int slot)
{
    if (slot < 0 || slot >= SLOTS)
        return 0;
    if (!is_used[slot])
        return 0;
    is_used[slot] = 0;
    next_free[slot] = first_free;
    first_free = slot;
    return 1;
}

int main(int argc, char **argv)
{
    int i;
    prepare();
    for (i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] == 'a')
            printf("take %d\n", take());
        else if (word[0] == 'f')
            printf("free %d\n", give_back(word[1] - '0'));
    }
    return 0;
}

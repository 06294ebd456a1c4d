//@ test: qq1
//@ test: dddqq3n2r
//@ test: nnn1q1
//@ test: qqq2qqq2qqq2
//@ test: 1rqo9qs1oq1s1
#include <assert.h>
#include <stdio.h>

#define SLOTS 3
#define COINS 3
#define FULL 200

enum state { IDLE, PAID, OPEN };

struct machine {
    enum state state;
    int credit;
    int earned;
    int stock[SLOTS];
    int tubes[COINS];
};

static const int coins[COINS] = {25, 10, 5};
static const int prices[SLOTS] = {25, 60, 45};

static void pay(struct machine *machine, int kind)
{
    if (machine->credit + coins[kind] > FULL)
        return;
    machine->credit += coins[kind];
    machine->tubes[kind]++;
    machine->state = PAID;
}

static void choose(struct machine *machine, int slot)
{
    if (slot < 0 || slot >= SLOTS)
        return;
    if (machine->stock[slot] == 0 || machine->credit < prices[slot])
        return;
    machine->stock[slot]--;
    machine->credit -= prices[slot];
    machine->earned += prices[slot];
    printf("sold %d\n", slot + 1);
    if (machine->credit == 0)
        machine->state = IDLE;
}

static void refund(struct machine *machine)
{
    int kind;
    for (kind = 0; kind < COINS; kind++) {
        int n = machine->credit / coins[kind];
        if (n > machine->tubes[kind])
            n = machine->tubes[kind];
        machine->tubes[kind] -= n;
        machine->credit -= n * coins[kind];
        if (n > 0)
            printf("back %d of %d\n", n, coins[kind]);
    }
    assert(machine->credit >= 0);
    machine->earned += machine->credit;
    machine->credit = 0;
    machine->state = IDLE;
}

static void step(struct machine *machine, char key)
{
    int kind = key == 'q' ? 0 : key == 'd' ? 1 : key == 'n' ? 2 : -1;
    switch (machine->state) {
    case OPEN:
        if (key == 's')
            machine->state = IDLE;
        break;
    case PAID:
        if (key == 'r')
            refund(machine);
        else if (key >= '1' && key <= '9')
            choose(machine, key - '1');
        else if (kind >= 0)
            pay(machine, kind);
        break;
    case IDLE:
        assert(machine->credit == 0);
        if (key == 'o')
            machine->state = OPEN;
        else if (kind >= 0)
            pay(machine, kind);
        break;
    }
}

int main(int argc, char **argv)
{
    struct machine machine = {IDLE, 0, 0, {2, 2, 2}, {0, 0, 0}};
    int i, cash = 0;
    if (argc < 2)
        return 1;
    for (i = 0; i < 40 && argv[1][i] != '\0'; i++)
        step(&machine, argv[1][i]);
    for (i = 0; i < COINS; i++)
        cash += machine.tubes[i] * coins[i];
    assert(cash == machine.earned + machine.credit);
    printf("earned %d credit %d\n", machine.earned, machine.credit);
    return 0;
}

//@ test: d050 w020 t015
//@ test: w010
//@ test: d199 t290
//@ test: x
//@ test: d105 d205 t105
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define ACCOUNTS 3
#define HISTORY 4

struct account {
    int balance;
    int history[HISTORY];
    int n_history;
};

static struct account accounts[ACCOUNTS];
static int total;

static void record(struct account *a, int amount)
{
    a->history[a->n_history % HISTORY] = amount;
    a->n_history++;
    a->balance += amount;
}

static int withdraw(struct account *a, int amount)
{
    if (amount > a->balance)
        return 0;
    record(a, -amount);
    return 1;
}

static struct account *find(char digit)
{
    if (digit < '0' || digit >= '0' + ACCOUNTS)
        return NULL;
    return &accounts[digit - '0'];
}

static int perform(const char *order)
{
    struct account *a = find(order[1]);
    int amount;
    if (a == NULL)
        return 0;
    amount = atoi(order + 2);
    if (amount < 0 || amount > 500)
        return 0;
    if (order[0] == 'd') {
        record(a, amount);
        total += amount;
        return 1;
    }
    if (!withdraw(a, amount))
        return 0;
    if (order[0] == 't')
        record(&accounts[(a - accounts + 1) % ACCOUNTS], amount);
    else
        total -= amount;
    return 1;
}

int main(int argc, char **argv)
{
    int i, sum = 0, n_done = 0;
    for (i = 1; i < argc && i < 4; i++)
        if (argv[i][0] != '\0')
            n_done += perform(argv[i]);
    for (i = 0; i < ACCOUNTS; i++) {
        assert(accounts[i].balance >= 0);
        sum += accounts[i].balance;
    }
    assert(sum == total);
    printf("%d done, %d in all\n", n_done, total);
    return 0;
}

/* Accounts: o NAME LIMIT (open), d NAME N (deposit), w NAME N (withdraw),
   t FROM TO N (transfer, 1 in 100 is kept as a fee), y (a year's interest), l (list) */
#include <stdio.h>
#include <string.h>

#define MAX_ACCOUNTS 8
#define NAME_SIZE 12

struct account {
    char name[NAME_SIZE];
    long balance;
    long limit;
    int n_bookings;
};

static struct account accounts[MAX_ACCOUNTS];
static int n_accounts;
static long fees;

static struct account *find(const char *name)
{
    for (int i = 0; i < n_accounts; i++)
        if (strcmp(accounts[i].name, name) == 0)
            return &accounts[i];
    return NULL;
}

static int open_account(const char *name, long limit)
{
    struct account *a;
    if (n_accounts == MAX_ACCOUNTS || find(name) != NULL || limit < 0)
        return 0;
    a = &accounts[n_accounts++];
    strcpy(a->name, name);
    a->balance = 0;
    a->limit = limit;
    a->n_bookings = 0;
    return 1;
}

static int book(struct account *a, long amount)
{
    if (a == NULL || a->balance + amount < -a->limit)
        return 0;
    a->balance += amount;
    a->n_bookings++;
    return 1;
}

static long fee_of(long amount)
{
    long fee = amount / 100;
    if (fee < 1)
        fee = 1;
    if (fee > 50)
        fee = 50;
    return fee;
}

static int transfer(struct account *from, struct account *to, long amount)
{
    long fee = fee_of(amount);
    if (to == NULL || from == to || amount <= 0)
        return 0;
    if (!book(from, -(amount + fee)))
        return 0;
    fees += fee;
    return book(to, amount);
}

static void year(void)
{
    for (int i = 0; i < n_accounts; i++) {
        struct account *a = &accounts[i];
        long interest;
        if (a->balance > 1000)
            interest = a->balance * 3 / 100;
        else if (a->balance >= 0)
            interest = a->balance / 100;
        else
            interest = a->balance * 12 / 100;
        a->balance += interest;
        a->n_bookings = 0;
    }
}

static void list(void)
{
    long total = 0;
    for (int i = 0; i < n_accounts; i++) {
        printf("%s %ld %d\n", accounts[i].name, accounts[i].balance, accounts[i].n_bookings);
        total += accounts[i].balance;
    }
    printf("= %ld, fees %ld\n", total, fees);
}

int main(void)
{
    char command, name[NAME_SIZE], other[NAME_SIZE];
    long amount;
    while (scanf(" %c", &command) == 1) {
        int ok = 1;
        if (command == 'o' && scanf("%11s %ld", name, &amount) == 2)
            ok = open_account(name, amount);
        else if (command == 'd' && scanf("%11s %ld", name, &amount) == 2)
            ok = amount > 0 && book(find(name), amount);
        else if (command == 'w' && scanf("%11s %ld", name, &amount) == 2)
            ok = amount > 0 && book(find(name), -amount);
        else if (command == 't' && scanf("%11s %11s %ld", name, other, &amount) == 3)
            ok = transfer(find(name), find(other), amount);
        else if (command == 'y')
            year();
        else
            list();
        if (!ok)
            printf("refused %c\n", command);
    }
    return 0;
}

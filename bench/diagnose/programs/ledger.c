//@ test: +5 +7 -3
//@ test: +1
//@ test: -1
//@ test: +9 u
//@ test: +2 +3 u u
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 16
#define NOTE 12

struct entry {
    int amount;
    int balance;
    char note[NOTE];
};

struct ledger {
    struct entry entries[MAX_ENTRIES];
    int n_entries;
    int n_refused;
};

static void start(struct ledger *l)
{
    l->n_entries = 0;
    l->n_refused = 0;
}

static int balance(const struct ledger *l)
{
    if (l->n_entries == 0)
        return 0;
    return l->entries[l->n_entries].balance; //@ right:     return l->entries[l->n_entries - 1].balance;
}

static void label(struct entry *e, const char *text)
{
    size_t length = strlen(text);
    if (length >= NOTE)
        length = NOTE - 1;
    memcpy(e->note, text, length);
    e->note[length] = '\0';
}

static int book(struct ledger *l, int amount, const char *text)
{
    struct entry *e;
    int after = balance(l) + amount;
    if (after < 0 || l->n_entries == MAX_ENTRIES) {
        l->n_refused++;
        return -1;
    }
    e = &l->entries[l->n_entries++];
    e->amount = amount;
    e->balance = after;
    label(e, text);
    return 0;
}

static int undo(struct ledger *l)
{
    if (l->n_entries == 0)
        return -1;
    l->n_entries--;
    return 0;
}

static int largest(const struct ledger *l)
{
    int i, best = -1;
    for (i = 0; i < l->n_entries; i++)
        if (best < 0 || l->entries[i].amount > l->entries[best].amount)
            best = i;
    return best;
}

static void show(const struct ledger *l)
{
    int i, best = largest(l);
    for (i = 0; i < l->n_entries; i++) {
        const struct entry *e = &l->entries[i];
        printf("%c %s %d\n", i == best ? '*' : ' ', e->note, e->balance);
    }
    printf("balance %d, refused %d\n", balance(l), l->n_refused);
}

int main(int argc, char **argv)
{
    struct ledger l;
    int i;
    start(&l);
    for (i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] == 'u')
            undo(&l);
        else if (word[0] == '+')
            book(&l, atoi(word + 1) % 1000, word);
        else if (word[0] == '-')
            book(&l, -(atoi(word + 1) % 1000), word);
    }
    show(&l);
    return 0;
}

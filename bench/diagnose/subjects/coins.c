//@ test: 11
//@ test: 4
//@ test: 0
//@ test: 15
//@ test: 99
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 20
#define KINDS 3
#define MANY 1000

static const int coins[KINDS] = { 1, 5, 8 };
static int fewest[LIMIT + 1];
static int last[LIMIT + 1];

static void fill(int amount)
{
    int sum, k;
    fewest[0] = 0;
    for (sum = 1; sum <= amount; sum++) {
        fewest[sum] = MANY;
        for (k = 0; k < KINDS; k++) {
            int rest = sum - coins[k];
            if (rest >= 0 && fewest[rest] + 1 < fewest[sum]) {
                fewest[sum] = fewest[rest] + 1;
                last[sum] = k;
            }
        }
    }
}

int main(int argc, char **argv)
{
    int counts[KINDS] = { 0, 0, 0 };
    int amount, k;
    if (argc != 2)
        return 1;
    amount = atoi(argv[1]);
    if (amount < 0 || amount > LIMIT) {
        printf("no\n");
        return 1;
    }
    fill(amount);
    while (amount > 0) {
        counts[last[amount]]++;
        amount -= coins[last[amount]];
    }
    for (k = 0; k < KINDS; k++)
        printf("%d x %d\n", counts[k], coins[k]);
    return 0;
}

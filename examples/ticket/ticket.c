/* The price of a train ticket in cents: ticket AGE KILOMETRES */
#include <stdio.h>
#include <stdlib.h>

static int base_price(int kilometres)
{
    int price = 200;
    if (kilometres > 10)
        price += (kilometres - 10) * 15;
    return price;
}

static int discount(int age, int price)
{
    if (age < 6)
        return price;
    if (age <= 16) /* planted fault: children up to 15 pay half */
        return price / 2;
    if (age >= 65)
        return price / 4;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: ticket AGE KILOMETRES\n");
        return 2;
    }
    int age = atoi(argv[1]);
    int price = base_price(atoi(argv[2]));
    price -= discount(age, price);
    printf("%d.%02d\n", price / 100, price % 100);
    return 0;
}

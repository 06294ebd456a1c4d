//@ test: 3
//@ test: 7
//@ test: 0
//@ test: 12
//@ test: 1
#include <stdio.h>
#include <stdlib.h>

#define SEATS 64

static int seats[SEATS];

static void fill(int key)
{
    int i;
    for (i = 0; i < SEATS; i++)
        seats[i] = (i * 5) % 11;
    if (key > 5)
        seats[40] = key;
}

static int find(int key)
{
    int i = 0;
    while (seats[i] != key) //@ right:     while (i < SEATS && seats[i] != key)
        i++;
    return i;
}

int main(int argc, char **argv)
{
    int key, at;
    if (argc < 2)
        return 1;
    key = atoi(argv[1]);
    if (key > 20)
        return 1;
    fill(key);
    at = find(key);
    if (at == SEATS)
        printf("nowhere\n");
    else
        printf("seat %d\n", at);
    return 0;
}

//@ args: 3
#include <stdio.h>
#include <stdlib.h>

/* All records lie in one block; a wrong row lands in a live one. */
struct record {
    int values[4];
    int *best;
};

int main(int argc, char **argv)
{
    struct record *records = calloc(8, sizeof *records);
    int row = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 8; i++)
        records[i].best = &records[i].values[0];
    int *cell = &records[row].values[0];
    for (int i = 0; i < 12; i++)
        cell[i] = i * 1000003; //~ first
    long sum = 0;
    for (int i = 0; i < 8; i++)
        sum += *records[i].best;
    printf("%ld\n", sum);
    free(records);
    return 0;
}

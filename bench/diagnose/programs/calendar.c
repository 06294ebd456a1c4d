//@ test: 1 1
//@ test: 12 31
//@ test: 3 1
//@ test: 7 4
//@ test: 2 28
#include <stdio.h>
#include <stdlib.h>

static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

static int day_of_year(int month, int day)
{
    int m, sum = day;
    for (m = 1; m <= month; m++) //@ right:     for (m = 1; m < month; m++)
        sum += days[m];
    return sum;
}

static int is_valid(int month, int day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

int main(int argc, char **argv)
{
    int month, day;
    if (argc < 3)
        return 1;
    month = atoi(argv[1]);
    day = atoi(argv[2]);
    if (!is_valid(month, day)) {
        printf("no such day\n");
        return 0;
    }
    printf("%d\n", day_of_year(month, day));
    return 0;
}

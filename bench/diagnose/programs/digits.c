//@ test: 1234
//@ test: 7
//@ test: 0
//@ test: 99999
//@ test: 100
#include <stdio.h>
#include <stdlib.h>

#define MAX_DIGITS 5

static int to_digits(int number, char *digits)
{
    int n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
        number = number / 10;
    } while (number > 0 && n <= MAX_DIGITS); //@ right:     } while (number > 0 && n < MAX_DIGITS);
    return n;
}

int main(int argc, char **argv)
{
    char digits[MAX_DIGITS];
    int i, n;
    int number = argc > 1 ? atoi(argv[1]) : 0;
    if (number < 0)
        return 1;
    n = to_digits(number, digits);
    for (i = n - 1; i >= 0; i--)
        putchar(digits[i]);
    putchar('\n');
    return 0;
}

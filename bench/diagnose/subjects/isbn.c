//@ test: 0-306-40615-2 0306406152
//@ test: 978-0-306-40615-7
//@ test: 030640615 978030640615
//@ test: 0-8044-2957-X 080442957
//@ test: 12345 9780306406158 12X4567890
#include <assert.h>
#include <stdio.h>

#define DIGITS 13

static int collect(const char *text, int *digits)
{
    int n = 0;
    for (; *text != '\0'; text++) {
        if (*text == '-')
            continue;
        if (n == DIGITS)
            return -1;
        if (*text >= '0' && *text <= '9')
            digits[n++] = *text - '0';
        else if (*text == 'X' && n == 9)
            digits[n++] = 10;
        else
            return -1;
    }
    return n;
}

static int weigh(const int *digits, int n)
{
    int i, sum = 0;
    for (i = 0; i < n; i++) {
        if (n == 10)
            sum += (10 - i) * digits[i];
        else
            sum += i % 2 == 0 ? digits[i] : 3 * digits[i];
    }
    return sum % (n == 10 ? 11 : 10);
}

static char complete(int *digits, int n)
{
    static const char names[] = "0123456789X";
    int modulus = n == 9 ? 11 : 10;
    digits[n] = 0;
    digits[n] = (modulus - weigh(digits, n + 1)) % modulus;
    assert(weigh(digits, n + 1) == 0);
    return names[digits[n]];
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++) {
        int digits[DIGITS];
        int n = collect(argv[i], digits);
        switch (n) {
        case 9:
        case 12:
            printf("%s: check digit %c\n", argv[i], complete(digits, n));
            break;
        case 10:
        case 13:
            printf("%s: %s\n", argv[i], weigh(digits, n) == 0 ? "valid" : "wrong");
            break;
        default:
            printf("%s: not a number\n", argv[i]);
            break;
        }
    }
    return 0;
}

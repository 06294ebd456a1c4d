/* Numbers in other writings: each line is a number (digits, 0x..., or Roman) and a base to
   write it in (2 to 36, or r for Roman). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const int values[] = {1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1};
static const char *const signs[] = {"M",  "CM", "D",  "CD", "C",  "XC", "L",
                                    "XL", "X",  "IX", "V",  "IV", "I"};

static int value_of(char c)
{
    switch (toupper((unsigned char)c)) {
    case 'I': return 1;
    case 'V': return 5;
    case 'X': return 10;
    case 'L': return 50;
    case 'C': return 100;
    case 'D': return 500;
    case 'M': return 1000;
    default: return 0;
    }
}

static int from_roman(const char *text)
{
    int total = 0, last = 0;
    for (int i = (int)strlen(text) - 1; i >= 0; i--) {
        int value = value_of(text[i]);
        if (value == 0)
            return -1;
        if (value < last)
            total -= value;
        else
            total += value;
        if (value > last)
            last = value;
    }
    return total;
}

static int digit_of(char c)
{
    if (isdigit((unsigned char)c))
        return c - '0';
    if (isalpha((unsigned char)c))
        return tolower((unsigned char)c) - 'a' + 10;
    return 99;
}

static int from_digits(const char *text, int base)
{
    int total = 0;
    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        int digit = digit_of(*text);
        if (digit >= base)
            return -1;
        if (total > (1000000000 - digit) / base)
            return -1;
        total = total * base + digit;
    }
    return total;
}

static int number(const char *text)
{
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return from_digits(text + 2, 16);
    if (text[0] == '0' && text[1] != '\0')
        return from_digits(text + 1, 8);
    if (isdigit((unsigned char)text[0]))
        return from_digits(text, 10);
    return from_roman(text);
}

static void write_roman(int n)
{
    if (n < 1 || n > 3999) {
        printf("none");
        return;
    }
    for (int i = 0; i < 13; i++)
        while (n >= values[i]) {
            printf("%s", signs[i]);
            n -= values[i];
        }
}

static void write_digits(int n, int base)
{
    char digits[40];
    int at = 39;
    digits[at] = '\0';
    do {
        int digit = n % base;
        digits[--at] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
        n /= base;
    } while (n > 0);
    printf("%s", digits + at);
}

int main(void)
{
    char text[64], base[8];
    while (scanf("%63s %7s", text, base) == 2) {
        int n = number(text);
        int wanted = from_digits(base, 10);
        printf("%s = ", text);
        if (n < 0)
            printf("what?");
        else if (strcmp(base, "r") == 0)
            write_roman(n);
        else if (wanted < 2 || wanted > 36)
            printf("base?");
        else
            write_digits(n, wanted);
        printf("\n");
    }
    return 0;
}

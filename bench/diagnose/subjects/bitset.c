//@ test: +3 +9 ?3
//@ test: +0 -0 ?0
//@ test: ?5
//@ test: +40 ?40
//@ test: +1 +17 +16 -17
#include <stdio.h>
#include <stdlib.h>

#define BITS 24
#define PER_WORD 8
#define WORDS (BITS / PER_WORD)

static unsigned words[WORDS];

static int is_in(int bit)
{
    return words[bit / PER_WORD] >> bit % PER_WORD & 1;
}

static void set(int bit)
{
    words[bit / PER_WORD] |= 1u << bit % PER_WORD;
}

static void clear(int bit)
{
    words[bit / PER_WORD] &= ~(1u << bit % PER_WORD);
}

static int count(void)
{
    int i, n = 0;
    for (i = 0; i < WORDS; i++) {
        unsigned word = words[i];
        while (word != 0) {
            n += word & 1;
            word >>= 1;
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; i++) {
        const char *word = argv[i];
        int bit;
        if (word[0] == '\0')
            continue;
        bit = atoi(word + 1);
        if (bit < 0 || bit >= BITS) {
            printf("no bit %d\n", bit);
            continue;
        }
        if (word[0] == '+')
            set(bit);
        else if (word[0] == '-')
            clear(bit);
        else
            printf("%d\n", is_in(bit));
    }
    printf("%d set\n", count());
    return 0;
}

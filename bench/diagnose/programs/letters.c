//@ test< abc\n
//@ test< a1b2\n
//@ test< \n
//@ test< 123\n
//@ test< hello world\n
#include <stdio.h>

#define ROOM 16

static int is_letter(int c)
{
    return c >= 'a' && c <= 'z';
}

static int collect(char *out)
{
    int c, n = 0;
    while ((c = getchar()) != '\n' && c >= 0) {
        if (!is_letter(c))
            continue;
        if (n == ROOM)
            break;
        out[++n] = (char)c; //@ right:         out[n++] = (char)c;
    }
    return n;
}

int main(void)
{
    char letters[ROOM];
    int i, n = collect(letters);
    for (i = n - 1; i >= 0; i--)
        putchar(letters[i]);
    putchar('\n');
    return 0;
}

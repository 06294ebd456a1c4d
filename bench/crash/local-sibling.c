//@ stdin: abcdefghijklmnopqrstuvwxyz
#include <stdio.h>

int main(void)
{
    struct {
        char word[8];
        int index;
    } s;
    static int table[32];
    s.index = 3;
    if (scanf("%s", s.word) != 1) //~ first
        return 2;
    printf("%d\n", table[s.index]);
    return 0;
}

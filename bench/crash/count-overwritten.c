//@ stdin: 5 6 7 8 900000000
#include <stdio.h>

static struct {
    int values[4];
    int count;
} list;
static int seen[16];

int main(void)
{
    int v;
    while (list.count < 5 && scanf("%d", &v) == 1) {
        int at = list.count;
        list.count = at + 1;
        list.values[at] = v; //~ first
    }
    seen[list.count] = 1;
    printf("%d\n", list.count);
    return 0;
}

//@ test: abcdefgh 3
//@ test: x 1
//@ test: de 0
//@ test: abc 9
//@ test: longer-code 2
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int zone_of(const char *code)
{
    char part[4];
    memset(part, 0, sizeof part);
    if (strlen(code) < 8) {
        strcpy(part, "any");
    } else {
        memcpy(part, code, 8); //@ right:         memcpy(part, code, 3);
        part[3] = '\0';
    }
    return strcmp(part, "any") == 0 ? 0 : part[0] - part[2];
}

static int price(int zone, int weight)
{
    int sum = 5 + weight % 10;
    if (zone < 0)
        sum += 2;
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    printf("%d\n", price(zone_of(argv[1]), atoi(argv[2])));
    return 0;
}

//@ test: 4
//@ test: 64
//@ test: 15
//@ test: 0
//@ test: 2
#include <stdio.h>
#include <stdlib.h>

static int table[] = {2, 4, 8, 16, 32, 64};

static int search(const int *values, int n, int key)
{
    int low = 0, high = n; //@ right:     int low = 0, high = n - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (values[middle] == key)
            return middle;
        if (values[middle] < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

int main(int argc, char **argv)
{
    int n = sizeof(table) / sizeof(table[0]);
    int key = argc > 1 ? atoi(argv[1]) : 2;
    printf("%d\n", search(table, n, key));
    return 0;
}

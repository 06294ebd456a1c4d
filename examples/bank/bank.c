#include <stdio.h>
#include <string.h>

/* An account for each argument; long names are cut elsewhere, or so it was thought. */
struct account {
    char owner[16];
    int *balance;
};

static struct account book[4];
static int cells[4];

static void open_account(int i, const char *owner)
{
    book[i].balance = &cells[i];
    strcpy(book[i].owner, owner);
}

int main(int argc, char **argv)
{
    int sum = 0;

    for (int i = 1; i < argc && i <= 4; i++)
        open_account(i - 1, argv[i]);
    for (int i = 0; i < argc - 1; i++)
        sum += *book[i].balance;
    printf("%d\n", sum);
    return 0;
}

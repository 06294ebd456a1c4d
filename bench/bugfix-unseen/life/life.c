/* Cells that live and die on a field whose edges meet: first line GENERATIONS AGE, then the
   field. Cells older than AGE die; prints the last field, how many live, and when it began
   to repeat. */
#include <stdio.h>
#include <string.h>

#define MAX_SIDE 16
#define MAX_KEPT 64

struct field {
    int age[MAX_SIDE][MAX_SIDE];
};

static struct field now, next;
static unsigned kept[MAX_KEPT];
static int n_kept;
static int height, width, max_age;

static int wrapped(int n, int size)
{
    if (n < 0)
        return n + size;
    if (n >= size)
        return n - size;
    return n;
}

static int neighbours(int row, int column)
{
    int n = 0;
    for (int dr = -1; dr <= 1; dr++)
        for (int dc = -1; dc <= 1; dc++) {
            if (dr == 0 && dc == 0)
                continue;
            if (now.age[wrapped(row + dr, height)][wrapped(column + dc, width)] > 0)
                n++;
        }
    return n;
}

static int new_age(int age, int n)
{
    if (age == 0)
        return n == 3 ? 1 : 0;
    if (n < 2 || n > 3 || age >= max_age)
        return 0;
    return age + 1;
}

static void generation(void)
{
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            next.age[row][column] = new_age(now.age[row][column], neighbours(row, column));
    now = next;
}

static unsigned hashed(void)
{
    unsigned hash = 17;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            hash = hash * 31 + (unsigned)now.age[row][column];
    return hash;
}

static int seen(unsigned hash)
{
    for (int i = 0; i < n_kept; i++)
        if (kept[i] == hash)
            return i;
    if (n_kept < MAX_KEPT)
        kept[n_kept++] = hash;
    return -1;
}

static int count(int from, int to)
{
    int n = 0;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            if (now.age[row][column] >= from && now.age[row][column] <= to)
                n++;
    return n;
}

static void read_field(void)
{
    char line[MAX_SIDE + 2];
    while (height < MAX_SIDE && scanf("%16s", line) == 1) {
        int length = (int)strlen(line);
        if (length > width)
            width = length;
        for (int column = 0; column < length; column++)
            now.age[height][column] = line[column] == 'o';
        height++;
    }
}

int main(void)
{
    int n_generations, first = -1;
    if (scanf("%d %d", &n_generations, &max_age) != 2 || max_age < 1) {
        puts("GENERATIONS AGE");
        return 2;
    }
    read_field();
    seen(hashed());
    for (int i = 1; i <= n_generations && first < 0; i++) {
        generation();
        first = seen(hashed());
    }
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++)
            putchar(now.age[row][column] > 9 ? '9' : '0' + now.age[row][column]);
        putchar('\n');
    }
    printf("%d live, %d young\n", count(1, max_age), count(1, 2));
    if (first >= 0)
        printf("as after %d, every %d\n", first, n_kept - first);
    return 0;
}

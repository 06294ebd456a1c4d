/* Merges intervals and answers questions about them: N, then N pairs, then points */
#include <stdio.h>

#define MAX 32

struct span {
    int from, to;
};

static struct span spans[MAX];
static int count;

static void swap(struct span *a, struct span *b)
{
    struct span t = *a;
    *a = *b;
    *b = t;
}

static void sort(void)
{
    int i, j;
    for (i = 0; i < count - 1; i++)
        for (j = i + 1; j < count; j++)
            if (spans[j].from < spans[i].from)
                swap(&spans[i], &spans[j]);
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

static int merge(void)
{
    int last = 0;
    int i;
    if (count == 0)
        return 0;
    for (i = 1; i < count; i++) {
        if (spans[i].from <= spans[last].to)
            spans[last].to = max(spans[last].to, spans[i].to);
        else {
            last++;
            spans[last] = spans[i];
        }
    }
    return last + 1;
}

static int covered(void)
{
    int sum = 0;
    int i;
    for (i = 0; i < count; i++)
        sum += spans[i].to - spans[i].from;
    return sum;
}

static int find(int point)
{
    int low = 0;
    int high = count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (point < spans[middle].from)
            high = middle - 1;
        else if (point >= spans[middle].to)
            low = middle + 1;
        else
            return middle;
    }
    return -1;
}

static int widest(void)
{
    int best = 0;
    int i;
    for (i = 1; i < count; i++)
        if (spans[i].to - spans[i].from > spans[best].to - spans[best].from)
            best = i;
    return best;
}

int main(void)
{
    int n, i, point;
    if (scanf("%d", &n) != 1 || n < 0 || n > MAX)
        return 1;
    for (i = 0; i < n; i++) {
        int from, to;
        if (scanf("%d %d", &from, &to) != 2)
            return 1;
        if (from >= to)
            continue;
        spans[count].from = from;
        spans[count].to = to;
        count++;
    }
    sort();
    count = merge();
    printf("%d spans cover %d\n", count, covered());
    if (count > 0)
        printf("widest %d\n", spans[widest()].from);
    while (scanf("%d", &point) == 1)
        printf("%d in %d\n", point, find(point));
    return 0;
}

/* Statistics of a table: ROWS COLUMNS, then the numbers */
#include <stdio.h>

#define MAX 64

static double table[MAX];
static int rows, columns;

static double row_sum(int r)
{
    double sum = 0.0;
    int c;
    for (c = 0; c < columns; c++)
        sum += table[r * columns + c];
    return sum;
}

static double column_sum(int c)
{
    double sum = 0.0;
    int r;
    for (r = 0; r < rows; r++)
        sum += table[r * columns + c];
    return sum;
}

static double mean(void)
{
    double sum = 0.0;
    int r;
    for (r = 0; r < rows; r++)
        sum += row_sum(r);
    return sum / (rows * columns);
}

static double variance(double average)
{
    double sum = 0.0;
    int i;
    int n = rows * columns;
    if (n < 2)
        return 0.0;
    for (i = 0; i < n; i++)
        sum += (table[i] - average) * (table[i] - average);
    return sum / (n - 1);
}

static double largest(void)
{
    double best = table[0];
    int i;
    for (i = 1; i < rows * columns; i++)
        if (table[i] > best)
            best = table[i];
    return best;
}

static double ratio(double part, double whole)
{
    if (whole == 0.0)
        return -1.0;
    if (part < 0.0 || part > whole)
        return -1.0;
    return part / whole;
}

static int freedom(void)
{
    int degrees = (rows - 1) * (columns - 1);
    if (degrees <= 0)
        return 0;
    return degrees;
}

int main(void)
{
    int i;
    double average, total;
    if (scanf("%d %d", &rows, &columns) != 2)
        return 1;
    if (rows < 1 || columns < 1 || rows * columns > MAX) {
        printf("bad size\n");
        return 1;
    }
    for (i = 0; i < rows * columns; i++)
        if (scanf("%lf", &table[i]) != 1) {
            printf("short\n");
            return 1;
        }
    average = mean();
    total = average * rows * columns;
    printf("mean %.3f variance %.3f\n", average, variance(average));
    printf("largest %.2f freedom %d\n", largest(), freedom());
    printf("share %.3f\n", ratio(column_sum(0), total));
    return 0;
}

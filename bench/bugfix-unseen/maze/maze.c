/* The shortest way through a maze: '#' is wall, 'S' the start, 'E' the exit, digits are
   doors that open from that step on. Prints the number of steps and the way. */
#include <stdio.h>
#include <string.h>

#define MAX_ROWS 20
#define MAX_COLUMNS 40

struct place {
    int row;
    int column;
};

static char grid[MAX_ROWS][MAX_COLUMNS + 2];
static int steps_to[MAX_ROWS][MAX_COLUMNS];
static struct place waiting[MAX_ROWS * MAX_COLUMNS];
static int n_rows, n_columns;

static const int down[4] = {-1, 0, 1, 0};
static const int right[4] = {0, 1, 0, -1};

static void read_grid(void)
{
    while (n_rows < MAX_ROWS && fgets(grid[n_rows], MAX_COLUMNS + 2, stdin) != NULL) {
        int length = (int)strcspn(grid[n_rows], "\n");
        grid[n_rows][length] = '\0';
        if (length > n_columns)
            n_columns = length;
        n_rows++;
    }
}

static int look_for(char what, struct place *found)
{
    for (int row = 0; row < n_rows; row++) {
        char *at = strchr(grid[row], what);
        if (at != NULL) {
            found->row = row;
            found->column = (int)(at - grid[row]);
            return 1;
        }
    }
    return 0;
}

static int is_free(int row, int column, int step)
{
    char c;
    if (row < 0 || row >= n_rows || column < 0 || column >= n_columns)
        return 0;
    c = grid[row][column];
    if (c >= '0' && c <= '9')
        return step >= c - '0';
    return c != '#' && c != '\0';
}

static int search(struct place start, struct place end)
{
    int head = 0, tail = 0;
    for (int row = 0; row < n_rows; row++)
        for (int column = 0; column < n_columns; column++)
            steps_to[row][column] = -1;
    steps_to[start.row][start.column] = 0;
    waiting[tail++] = start;
    while (head < tail) {
        struct place at = waiting[head++];
        int step = steps_to[at.row][at.column] + 1;
        for (int way = 0; way < 4; way++) {
            struct place next;
            next.row = at.row + down[way];
            next.column = at.column + right[way];
            if (!is_free(next.row, next.column, step))
                continue;
            if (steps_to[next.row][next.column] >= 0)
                continue;
            steps_to[next.row][next.column] = step;
            waiting[tail++] = next;
        }
    }
    return steps_to[end.row][end.column];
}

static void print_way(struct place start, struct place end)
{
    struct place at = end;
    while (at.row != start.row || at.column != start.column) {
        int step = steps_to[at.row][at.column];
        for (int way = 0; way < 4; way++) {
            int row = at.row + down[way], column = at.column + right[way];
            if (row < 0 || row >= n_rows || column < 0 || column >= n_columns)
                continue;
            if (steps_to[row][column] == step - 1) {
                at.row = row;
                at.column = column;
                break;
            }
        }
        if (grid[at.row][at.column] != 'S')
            grid[at.row][at.column] = '+';
    }
    for (int row = 0; row < n_rows; row++)
        puts(grid[row]);
}

int main(void)
{
    struct place start, end;
    int steps;
    read_grid();
    if (!look_for('S', &start) || !look_for('E', &end)) {
        puts("no start or no exit");
        return 1;
    }
    steps = search(start, end);
    if (steps < 0) {
        puts("no way");
        return 1;
    }
    printf("%d steps\n", steps);
    print_way(start, end);
    return 0;
}

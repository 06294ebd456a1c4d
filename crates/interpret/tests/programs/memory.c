/* Arrays, pointers, flexible arrays, variable-length arrays, the heap. */
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
void out_int(long long);

struct list { struct list *next; int n; short data[]; };
struct packed { char c; int i; long l; } __attribute__((packed));
struct aligned { char c; int i __attribute__((aligned(32))); };
static int grid[3][4][5];
static char names[][4] = {"ab", "cde", {'x'}};
static const char *strings[] = {"one", "two" "three", 0};
static _Thread_local int per_thread = 5;
static int counter(void) { static int n = 10; return n += 3; }

static struct list *push(struct list *next, int n)
{
    struct list *l = malloc(sizeof *l + n * sizeof l->data[0]);
    l->next = next; l->n = n;
    for (int i = 0; i < n; i++) l->data[i] = i * n;
    return l;
}

static long vla(int n, int m, int a[n][m])
{
    int copy[m][n];
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) copy[j][i] = a[i][j];
    long sum = sizeof copy;
    for (int i = 0; i < m; i++) sum = sum * 3 + copy[i][n - 1];
    return sum;
}

static int stack(int n)
{
    int total = 0;
    for (int round = 0; round < 3; round++) {
        char *p = __builtin_alloca(n + round);
        memset(p, round + 1, n + round);
        total += p[n - 1] + p[0];
    }
    return total;
}

static void swap(int *restrict a, int *restrict b) { int t = *a; *a = *b; *b = t; }
static int *middle(int *from, int *to) { return from + (to - from) / 2; }
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

int main(void)
{
    struct list *all = push(push(push(0, 3), 0), 5);
    for (struct list *l = all; l; l = l->next) for (int i = 0; i < l->n; i++) out_int(l->data[i]);
    while (all) { struct list *next = all->next; free(all); all = next; }
    for (int i = 0; i < 60; i++) grid[i / 20][i / 5 % 4][i % 5] = i * i;
    out_int(grid[2][3][4]); out_int(*(*(*(grid + 1) + 2) + 3)); out_int(grid[1] - grid[0]);
    int (*row)[5] = grid[1]; out_int((*++row)[2]); out_int(row[-1][0]); out_int(sizeof *row);
    int a[2][3] = {{1, 2, 3}, {4, 5, 6}};
    out_int(vla(2, 3, a)); out_int(stack(7));
    out_int(names[1][2]); out_int(strlen(names[0])); out_int(names[2][1]);
    for (const char **s = strings; *s; s++) out_int((*s)[strlen(*s) - 1]);
    swap(&a[0][0], &a[1][2]); out_int(a[0][0]); out_int(*middle(a[0], a[0] + 3));
    int *p = a[1], *q = p + 2; out_int(*p++); out_int(*--q); out_int(q - p); out_int(p == q);
    out_int(p[-1]); out_int(1[p]); out_int(p < q); out_int((char *)q - (char *)p);
    unsigned char index = 2; out_int(a[0][index]); signed char back = -1; out_int(p[back]);
    per_thread += 2; out_int(per_thread); out_int(counter() + counter());
    struct packed k = {1, 2, 3}; k.i += k.c; out_int(k.i); out_int(sizeof k);
    memcpy(&k.l, "abcdefgh", 8); out_int(k.l);
    struct aligned al = {1, 2}; out_int(sizeof al); out_int((long)&al.i % 32);
    out_int(container_of(&k.l, struct packed, l)->c);
    int *heap = calloc(4, sizeof *heap); heap[2] = 7; heap = realloc(heap, 8 * sizeof *heap);
    heap[7] = heap[2] + heap[1]; out_int(heap[7]); free(heap);
    char buffer[16] = "xyz"; memmove(buffer + 1, buffer, 4); out_int(strcmp(buffer, "xxyz"));
    out_int(memcmp(buffer, "xxya", 4) > 0); out_int(buffer[15]);
    void *raw = &k; out_int(*(unsigned char *)raw); out_int(*((char *)raw + 5));
    int **pp = &p, *const *cpp = (int *const *)pp; **pp = 99; out_int(**cpp);
    volatile int v = 3; v = v + v; out_int(v);
    return 0;
}

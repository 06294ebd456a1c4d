/* Results through parameters, and addresses that do not outlive their function. */
struct r { int *best; int n; }; static int pool[4]; static int *spare;
static int find(int k, struct r *out, int **other) { int i; know("i", &i, 4); see("mine", &i); for (i = 0; i < 4; i++) if (pool[i] == k) { out->best = &pool[i]; out->n = i; *other = spare; forget("i", &i); return 1; } forget("i", &i); return 0; }
static void swap(int **a, int **b) { int *t = *a; *a = *b; *b = t; }
int main(void) { struct r r = { 0 }; int *o = NULL, x = 1, *px = &x; know("r", &r, sizeof r); know("o", &o, 8); know("x", &x, 4); know("px", &px, 8); know("pool", pool, 16); spare = &x;
    for (int i = 0; i < 4; i++) pool[i] = i * 2; watch("find"); int found = find(4, &r, &o); changed("find"); see_int("found", found); see("best", r.best); see("o", o); see_int("n", r.n);
    watch("swap"); swap(&r.best, &px); changed("swap"); see("swapped", r.best); see("px", px); see("null", find(9, &r, &o) ? o : NULL); return 0; }

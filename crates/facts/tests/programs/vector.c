/* An array that grows and moves. */
struct e { int *p; int k; }; struct vec { struct e *at; unsigned n, cap; }; static int x, y;
static void push(struct vec *v, int *p) { if (v->n == v->cap) { v->cap = v->cap ? v->cap * 2 : 1; v->at = realloc(v->at, v->cap * sizeof *v->at);
    know("at", v->at, v->cap * sizeof *v->at); } v->at[v->n].p = p; v->at[v->n].k = v->n; v->n++; }
static int less(const void *a, const void *b) { see("cmp", a); return ((const struct e *)b)->k - ((const struct e *)a)->k; }
int main(void) { struct vec v = { 0 }; know("x", &x, 4); know("y", &y, 4); know("v", &v, sizeof v);
    for (int i = 0; i < 5; i++) push(&v, i & 1 ? &x : &y); qsort(v.at, v.n, sizeof *v.at, less);
    for (unsigned i = 0; i < v.n; i++) { see("e", &v.at[i]); see("p", v.at[i].p); see_int("k", v.at[i].k); }
    watch("push"); push(&v, &x); changed("push"); see_int("n", v.n); return 0; }

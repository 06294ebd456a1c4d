/* A tree, and variables of functions that call themselves. */
struct t { int k; struct t *l, *r, **up; }; static struct t *root; static int depth;
static void insert(struct t **at, int k) { int here = k; know("here", &here, 4); see("local", &here);
    if (!*at) { *at = calloc(1, sizeof **at); know("tree", *at, sizeof **at); (*at)->k = k; (*at)->up = at; }
    else insert(k < (*at)->k ? &(*at)->l : &(*at)->r, k); forget("here", &here); }
static int sum(struct t *t, int *count) { if (!t) return 0; ++*count; return t->k + sum(t->l, count) + sum(t->r, count); }
int main(void) { int count = 0; know("root", &root, 8); know("count", &count, 4); int keys[] = { 4, 2, 6, 1, 3 };
    for (int i = 0; i < 5; i++) { watch("insert"); insert(&root, keys[i]); changed("insert"); }
    watch("sum"); int s = sum(root, &count); changed("sum"); see_int("s", s); see_int("count", count); see("left", root->l); see("up", root->l->up); return 0; }

/* Memory that code outside keeps, changes and hands back. */
struct s { struct s *next; int n; int *p; }; static struct s a, b, own; static int x, y, hidden; static int *cell = &hidden;
static void called(void *p) { entered("called"); see("given", p); ((struct s *)p)->n = 7; y = 3; }
int main(void) { know("a", &a, sizeof a); know("b", &b, sizeof b); know("own", &own, sizeof own); know("x", &x, 4); know("y", &y, 4); know("cell", &cell, 8);
    know("hidden", &hidden, 4); out_keep(&a); out_keep(&b); out_keep(&x); out_keep(&cell); out_keep(&b.n); b.p = &y; see("before", a.next);
    watch("link"); out_link(0, 1); changed("link"); see("next", a.next); struct s *f = out_fetch(1); see("f", f); see("p", f->p);
    int *i = out_fetch(2); see("i", i); watch("number"); out_number(2, 9); changed("number"); see_int("x", x);
    int *m = out_fetch(4); see("m", m); watch("member"); *m = 5; changed("member"); see_int("bn", b.n); out_link(3, 2); see("cell", cell);
    struct s copy = a; see("copied", copy.next); watch("call"); out_call(called, 1); changed("call"); see_int("y", y); see("own", own.next); return 0; }

/* Records carved out of an array of bytes. */
static char arena[256]; static unsigned used; static int a, b;
struct one { int *p; struct one *next; }; struct two { long n; int *q; };
static void *take(unsigned n) { void *p = arena + used; used += (n + 15) & ~15u; return p; }
int main(void) { know("arena", arena, 256); know("a", &a, 4); know("b", &b, 4);
    struct one *o = take(sizeof *o); struct two *t = take(sizeof *t); struct one *o2 = take(sizeof *o2);
    o->p = &a; t->q = &b; o2->p = &b; o->next = o2; see("o", o); see("t", t); see("p", o->p); see("q", t->q); see("next", o->next);
    see("np", o->next->p); watch("w"); o->next->p = &a; changed("w"); see_int("used", used); return 0; }

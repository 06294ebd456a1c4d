/* A tagged union, passed by value and returned. */
struct v { int tag; union { int *p; long n; struct { char *s; struct v *next; } pair; } u; };
static int x; static char text[4]; static struct v other;
static struct v wrap(struct v inner) { struct v v; v.tag = 2; other = inner; v.u.pair.s = text; v.u.pair.next = &other; return v; }
int main(void) { know("x", &x, 4); know("text", text, 4); know("other", &other, sizeof other);
    struct v a; a.tag = 0; a.u.p = &x; see("p", a.u.p); struct v b = wrap(a); see("s", b.u.pair.s); see("next", b.u.pair.next);
    see("deep", b.u.pair.next->u.p); a.u.n = (long)&x; see("number", (int *)a.u.n); see_int("tag", b.tag); return 0; }

/* Records that begin alike, and pointers to members of arrays of arrays. */
struct base { int kind; int *id; }; struct circle { int kind; int *id; double r; }; struct box { struct base base; struct { int w[2][3]; int *p[2]; } d; };
static int a, b; static struct circle c = { 1, &a, 2.0 }; static struct box x = { { 2, &b } }; static struct box many[3];
static int *id(struct base *s) { return s->id; } static void mark(struct base *s) { s->kind += 10; }
int main(void) { know("a", &a, 4); know("b", &b, 4); know("c", &c, sizeof c); know("x", &x, sizeof x); know("many", many, sizeof many);
    see("c", id((struct base *)&c)); see("x", id(&x.base)); watch("c"); mark((struct base *)&c); changed("c"); watch("x"); mark((struct base *)&x); changed("x");
    for (int i = 0; i < 3; i++) { many[i].d.p[i & 1] = &many[2 - i].d.w[1][i]; see("w", many[i].d.p[i & 1]); many[i].base = x.base; see("id", many[i].base.id); }
    int (*row)[3] = &x.d.w[1]; see("row", row); see("cell", &(*row)[2]); see_int("kind", c.kind); return 0; }

/* Bit-fields, flags and their neighbours. */
struct f { unsigned a : 3; unsigned b : 5; int c : 9; int *p; unsigned char d; }; static struct f g; static int x;
static void set(struct f *f, unsigned v) { f->b = v; f->c = -(int)v; }
int main(void) { know("g", &g, sizeof g); know("x", &x, 4); g.p = &x; for (unsigned i = 0; i < 40; i += 13) { watch("set"); set(&g, i); changed("set"); see_int("b", g.b); see_int("c", g.c); g.a = i; see_int("a", g.a); g.d = i * 9; see_int("d", g.d); } struct f h = g; see("p", h.p); return 0; }

/* Records copied and read byte by byte. */
struct s { char tag[4]; short k; int *p; struct { int *q; char c; } in[2]; }; static struct s a, b, c; static int x, y;
static void copy(void *to, const void *from, unsigned n) { char *t = to; const char *f = from; while (n--) *t++ = *f++; }
int main(void) { know("a", &a, sizeof a); know("b", &b, sizeof b); know("c", &c, sizeof c); know("x", &x, 4); know("y", &y, 4);
    a.p = &x; a.in[1].q = &y; a.k = 513; watch("copy"); copy(&b, &a, sizeof a); changed("copy"); see("p", b.p); see("q", b.in[1].q);
    memcpy(&c.in[0], &a.in[1], sizeof a.in[0]); see("one", c.in[0].q); memcpy((char *)&c + offsetof(struct s, p), &a.p, 8); see("off", c.p);
    see_int("low", ((unsigned char *)&a.k)[0]); see("byte", (char *)&a + 9); see_int("k", b.k); return 0; }

/* Structs and unions by value, in registers and in memory. */
void out_int(long long);
void out_float(double);

struct one { int x; };
struct two { int x, y; };
struct three { char c; short s; int i; };
struct pair { long a; double b; };
struct floats { float x, y; };
struct triple { float x, y, z; };
struct mixed { double d; int i; };
struct pointer { char *p; int n; };
struct big { int data[10]; char tag; };
struct odd { char bytes[11]; };
struct chars { char a, b, c; };
union either { int i; float f; char bytes[4]; };
struct nested { struct two inner; union { long l; double d; }; struct { short p, q; } named; };
struct empty {};

static struct one one(struct one v) { v.x++; return v; }
static struct two two(struct two v, int k) { struct two r = {v.y + k, v.x - k}; return r; }
static struct three three(struct three v) { v.c ^= 1; v.s *= 2; v.i = -v.i; return v; }
static struct pair pair(long a, struct pair v) { v.a += a; v.b *= 2; return v; }
static struct floats floats(struct floats v) { return (struct floats){v.y, v.x}; }
static struct triple triple(struct triple v, float f) { v.z += f; return v; }
static struct mixed mixed(struct mixed v) { v.i += v.d; return v; }
static struct pointer pointer(struct pointer v) { v.p += 1; v.n--; return v; }
static struct big big(struct big v, int i) { v.data[i] += v.tag; v.tag = i; return v; }
static struct odd odd(struct odd v) { v.bytes[10] = v.bytes[0]; return v; }
static struct chars chars(struct chars v) { return (struct chars){v.c, v.a, v.b}; }
static union either either(int i) { union either u; u.i = i; return u; }
static struct nested nested(struct nested n) { n.inner.y = n.named.q; n.l ^= 7; return n; }
static int many(int a, struct two b, long c, struct pair d, int e, int f, struct big g, char h)
{
    return a + b.x * b.y + c + d.a + d.b + e - f + g.data[3] + h;
}
static int nothing(struct empty e, int x) { return x; }

int main(void)
{
    out_int(one((struct one){4}).x);
    struct two t = two((struct two){1, 2}, 10);
    out_int(t.x); out_int(t.y);
    struct three h = three((struct three){'a', 300, 70000});
    out_int(h.c); out_int(h.s); out_int(h.i);
    struct pair p = pair(5, (struct pair){.b = 1.5, .a = 2});
    out_int(p.a); out_float(p.b);
    struct floats f = floats((struct floats){1.25f, -3});
    out_float(f.x); out_float(f.y);
    struct triple tr = triple((struct triple){1, 2, 3}, .5f);
    out_float(tr.x); out_float(tr.y); out_float(tr.z);
    struct mixed m = mixed((struct mixed){2.75, 4});
    out_float(m.d); out_int(m.i);
    static char text[] = "hello";
    struct pointer q = pointer((struct pointer){text, 5});
    out_int(*q.p); out_int(q.n);
    struct big b = {{1, 2, 3, 4}, 9}, before = b;
    b = big(b, 3);
    out_int(b.data[3]); out_int(b.tag); out_int(before.data[3]);
    out_int(big(big(b, 1), 2).data[2]);
    struct odd o = odd((struct odd){"abcdefghijk"});
    out_int(o.bytes[10]); out_int(o.bytes[9]);
    struct chars c = chars((struct chars){1, 2, 3});
    out_int(c.a * 100 + c.b * 10 + c.c);
    union either u = either(0x3f800000);
    out_float(u.f); out_int(u.bytes[3]);
    struct nested n = nested((struct nested){{1, 2}, {.l = 5}, {3, 4}});
    out_int(n.inner.y); out_int(n.l); out_int(n.named.p);
    out_int(many(1, (struct two){2, 3}, 4, (struct pair){5, 6.5}, 7, 8, before, 10));
    out_int(nothing((struct empty){}, 6));
    struct big (*through)(struct big, int) = big;
    out_int(through(b, 0).data[0]);
    struct two array[3] = {[1] = {5, 6}};
    array[2] = array[1]; array[0] = two(array[2], 1);
    for (int i = 0; i < 3; i++) { out_int(array[i].x); out_int(array[i].y); }
    out_int((t.x > 3 ? array[1] : array[0]).y);
    struct two *last = &array[2];
    *last = (struct two){last->y, last->x};
    out_int(last->x); out_int((array + 1)->y); out_int(last - array);
    return 0;
}

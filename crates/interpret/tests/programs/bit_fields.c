/* Bit-fields of every width, sign and neighbourhood. */
void out_int(long long);

struct mixed { int a : 3; unsigned b : 5; int : 0; long c : 33; unsigned long d : 31; _Bool e : 1;
               signed char f : 7; unsigned short g : 9; };
struct packed { unsigned char tag; unsigned long wide : 57; int last : 6; } __attribute__((packed));
union both { struct { unsigned low : 4, high : 4; }; unsigned char byte; };
struct outer { int x; struct mixed inner[2]; unsigned tail : 1; };

static void show(const struct mixed *m)
{
    out_int(m->a); out_int(m->b); out_int(m->c); out_int(m->d); out_int(m->e); out_int(m->f);
    out_int(m->g);
    out_int(m->b - 40 < 0); out_int(m->a < m->b); out_int(m->d > -1); out_int(~m->b);
}

int main(void)
{
    struct mixed m = {-1, 31, -5000000000, 0x7fffffff, 1, -64, 511};
    show(&m);
    for (long n = -300; n < 300; n += 37) {
        m.a = n; m.b = n; m.c = n * 100000000; m.d = n; m.e = n; m.f = n; m.g = n;
        show(&m);
        m.a += 3; m.b *= 3; m.c -= n; m.d ^= 0x55; m.e |= 1; m.f++; --m.g;
        show(&m);
        out_int(m.a = n); out_int(m.b = n); out_int(m.g++); out_int(m.f -= 1);
    }
    struct packed p = {1};
    p.wide = 0x123456789abcdef; p.last = -7;
    out_int(p.tag); out_int(p.wide); out_int(p.last); out_int(sizeof p);
    p.wide <<= 3; out_int(p.wide); p.last /= 2; out_int(p.last);
    union both u = {.byte = 0xa5};
    out_int(u.low); out_int(u.high); u.high = 3; out_int(u.byte);
    struct outer o = {.x = 1, .inner = {[1] = {.a = -2, .g = 300}}, .tail = 1};
    struct outer copy = o;
    copy.inner[0] = o.inner[1];
    show(&copy.inner[0]); show(&o.inner[0]); out_int(copy.tail);
    return 0;
}

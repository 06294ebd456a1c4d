/* Initialisers, constructors, weak and aliased symbols, compound literals, _Generic. */
void out_int(long long);
void out_float(double);

struct point { int x, y; };
struct deep { struct point p[2]; union { char c; long l; } u; const char *s; struct { int a, : 5, b; }; float f; };
static struct deep deep = {{[1] = {.y = 4}}, {.l = 77}, "text" + 1, {.b = 3}, 2.5};
static int sparse[] = {[5] = 1, 2, [2] = 9};
static int *address = &sparse[6], *end = sparse + sizeof sparse / sizeof *sparse;
static struct point *literal = &(struct point){7, 8};
static long distance = (char *)&((struct deep *)0)->s - (char *)0;
static unsigned char bits = 300 & 255; static short negative = -3; static double third = 1.0 / 3;
static long double ext = 1.5L; static _Bool truth = 5; static char text[5] = "abcde";
static int wide[] = L"h\u00e9"; static float halves[2] = {[1] = .5f};
static void *self = &self; int common; extern int common;
static int order; int first, second;
__attribute__((constructor)) static void early(void) { first = ++order; }
__attribute__((weak)) int overridable(void) { return 11; }
__attribute__((weak)) extern int absent(void);
static int original(int x) { return x * 2; }
int alias(int) __attribute__((alias("original")));
inline static int inlined(int x) { return x + 1; }
static int names(void) { return sizeof __func__ + __func__[0]; }
#define KIND(x) _Generic((x), int: 1, unsigned: 2, long: 3, char *: 4, double: 5, default: 6)

static int old_style(a, b, c) char a; float b; short *c; { return a + b + *c; }
static implicit(x) { return x; }

int main(void)
{
    out_int(deep.p[1].y); out_int(deep.p[0].x); out_int(deep.u.l); out_int(*deep.s); out_int(deep.b);
    out_float(deep.f); out_int(sparse[2] + sparse[5] * 10 + sparse[6] * 100); out_int(*address);
    out_int(end - address); out_int(literal->x * literal->y); out_int(distance); out_int(bits);
    out_int(negative); out_float(third); out_float(ext); out_int(truth); out_int(text[4]);
    out_int(wide[1]); out_float(halves[1] + halves[0]); out_int(self == &self); out_int(common++ + common);
    out_int(first); out_int(overridable()); out_int(absent ? 1 : 2); out_int(alias(21));
    out_int(inlined(1)); out_int(names());
    out_int(KIND(1)); out_int(KIND(1u)); out_int(KIND(1l)); out_int(KIND((char *)0)); out_int(KIND('a'));
    out_int(KIND(1.0f)); out_int(KIND((char)1 + (short)2)); out_int(sizeof 'a');
    short s = 5; out_int(old_style(300, 2.5, &s)); out_int(implicit(6));
    struct point local = {.y = 3}, array[2] = {local, {1}}, *p = (struct point[]){{1, 2}, {3, 4}};
    out_int(local.x + local.y); out_int(array[0].y + array[1].x + array[1].y); out_int(p[1].y);
    int zeros[100] = {0}, partial[6] = {1, 2}; long sum = 0;
    for (int i = 0; i < 100; i++) sum += zeros[i] + (i < 6 ? partial[i] : 0);
    out_int(sum); char string[8] = "hey", chars[] = {'a', 'b'};
    out_int(string[2] + string[7] + sizeof chars);
    for (int i = 0; i < 2; i++) { int fresh[2] = {i}; fresh[1]++; out_int(fresh[0] + fresh[1]); }
    return 0;
}

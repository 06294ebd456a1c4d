/* Arguments of variable number, and lists of them handed on. */
typedef __builtin_va_list va_list; static int x, y, z; static int *seen[4];
static int *pick(int n, va_list l) { int *p = NULL; while (n--) p = __builtin_va_arg(l, int *); return p; }
static int *nth(int n, ...) { va_list l; __builtin_va_start(l, n); int *p = pick(n, l); __builtin_va_end(l); return p; }
static void store(int n, ...) { va_list l; __builtin_va_start(l, n); for (int i = 0; i < n; i++) seen[i] = __builtin_va_arg(l, int *); __builtin_va_end(l); }
int main(void) { know("x", &x, 4); know("y", &y, 4); know("z", &z, 4); know("seen", seen, sizeof seen); see("2", nth(2, &x, &y)); see("1", nth(1, &z));
    watch("store"); store(3, &x, &z, &y); changed("store"); see("s0", seen[0]); see("s1", seen[1]); return 0; }

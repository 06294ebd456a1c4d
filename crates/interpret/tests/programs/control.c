/* Control flow: switches, loops, computed jumps, short circuits, tables of functions. */
void out_int(long long);

static int calls;
static int yes(int n) { calls = calls * 10 + n; return 1; }
static int no(int n) { calls = calls * 10 + n; return 0; }

static int ranges(int x)
{
    switch (x) {
    case -5 ... -1: return -1;
    case 0: x += 100; /* fall through */
    case 1: x += 10; break;
    case 'a' ... 'z': return x - 'a';
    case 1000000000: return 7;
    default: x = 3;
    }
    return x;
}

static int wide(unsigned long x)
{
    switch (x) {
    case 0xffffffffffffffff: return 1;
    case 0x100000000: return 2;
    case 5: { int y; y = 4; return y; }
    }
    return 0;
}

static int enums(enum { A, B = 5, C } e, unsigned char c)
{
    switch (e) { case A: return 1; case B: return 2; case C: break; }
    switch (c) { case 255: return 4; case 128: return 5; }
    return 3;
}

static int duff(int n)
{
    int steps = 0, rounds = (n + 3) / 4;
    switch (n % 4) {
    case 0: do { steps++;
    case 3: steps++;
    case 2: steps++;
    case 1: steps++;
        } while (--rounds > 0);
    }
    return steps;
}

static int machine(const char *code)
{
    static const void *const table[] = {&&add, &&twice, &&stop};
    int value = 1;
next:
    goto *table[*code++ - '0'];
add: value += 3; goto next;
twice: value *= 2; goto next;
stop: return value;
}

static int loops(int n)
{
    int total = 0;
    for (int i = 0, j = n; i < j; i++, j--) {
        if (i == 3) continue;
        if (total > 100) break;
        total += i * j;
    }
    while (n-- > 0) { if (n & 1) continue; total ^= n; }
    do total++; while (total % 7);
    for (;;) { if (++total % 5 == 0) goto out; }
out:
    return total;
}

static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static int (*const operations[])(int, int) = {plus, minus, [3] = plus};
struct shape { const char *name; int (*area)(int, int); } shapes[] = {{"a", minus}, {.area = plus}};
static int (*pick(int which))(int, int) { return which ? plus : minus; }

int main(void)
{
    static const int values[] = {-6, -5, -1, 0, 1, 2, 'a', 'z', '{', 1000000000};
    for (int i = 0; i < 10; i++) out_int(ranges(values[i]));
    out_int(wide(-1)); out_int(wide(1ul << 32)); out_int(wide(5)); out_int(wide(6));
    for (int e = 0; e < 7; e++) out_int(enums(e, e * 51));
    for (int n = 1; n < 12; n++) { out_int(duff(n)); out_int(loops(n)); }
    out_int(machine("0101102"));
    out_int(yes(1) && no(2) && yes(3)); out_int(no(4) || yes(5) || no(6));
    out_int((yes(7), no(8)) ? yes(9) : no(1)); out_int(calls);
    int x = 5; out_int(x > 3 && x < 9 || x == 2); out_int(!(x && !x));
    out_int(x ?: 3); out_int(0 ?: x);
    for (int i = 0; i < 4; i++) if (operations[i]) out_int(operations[i](9, i));
    out_int(shapes[1].area(2, 3)); out_int((*shapes[0].area)(2, 3)); out_int(pick(1)(4, 5));
    out_int(({ int y = x * 2; y > 5 ? y : -y; }));
    if (x == 5) { x = 1; } else if (x == 1) x = 2; else x = 3;
    out_int(x);
    return 0;
}

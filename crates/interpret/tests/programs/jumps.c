/* setjmp and longjmp, recursion, cleanup, no-return functions. */
#include <setjmp.h>
#include <stdlib.h>
void out_int(long long);

static jmp_buf top, inner;
static int depth;

static void deeper(int n)
{
    depth++;
    if (n == 0) longjmp(top, 42);
    deeper(n - 1);
}

static int nested(volatile int *seen)
{
    switch (setjmp(inner)) {
    case 0: *seen = 1; longjmp(inner, 0); break;
    case 1: *seen += 10; longjmp(inner, 2);
    case 2: *seen += 100; break;
    default: return -1;
    }
    return *seen;
}

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int even(int n); static int odd(int n) { return n ? even(n - 1) : 0; }
static int even(int n) { return n ? odd(n - 1) : 1; }
static void done(int *p) { out_int(*p * 1000); }
static int cleaned(int n)
{
    __attribute__((cleanup(done))) int value = n;
    for (int i = 0; i < 2; i++) { __attribute__((cleanup(done))) int inside = i; if (n > 3 && i) break; }
    if (n > 5) return value + 1;
    value = 9;
    return value;
}
static _Noreturn void leave(int status) { out_int(status); exit(status); }

int main(void)
{
    int result = setjmp(top);
    out_int(result);
    if (result == 0) deeper(6);
    out_int(depth);
    volatile int seen = 0;
    out_int(nested(&seen));
    out_int(fib(12)); out_int(even(30)); out_int(odd(30));
    out_int(cleaned(1)); out_int(cleaned(7));
    int before = 3; result = setjmp(top); out_int(before + result);
    if (result < 3) longjmp(top, result + 1);
    leave(0);
}

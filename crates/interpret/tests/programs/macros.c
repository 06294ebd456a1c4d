/* Code written through macros means what it means without them. */
void out_int(long long);

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SWAP(type, a, b) do { type t_ = (a); (a) = (b); (b) = t_; } while (0)
#define FIELDS X(int, alpha) X(char, beta) X(long, gamma)
#define CAT(a, b) a##b
#define NAME(n) CAT(value_, n)
#define STR(x) #x
#define TEXT(x) STR(x)
#define COUNT(...) (sizeof((int[]){__VA_ARGS__}) / sizeof(int))
#define FIRST(a, ...) a
#define OPTIONAL(a, ...) (a __VA_OPT__(+ FIRST(__VA_ARGS__)))
#define LOOP(n, body) for (int i_ = 0; i_ < (n); i_++) { body; }
#define EMPTY
#define SELF(x) SELF(x)
struct all {
#define X(type, name) type name;
    FIELDS
#undef X
};
static int SELF(int x) { return x + 1; }
static int NAME(1) = 4, NAME(2) = __LINE__;

int main(void)
{
    int a = 3, b = 9, n = 0;
    out_int(MAX(a, b) + MAX(a + b, MAX(b, 2 * a)));
    SWAP(int, a, b); out_int(a); if (a) SWAP(int, a, b); else a = 0;
    out_int(a * 10 + b);
    struct all all = {1, 'b', 3};
#define X(type, name) out_int(all.name); n += sizeof(type);
    FIELDS
#undef X
    out_int(n); out_int(NAME(1) * NAME(2)); out_int(sizeof TEXT(NAME(1))); out_int(TEXT(a + b)[2]);
    out_int(COUNT(1, 2, 3)); out_int(OPTIONAL(4)); out_int(OPTIONAL(4, 5, 6));
    LOOP(3, LOOP(2, n += i_ * a)) out_int(n); out_int(SELF(4)); out_int(EMPTY a EMPTY + b);
    out_int(__COUNTER__ + __COUNTER__ * 2);
#line 500 "elsewhere.c"
    out_int(__LINE__);
    return 0;
}

/* Records read and changed through a `char *` that comes back from outside. */
struct r { int n; struct r *next; char name[8]; }; static struct r a, b, own; static int other;
int main(void) { know("a", &a, sizeof a); know("b", &b, sizeof b); know("own", &own, sizeof own); know("other", &other, 4); out_keep(&a); out_keep(&b); b.next = &a;
    char *bytes = out_fetch(0); see("bytes", bytes); a.n = 1; watch("byte"); bytes[0] = 5; changed("byte"); see_int("n", a.n);
    unsigned char *second = out_fetch(1); struct r *to = &own; watch("copy"); memcpy(bytes + 8, &to, sizeof to); changed("copy"); see("next", a.next);
    see("loaded", *(struct r **)(second + 8)); struct r mine; memcpy(&mine, second, sizeof mine); see("mine", mine.next);
    watch("fill"); memset(second, 1, 4); changed("fill"); see_int("filled", b.n); return 0; }

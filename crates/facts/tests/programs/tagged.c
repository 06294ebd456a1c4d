/* Bits kept in pointers, pointers kept in numbers. */
struct n { int v; struct n *l; }; static struct n a, b; static unsigned long slots[2]; static void *any[2];
static unsigned long tag(void *p) { return (unsigned long)p | 1; } static void *untag(unsigned long t) { return (void *)(t & ~1ul); }
int main(void) { know("a", &a, sizeof a); know("b", &b, sizeof b); know("slots", slots, 16); slots[0] = tag(&a); slots[1] = (unsigned long)&b;
    struct n *p = untag(slots[0]); see("p", p); see("q", (struct n *)slots[1]); p->l = &b; see("l", ((struct n *)untag(slots[0]))->l);
    any[0] = &b; memcpy(&any[1], &any[0], 8); see("any", any[1]); unsigned long d = (char *)&b.l - (char *)&b; see("moved", (char *)any[1] + d);
    watch("w"); ((struct n *)untag(slots[0]))->v = 5; changed("w"); see_int("v", a.v); struct n *x = (struct n *)((unsigned long)&a ^ (unsigned long)&b); x = (struct n *)((unsigned long)x ^ (unsigned long)&a); see("xor", x); return 0; }

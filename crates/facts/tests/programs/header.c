/* Strings with a header in front of what users see. */
struct h { int length; int *owner; char buf[]; };
static int me;
static char *make(int n) { struct h *h = malloc(sizeof *h + n + 1); know("string", h, sizeof *h + n + 1);
    h->length = n; h->owner = &me; memset(h->buf, 'a', n); h->buf[n] = 0; return h->buf; }
static struct h *head(char *s) { return (struct h *)(s - sizeof(struct h)); }
int main(void) { know("me", &me, 4); char *s = make(5), *t = make(2); see("s", s); see("head", head(s)); see("owner", head(t)->owner);
    see("middle", s + 3); watch("set"); head(s)->length = 3; changed("set"); see_int("length", head(s)->length); return 0; }

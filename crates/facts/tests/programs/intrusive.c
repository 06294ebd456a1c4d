/* Links inside of items, and the way back. */
struct link { struct link *prev, *next; };
struct item { char name[8]; int *value; struct link by_name; struct link by_age; };
static struct link names, ages; static int a, b;
static void add(struct link *l, struct link *n) { n->next = l->next; n->prev = l; l->next->prev = n; l->next = n; }
int main(void) { struct item x = { "x", &a }, *y = malloc(sizeof *y); y->value = &b; names.next = names.prev = &names;
    ages.next = ages.prev = &ages; know("x", &x, sizeof x); know("y", y, sizeof *y); know("a", &a, 4); know("b", &b, 4);
    know("names", &names, sizeof names); add(&names, &x.by_name); watch("add"); add(&names, &y->by_name); changed("add"); add(&ages, &x.by_age);
    for (struct link *l = names.next; l != &names; l = l->next) { see("link", l);
        struct item *i = container_of(l, struct item, by_name); see("item", i); see("value", i->value); see("name", i->name); }
    see("age", container_of(ages.next, struct item, by_age)); see("back", names.prev); return 0; }

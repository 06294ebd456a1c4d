//! Where pointers may point: each test shows both that the targets are found and that
//! others are kept out.

use crate::common::analyse;

#[test]
fn members_are_told_apart() {
    let known = analyse(
        "struct s { int *a; int *b; } g; int x, y;
         void f(void) { g.a = &x; g.b = &y; see(\"a\", g.a); see(\"b\", g.b);
            struct s *p = &g; see(\"through\", p->b); }",
    );
    assert_eq!(known.points_to("a"), ["x"]);
    assert_eq!(known.points_to("b"), ["y"]);
    assert_eq!(known.points_to("through"), ["y"]);
}

#[test]
fn elements_of_an_array_are_one_and_members_in_them_are_not() {
    let known = analyse(
        "struct s { int *a; int *b; } g[4]; int x, y, z; int *plain[3];
         void f(int i) { g[1].a = &x; g[i].b = &y; plain[2] = &z;
            see(\"a\", g[3].a); see(\"b\", g[0].b); see(\"plain\", plain[i]); }",
    );
    assert_eq!(known.points_to("a"), ["x"]);
    assert_eq!(known.points_to("b"), ["y"]);
    assert_eq!(known.points_to("plain"), ["z"]);
}

#[test]
fn each_allocation_is_an_object_even_through_a_wrapper() {
    let known = analyse(
        "struct s { struct s *next; int *p; }; int x, y;
         static void *get(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
         int main(void) { struct s *a = get(sizeof *a), *b = get(sizeof *b);
            a->p = &x; b->p = &y; a->next = b;
            see(\"a\", a); see(\"ap\", a->p); see(\"bp\", a->next->p); return 0; }",
    );
    assert_eq!(known.points_to("a"), ["heap main:1"]);
    assert_eq!(known.points_to("ap"), ["x"]);
    assert_eq!(known.points_to("bp"), ["y"]);
}

#[test]
fn memory_that_moves_keeps_its_pointers() {
    let known = analyse(
        "int x; int main(void) { int **a = malloc(8); *a = &x; int **b = realloc(a, 16);
            see(\"b\", b); see(\"held\", b[0]); return 0; }",
    );
    assert!(known.points_to("b").contains(&"heap main:2".to_owned()));
    assert_eq!(known.points_to("held"), ["x"]);
}

#[test]
fn functions_in_tables_and_parameters() {
    let known = analyse(
        "static int *one(int *p) { return p; } static int *two(int *p) { return p + 1; }
         static int *other(int *p) { return p; } int x[2];
         static int *(*const table[])(int *) = { one, two };
         static int *apply(int *(*f)(int *), int *p) { return f(p); }
         int main(int c, char **v) { see(\"table\", table[c](x)); see(\"applied\", apply(other, x));
            return 0; }",
    );
    assert_eq!(known.pointer_targets("main"), ["one", "two"]);
    assert_eq!(known.pointer_targets("apply"), ["other"]);
    assert_eq!(known.points_to("table"), ["x"]);
    assert_eq!(known.points_to("applied"), ["x"]);
}

#[test]
fn members_of_a_union_share_memory() {
    let known = analyse(
        "union u { int *a; char *b; long n; } g; struct t { int k; union { int *p; char **q; }; };
         int x; struct t t;
         void f(void) { g.a = &x; see(\"b\", g.b); t.p = &x; see(\"q\", t.q);
            see(\"number\", (void *)g.n); }",
    );
    assert_eq!(known.points_to("b"), ["x"]);
    assert_eq!(known.points_to("q"), ["x"]);
    assert!(known.may_point_into("number", "x"));
}

#[test]
fn copies_of_memory_copy_pointers_member_by_member() {
    let known = analyse(
        "struct s { int *a; int *b; }; struct o { int k; struct s in; }; int x, y, z;
         static struct s g, h, i; static struct o big;
         static struct s make(void) { struct s s; s.a = &z; s.b = &x; return s; }
         int main(void) { g.a = &x; g.b = &y; h = g; memcpy(&i, &g, sizeof i); big.in = h;
            see(\"assigned\", h.a); see(\"copied\", i.b); see(\"nested\", big.in.b);
            struct s m = make(); see(\"returned\", m.a); return 0; }",
    );
    assert_eq!(known.points_to("assigned"), ["x"]);
    assert_eq!(known.points_to("copied"), ["y"]);
    assert_eq!(known.points_to("nested"), ["y"]);
    assert!(known.points_to("returned").contains(&"z".to_owned()));
}

#[test]
fn bytes_copied_one_by_one_carry_pointers() {
    let known = analyse(
        "struct s { char tag[8]; int *a; }; int x; static struct s g, h;
         int main(void) { g.a = &x; char *to = (char *)&h, *from = (char *)&g;
            for (unsigned i = 0; i < sizeof g; i++) to[i] = from[i];
            see(\"walk\", to + 8); see(\"member\", &h.a); return 0; }",
    );
    // The byte itself is no pointer that is followed, but it is written there.
    let walk = known.points_to("walk");
    assert!(walk.contains(&"h+8".to_owned()) || walk.contains(&"h+?".to_owned()), "{walk:?}");
    assert!(known.points_to("member").contains(&"h+8".to_owned()));
}

#[test]
fn casts_keep_what_a_pointer_points_to() {
    let known = analyse(
        "int x; static void *hold; static intptr_t number;
         int main(void) { hold = &x; number = (intptr_t)&x;
            see(\"void\", hold); see(\"char\", (char *)hold + 2);
            see(\"number\", (int *)number); see(\"tagged\", (int *)((intptr_t)&x | 1));
            return 0; }",
    );
    assert_eq!(known.points_to("void"), ["x"]);
    for label in ["char", "number", "tagged"] {
        assert!(known.may_point_into(label, "x"), "{label}");
    }
}

#[test]
fn members_reached_by_their_offset_in_bytes() {
    let known = analyse(
        "struct s { char tag[4]; int n; int *a; int b[4]; int *c; }; int x, y;
         static struct s g; static int *at(void *p, int offset) { return *(int **)((char *)p + 8); }
         int main(void) { g.a = &x; g.c = &y; struct s *h = malloc(sizeof *h); h->a = &y;
            see(\"by offset\", *(int **)((char *)&g + offsetof(struct s, a)));
            see(\"past an array\", (char *)&g.b[0] + sizeof g.b);
            see(\"heap\", *(int **)((char *)h + offsetof(struct s, a)));
            see(\"callee\", at(&g, 8)); return 0; }",
    );
    assert_eq!(known.points_to("by offset"), ["x"]);
    assert_eq!(known.points_to("heap"), ["y"]);
    assert_eq!(known.points_to("callee"), ["x"]);
    assert!(known.may_point_into("past an array", "g"));
}

#[test]
fn the_record_around_a_member() {
    let known = analyse(
        "struct link { struct link *next; }; struct in { char name[8]; };
         struct item { int *p; struct link link; struct in in; char tail[]; }; int x;
         static struct item one, two;
         static struct item *back(struct link *l) { return container_of(l, struct item, link); }
         int main(void) { one.p = &x; two.link.next = &one.link;
            struct item *heap = malloc(sizeof *heap + 8); heap->p = &x;
            see(\"item\", back(two.link.next)); see(\"p\", back(&one.link)->p);
            see(\"array\", container_of(&one.in, struct item, in));
            see(\"tail\", container_of(heap->tail, struct item, tail)->p); return 0; }",
    );
    assert!(known.points_to("item").contains(&"one".to_owned()));
    assert_eq!(known.points_to("p"), ["x"]);
    let array = known.points_to("array");
    assert!(array.contains(&"one".to_owned()) || array.contains(&"one+?".to_owned()), "{array:?}");
    assert_eq!(known.points_to("tail"), ["x"]);
}

#[test]
fn variable_arguments() {
    let known = analyse(
        "typedef __builtin_va_list va_list; int x, y;
         static int *last(int n, ...) { va_list l; __builtin_va_start(l, n); int *p = 0;
            while (n--) p = __builtin_va_arg(l, int *); __builtin_va_end(l); return p; }
         int main(void) { see(\"last\", last(2, &x, &y)); return 0; }",
    );
    let last = known.points_to("last");
    assert!(last.contains(&"x".to_owned()) && last.contains(&"y".to_owned()), "{last:?}");
}

#[test]
fn what_escapes_may_come_back() {
    let known = analyse(
        "struct s { int *p; int n; }; extern void keep(void *); extern int *fetch(void);
         extern struct s *fetch_s(void); extern struct s **fetch_p(void);
         static int out, kept_in; static struct s rec, inner_rec; static struct { long k; struct s in; } outer;
         static int *cell; static char text[8]; extern char *fetch_text(void);
         int main(void) { keep(&out); keep(&rec); keep(&outer); keep(&cell); keep(text);
            rec.p = &kept_in;
            see(\"int\", fetch()); see(\"record\", fetch_s()); see(\"held\", fetch_s()->p);
            see(\"pointer\", *fetch_p()); see(\"cell\", cell); see(\"text\", fetch_text());
            struct s copy = rec; see(\"copy\", copy.p); return 0; }",
    );
    assert!(known.may_point_into("int", "out"));
    assert!(known.may_point_into("int", "rec"), "a pointer to its member n");
    assert!(!known.may_point_into("int", "inner_rec"), "which never escaped");
    assert!(known.may_point_into("record", "rec"));
    assert!(known.may_point_into("record", "outer"), "the record inside");
    assert!(known.may_point_into("pointer", "rec"));
    assert!(known.may_point_into("text", "text"));
    for label in ["held", "cell", "copy"] {
        assert!(known.may_point_into(label, "kept_in"), "{label}: put there from outside");
        assert!(known.may_point_into(label, "out"), "{label}");
    }
}

#[test]
fn what_an_entry_returns_or_is_given_is_known_outside() {
    let known = analyse(
        "static int own, private; int *get(void) { return &own; }
         void set(int *p, int *q) { see(\"p\", p); see(\"q\", q); see(\"private\", &private); }",
    );
    assert!(known.may_point_into("p", "own"));
    assert_eq!(known.points_to("p"), known.points_to("q"), "both may be the same");
    assert!(!known.may_point_into("p", "private"));
}

#[test]
fn records_that_begin_alike_stand_for_each_other() {
    let known = analyse(
        "struct addr { unsigned short family; char data[14]; };
         struct addr_in { unsigned short family; unsigned short port; unsigned ip; };
         struct other { double d; };
         static struct addr_in in; static struct other other;
         int main(int c, char **v) { struct addr *a = c ? (struct addr *)&in : (struct addr *)&other;
            see(\"family\", &a->family); see(\"data\", a->data); return 0; }",
    );
    assert_eq!(known.points_to("family"), ["in"], "the common start, and no unrelated record");
    assert!(known.may_point_into("data", "in"), "bytes are a view of anything");
}

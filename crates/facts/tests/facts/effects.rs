//! What functions and calls may read, write and free; summaries; the call graph.

use crate::common::analyse;

#[test]
fn a_helper_touches_what_its_caller_hands_it() {
    let known = analyse(
        "struct s { int a; int b; }; static struct s x, y; static int other;
         static void set(struct s *p) { p->b = 1; }
         static void both(struct s *p, struct s *q) { set(p); other = q->a; }
         int main(void) { set(&x); see_int(\"x\", x.b); both(&y, &x); return y.b; }",
    );
    assert_eq!(known.written_by_call("main", "set"), ["x+4"]);
    assert_eq!(known.written_by_call("main", "both"), ["other", "y+4"]);
    let reads = known.names(&known.effects_of_call("main", "both").reads);
    assert_eq!(reads, ["x"]);
}

#[test]
fn a_step_over_a_member_of_bytes_is_seen_by_callers() {
    let known = analyse(
        "struct s { char name[8]; int x; int y; }; static struct s g;
         static void low_byte(struct s *p) { *((char *)&p->x + 1) = 1; }
         static void header(char *p) { ((struct s *)(p - 8))->y = 2; }
         int main(void) { low_byte(&g); see_int(\"x\", g.x); header((char *)&g.x);
            return g.name[0] + g.y; }",
    );
    let low = known.written_by_call("main", "low_byte");
    assert!(low.contains(&"g+8".to_owned()), "{low:?}");
    let header = known.written_by_call("main", "header");
    assert!(header.contains(&"g+12".to_owned()), "{header:?}");
}

#[test]
fn pointers_and_globals_and_recursion() {
    let known = analyse(
        "struct n { struct n *next; int v; }; static struct n a, b; static int count, quiet;
         static void walk(struct n *p) { if (!p) return; p->v = 1; count++; walk(p->next); }
         static void (*hook)(struct n *) = walk;
         int main(void) { a.next = &b; walk(&a); hook(&b); return count + quiet + b.v; }",
    );
    let written = known.written_by_call("main", "walk");
    assert_eq!(written, ["a+8", "b+8", "count"]);
    let main = known.function("main");
    let writes = known.names(&known.facts.effects.of_function(main).writes);
    assert!(writes.contains(&"count".to_owned()) && !writes.contains(&"quiet".to_owned()));
}

#[test]
fn library_functions_write_and_free_what_they_are_given() {
    let known = analyse(
        "static char text[8], other[8]; static int numbers[4]; static char *end;
         static int order(const void *a, const void *b) { return *(int *)a - *(int *)b; }
         int main(void) { strcpy(text, other); qsort(numbers, 4, 4, order); char *p = malloc(3);
            strtol(other, &end, 10); free(p); return text[0] + *end; }",
    );
    assert!(known.written_by_call("main", "strcpy").iter().all(|cell| cell.starts_with("text")));
    assert!(known.written_by_call("main", "strcpy").contains(&"text".to_owned()));
    let sorted = known.effects_of_call("main", "qsort");
    assert!(known.names(&sorted.writes).iter().all(|cell| cell.starts_with("numbers")));
    assert!(known.names(&sorted.writes).contains(&"numbers".to_owned()));
    assert!(known.names(&sorted.reads).contains(&"numbers".to_owned()), "by the comparison");
    assert_eq!(known.written_by_call("main", "strtol"), ["end"]);
    let freed = known.effects_of_call("main", "free").frees;
    let freed: Vec<_> = freed.iter().map(|id| known.object_name(facts::ObjectId(id))).collect();
    assert_eq!(freed, ["heap main:3"]);
    let compared = known.points_to_in("order");
    assert!(compared.contains(&"numbers".to_owned()), "{compared:?}");
    assert!(compared.iter().all(|cell| cell.starts_with("numbers")), "{compared:?}");
}

#[test]
fn code_outside_touches_what_escaped_and_nothing_else() {
    let known = analyse(
        "extern void outside(void); extern void keep(int *); static int out, own;
         void callback(void) { out = 1; }
         int main(void) { keep(&out); outside(); own = 3; see_int(\"own\", own); return out; }",
    );
    let written = known.written_by_call("main", "outside");
    assert!(written.contains(&"out".to_owned()) && !written.contains(&"own".to_owned()));
}

#[test]
fn a_write_through_memory_from_outside_reaches_escaped_objects() {
    let known = analyse(
        "struct s { int a; int *p; }; extern void keep(void *); extern struct s *fetch(void);
         static struct s rec; static int number, own;
         static void set(struct s *q) { q->a = 1; }
         static void put(int *q) { *q = 2; }
         int main(void) { keep(&rec); keep(&number); own = 1; set(fetch()); put(&fetch()->a);
            return rec.a + number + own; }",
    );
    let set = known.written_by_call("main", "set");
    assert!(set.contains(&"rec".to_owned()), "{set:?}");
    assert!(!set.contains(&"own".to_owned()) && !set.contains(&"number".to_owned()), "{set:?}");
    let put = known.written_by_call("main", "put");
    assert!(put.contains(&"rec".to_owned()) && !put.contains(&"own".to_owned()), "{put:?}");
}

#[test]
fn summaries_of_helpers() {
    let known = analyse(
        "static int *last; static void keep(int *p) { last = p; }
         static void use(int *p, int *q) { *p = 1; if (q) *q = 2; }
         static char *skip(char *p) { while (*p == ' ') p++; return p; }
         static void *get(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
         static int state(int n) { if (n) return -1; return 7; }
         static void release(void *a, void *b) { free(b); }
         _Noreturn static void die(void) { abort(); }
         int main(int c, char **v) { int x; keep(&x); use(&x, 0); release(0, get(state(c)));
            if (c > 9) die(); return *skip(v[0]); }",
    );
    let of = |name: &str| known.facts.summaries.of(known.function(name));
    assert_eq!(of("keep").keeps, [0]);
    assert!(of("use").keeps.is_empty());
    assert_eq!(of("use").always_dereferences, [0]);
    assert_eq!(of("skip").returns_param, [0]);
    assert!(of("get").returns_fresh && !of("skip").returns_fresh);
    assert_eq!(of("state").returns_constants, Some(vec![-1, 7]));
    assert_eq!(of("release").frees, [1]);
    assert!(of("die").never_returns && !of("get").never_returns);
}

#[test]
fn who_calls_whom() {
    let known = analyse(
        "static void a(void); static void b(void) { a(); } static void a(void) { b(); }
         static void leaf(void) {} static void alone(void) { leaf(); }
         extern void outside(void (*)(void)); static void given(void) {}
         int main(void) { a(); alone(); outside(given); return 0; }",
    );
    let calls = &known.facts.calls;
    let id = |name: &str| known.function(name);
    assert!(calls.is_recursive(id("a")) && calls.is_recursive(id("b")));
    assert!(!calls.is_recursive(id("alone")));
    assert_eq!(calls.component(id("a")), calls.component(id("b")));
    assert!(calls.component(id("leaf")) < calls.component(id("alone")));
    assert!(calls.all_callers_known(id("leaf")));
    assert!(!calls.all_callers_known(id("given")), "its address went outside");
    assert!(calls.entries().contains(&id("main")) && calls.entries().contains(&id("given")));
}

/// A function that the program itself calls is believed to be called from there alone: the
/// closed world of decision 004.
#[test]
fn a_function_with_callers_has_no_others() {
    let known =
        analyse("int f(int n) { see_int(\"n\", n); return n; } int g(void) { return f(3); }");
    assert!(known.facts.calls.all_callers_known(known.function("f")));
    assert_eq!(known.signed_range("n"), (3, 3));
}

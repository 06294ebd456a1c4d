//! Which writes reach a load.

use program::{InstId, Op};

use crate::common::{Analysed, analyse};

/// The number a store writes, for stores of constants.
fn stored(known: &Analysed, function: &str, inst: InstId) -> Option<i128> {
    let Op::Store { value: program::Operand::Const(id), .. } =
        &known.body(known.function(function)).insts[inst].op
    else {
        return None;
    };
    match known.program.constants[*id] {
        program::Const::Int { value, .. } => Some(value),
        _ => None,
    }
}

/// The constants of the stores that reach a load of `main`; -1 for what was there before,
/// -2 for other writes.
fn reaching(known: &Analysed, label: &str) -> Vec<i128> {
    let writes = known.reaching_writes(label).into_iter();
    let mut values: Vec<i128> = writes
        .map(|write| write.map_or(-1, |inst| stored(known, "main", inst).unwrap_or(-2)))
        .collect();
    values.sort_unstable();
    values
}

#[test]
fn a_certain_write_hides_those_before() {
    let known = analyse(
        "static int g, other; int main(void) { g = 1; other = 5; g = 2; see_int(\"g\", g); return other; }",
    );
    assert_eq!(reaching(&known, "g"), [2]);
}

#[test]
fn branches_and_loops_merge() {
    let known = analyse(
        "static int g, h; int main(int c, char **v) { g = 1; if (c) g = 2; see_int(\"if\", g);
            h = 3; while (c--) { see_int(\"loop\", h); h = 4; } return g; }",
    );
    assert_eq!(reaching(&known, "if"), [1, 2]);
    assert_eq!(reaching(&known, "loop"), [3, 4]);
}

#[test]
fn uncertain_writes_leave_older_ones() {
    let known = analyse(
        "static int g, h, a[4]; static void set(int *p) { *p = 9; }
         int main(int c, char **v) { int *p = c ? &g : &h; g = 1; *p = 2; see_int(\"alias\", g);
            a[c] = 3; a[1] = 4; see_int(\"array\", a[0]); h = 5; set(&h); see_int(\"call\", h);
            return 0; }",
    );
    assert_eq!(reaching(&known, "alias"), [1, 2]);
    assert_eq!(reaching(&known, "array"), [-1, 3, 4]);
    assert_eq!(reaching(&known, "call"), [-2, 5]);
}

#[test]
fn a_write_narrower_than_the_read_hides_nothing() {
    let known = analyse(
        "struct s { int a; int b; }; static struct s g; static long whole;
         int main(void) { memset(&g, 1, sizeof g); g.a = 2; see_int(\"wide\", *(long *)&g);
            see_int(\"narrow\", g.a); whole = 3; *(int *)&whole = 4; see_int(\"half\", whole);
            return 0; }",
    );
    assert_eq!(reaching(&known, "wide"), [-2, -1, 2], "the other half comes from before");
    assert_eq!(reaching(&known, "narrow"), [2]);
    assert_eq!(reaching(&known, "half"), [3, 4]);
}

#[test]
fn the_middle_of_a_scalar_and_its_neighbour() {
    let known = analyse(
        "struct s { int a; int b; }; static struct s g;
         int main(void) { g.a = 1; g.b = 2; *(int *)((char *)&g + 2) = 3; see_int(\"a\", g.a);
            *(int *)((char *)&g + 2) = 5; see_int(\"b\", g.b); return 0; }",
    );
    assert_eq!(reaching(&known, "a"), [1, 3]);
    assert!(reaching(&known, "b").contains(&5), "{:?}", reaching(&known, "b"));
}

#[test]
fn memory_from_outside_may_be_ours() {
    let known = analyse(
        "extern void keep(int *); extern int *fetch(void); static int out, own;
         int main(void) { keep(&out); int *p = fetch(); out = 1; own = 2; *p = 3;
            see_int(\"out\", out); see_int(\"own\", own); out = 4; see_int(\"p\", *p); return 0; }",
    );
    assert_eq!(reaching(&known, "out"), [1, 3]);
    assert_eq!(reaching(&known, "own"), [2]);
    assert!(reaching(&known, "p").contains(&4));
}

#[test]
fn locals_of_a_function_that_calls_itself_are_several() {
    let known = analyse(
        "static int *hold; int main(int c, char **v) { int x = 1; if (c == 1) hold = &x;
            if (c < 3) main(c + 1, v); *hold = 2; see_int(\"x\", x); return 0; }",
    );
    let writes = reaching(&known, "x");
    assert!(writes.contains(&1) && writes.contains(&2), "hold may be another call's: {writes:?}");
}

//! Dominators, loops, induction variables and trip counts of compiled C.

use facts::LoopFacts;
use program::{BlockId, Terminator};

use crate::common::{Analysed, analyse};

fn block_of(known: &Analysed, label: &str) -> BlockId {
    let asked = known.asked(label);
    known.body(asked.function).insts[asked.inst].block
}

#[test]
fn dominators_with_an_endless_loop_and_code_nobody_reaches() {
    let known = analyse(
        "int f(int c) { see_int(\"top\", c); if (c) { see_int(\"then\", c); for (;;) see_int(\"ever\", c); }
            see_int(\"after\", c); return c; see_int(\"dead\", c); goto dead; dead: return 1; }",
    );
    let cfg = known.facts.cfg(known.function("f")).unwrap();
    let block = |label: &str| block_of(&known, label);
    assert!(cfg.dominates(block("top"), block("ever")));
    assert!(cfg.dominates(block("then"), block("ever")));
    assert!(!cfg.dominates(block("then"), block("after")));
    assert!(!cfg.post_dominates(block("after"), block("top")), "a run may stay in the loop");
    assert!(!cfg.post_dominates(block("ever"), block("top")));
    for (dead, _) in known.body(known.function("f")).blocks.iter_enumerated() {
        assert!(!cfg.is_reachable(dead) || cfg.dominates(block("top"), dead));
    }
    let endless = known.loops("f");
    assert_eq!(endless.len(), 1);
    assert!(endless[0].trip_counts.is_empty());
    let returns = cfg.returns().iter().filter(|&&b| {
        matches!(known.body(known.function("f")).blocks[b].terminator, Terminator::Return(_))
    });
    assert_eq!(returns.count(), cfg.returns().len());
}

fn trips(text: &str) -> Vec<Option<u128>> {
    let known = analyse(text);
    known.loops("f").into_iter().map(LoopFacts::max_trips).collect()
}

#[test]
fn loops_that_count() {
    assert_eq!(
        trips("void f(void) { for (int i = 0; i < 10; i++) see_int(\"i\", i); }"),
        [Some(10)]
    );
    assert_eq!(
        trips("void f(void) { for (int i = 9; i >= 0; i--) see_int(\"i\", i); }"),
        [Some(10)]
    );
    assert_eq!(
        trips("void f(void) { for (unsigned i = 0; i != 12; i += 2) see_int(\"i\", i); }"),
        [Some(6)]
    );
    assert_eq!(
        trips("void f(void) { for (int i = 0; i < 9; i += 2) see_int(\"i\", i); }"),
        [Some(5)]
    );
    assert_eq!(
        trips("void f(void) { unsigned i = 7; while (i-- > 0) see_int(\"i\", i); }"),
        [Some(7)]
    );
    assert_eq!(
        trips("void f(void) { unsigned char i = 0; do see_int(\"i\", i); while (++i < 200); }"),
        [Some(199)],
        "jumps back, not rounds"
    );
}

#[test]
fn counts_that_wrap_are_not_claimed() {
    let none: [Option<u128>; 1] = [None];
    assert_eq!(
        trips("void f(void) { for (unsigned i = 9; i >= 0; i--) see_int(\"i\", i); }"),
        none
    );
    assert_eq!(
        trips("void f(void) { for (unsigned i = 0; i != 7; i += 2) see_int(\"i\", i); }"),
        none
    );
    assert_eq!(
        trips("void f(void) { for (unsigned char i = 0; i < 300; i++) see_int(\"i\", i); }"),
        none
    );
    assert_eq!(
        trips(
            "void f(void) { for (unsigned i = 1; i < 4000000000u; i += 2000000000u) see_int(\"i\", i); }"
        ),
        [Some(2)]
    );
    assert_eq!(
        trips("void f(void) { for (unsigned i = 3; i; i += 3) see_int(\"i\", i); }"),
        none,
        "only by wrapping"
    );
    assert_eq!(
        trips("void f(void) { for (unsigned char i = 250; i < 255; i += 10) see_int(\"i\", i); }"),
        none,
        "for ever: all even"
    );
    assert_eq!(
        trips("void f(void) { for (unsigned char i = 250; i > 0; i--) see_int(\"i\", i); }"),
        [Some(250)]
    );
    assert_eq!(
        trips("void f(void) { for (int i = 300; (unsigned char)i < 100; i++) see_int(\"i\", i); }"),
        [Some(56)]
    );
    assert_eq!(
        trips(
            "void f(void) { for (int i = 0; i < 300; i = (unsigned char)(i + 1)) see_int(\"i\", i); }"
        ),
        none
    );
}

#[test]
fn induction_variables_have_start_and_step() {
    let known = analyse(
        "void f(int *p, int n, int k) { int j = 5; for (int i = 0; i < n; i++) { p[j] = i; j -= 3;
            p += 2; } for (int m = 0; m < n; m += k) p[m] = 0; }",
    );
    let all = || known.loops("f").into_iter().flat_map(|known| &known.inductions);
    let mut steps: Vec<i128> = all().filter_map(|i| i.constant_step()).collect();
    steps.sort_unstable();
    assert_eq!(steps, [-3, 1, 8]);
    assert_eq!(all().filter(|i| i.constant_step().is_none()).count(), 1, "the step k");
}

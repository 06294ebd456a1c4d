//! Each stage proves what the stage before it does not.

use facts::checks::{CheckKind, Checks, Proved, Stage, parameters, prove};
use facts::octagon::Proofs;
use facts::{Facts, Options};

use crate::common::import;

/// What proves the checks of a function.
fn proved(text: &str, name: &str) -> Proved {
    let program = import(text);
    let facts = Facts::compute(&program, &Options::default());
    let (id, function) = program
        .functions
        .iter_enumerated()
        .find(|(_, function)| &*function.name == name)
        .expect("the function is there");
    let body = function.body.as_ref().expect("it has a body");
    let proofs = Proofs::new(&program, function, body, &parameters(&facts, id));
    prove((&program, &facts), id, &Checks::of(&program, body), &proofs)
}

/// What proves the only upper bound of an index.
fn upper(text: &str) -> Option<Stage> {
    let proved = proved(text, "f");
    let is_upper = |kind: &CheckKind| matches!(kind, CheckKind::Upper { .. });
    let mut stages = proved.by.iter().filter(|(check, _)| is_upper(&check.kind));
    let (_, stage) = stages.next().expect("there is an upper bound");
    assert!(stages.next().is_none(), "there is but one: {proved:?}");
    *stage
}

#[test]
fn intervals_prove_what_a_constant_bounds() {
    let text = "int a[8]; int f(unsigned x) { return a[x & 7]; }";
    assert_eq!(upper(text), Some(Stage::Intervals));
}

#[test]
fn octagons_prove_what_another_variable_bounds() {
    let text = "int a[8];
        int f(int i, int n) {
            if (n > 8 || i < 0) return 0;
            if (i < n) return a[i];
            return 1;
        }";
    assert_eq!(upper(text), Some(Stage::Octagons));
}

#[test]
fn disjunctions_prove_what_a_mark_in_the_middle_hides() {
    let text = "int a[8]; int names[8];
        int f(int name) {
            int i, k = 99;
            for (i = 0; i < 8; i++)
                if (names[i * 0] == name) k = i;
            if (k == 99) return -1;
            return a[k];
        }";
    let proved = proved(text, "f");
    let stages: Vec<_> = proved
        .by
        .iter()
        .filter(|(check, _)| matches!(check.kind, CheckKind::Upper { .. }))
        .map(|(_, stage)| *stage)
        .collect();
    assert!(stages.contains(&Some(Stage::Disjunctions)), "{proved:?}");
    assert!(!stages.contains(&None), "{proved:?}");
}

#[test]
fn disjunctions_keep_what_both_parts_of_a_condition_say() {
    let text = "int a[8];
        int f(int n, int m) {
            int i = 0, ok;
            if (n > 8) return 0;
            ok = i < m && m < n;
            return ok ? a[m] : 0;
        }";
    assert_eq!(upper(text), Some(Stage::Disjunctions));
}

#[test]
fn an_assertion_that_another_variable_proves_is_proved() {
    let text = " 
        int f(int i, int n) { if (i < n) if (i == n) abort(); return n; }
        int g(int i, int n) { if (i <= n) if (i == n) abort(); return n; }";
    let stage = |name: &str| {
        let proved = proved(text, name);
        let mut found = proved.by.iter().filter(|(check, _)| check.kind == CheckKind::Unreached);
        *found.next().expect("there is an assertion").1
    };
    assert!(stage("f").is_some());
    assert_eq!(stage("g"), None);
}

#[test]
fn what_can_be_violated_is_proved_by_nothing() {
    let text = "int a[8];
        int f(int i, int n) {
            if (n > 9 || i < 0) return 0;
            if (i < n) return a[i];
            return 1;
        }";
    assert_eq!(upper(text), None);
    let text = "int a[8];
        int f(int n) {
            int i, k = 99;
            for (i = 0; i < 9; i++)
                if (n == i) k = i;
            if (k == 99) return -1;
            return a[k];
        }";
    assert_eq!(upper(text), None);
}

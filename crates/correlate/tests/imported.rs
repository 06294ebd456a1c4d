//! Faults of other tools: where they belong, and what follows from them.

mod support;

use std::collections::BTreeSet;

use correlate::Imported;
use findings::{Fault, FaultOrigin, Findings, Place, Severity, Verdict};

const SOURCE: &str = "\
extern int fetch(void);
int table[8];
int main(void) {
  int n = fetch();
  int k = n * 4;
  if (n > 0)
    table[k] = 1;
  return k;
}
";

fn foreign(rule: &str, file: &str, line: u32, cwe: &[u32]) -> Fault {
    Fault {
        id: String::new(),
        rule: rule.to_owned(),
        cwe: cwe.to_vec(),
        severity: Severity::Warning,
        verdict: Verdict::Unsafe,
        place: Place { file: file.to_owned(), line, ..Place::default() },
        message: "said so (other)".to_owned(),
        input_dependent: false,
        level: findings::Level::Likely,
        witness: None,
        origin: FaultOrigin::Imported,
        segments: Vec::new(),
        n_paths: None,
        error_state: String::new(),
        fingerprint: String::new(),
        group: None,
    }
}

fn correlated(faults: Vec<Fault>, alone: bool) -> (Findings, BTreeSet<usize>) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("foreign.c");
    std::fs::write(&path, SOURCE).expect("the scratch folder is writable");
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let mut findings = Findings::new();
    let imported = Imported { faults, alone };
    let program = support::program(&path);
    let settings = detect::Settings::default();
    let facts = settings.facts(&program);
    let placed = correlate::check_with(
        (&program, &facts),
        &rules,
        &settings,
        &imported,
        &mut findings,
        &|_, work| work(),
    );
    findings.finish();
    (findings, placed)
}

#[test]
fn a_foreign_fault_has_effects_that_ours_alone_would_not_show() {
    let (ours, _) = correlated(Vec::new(), false);
    assert!(ours.faults.is_empty(), "{:?}", ours.faults);
    let (both, placed) = correlated(vec![foreign("x", "foreign.c", 5, &[190])], false);
    assert_eq!(placed, BTreeSet::from([0]));
    let lines: Vec<(u32, FaultOrigin)> =
        both.faults.iter().map(|f| (f.place.line, f.origin)).collect();
    assert_eq!(lines[0], (5, FaultOrigin::Imported));
    assert!(lines[1..].iter().all(|at| *at == (7, FaultOrigin::Correlation)), "{lines:?}");
    assert!(lines.len() > 1, "{lines:?}");
    assert!(both.correlations.iter().all(|edge| edge.from == "F1" && edge.unique));
}

#[test]
fn words_find_the_rule_where_no_number_does_and_strangers_are_left_out() {
    let faults = vec![
        foreign("IntegerOverflow", "foreign.c", 6, &[]),
        foreign("style.Braces", "foreign.c", 5, &[]),
        foreign("IntegerOverflow", "other.c", 5, &[]),
        foreign("IntegerOverflow", "foreign.c", 400, &[]),
    ];
    let (findings, placed) = correlated(faults, true);
    assert_eq!(placed, BTreeSet::from([0]));
    assert_eq!(findings.faults[0].place.line, 5);
}

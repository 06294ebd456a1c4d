//! Scoring on answers made by hand: wrong rule, wrong line, wrong part, and what is never shown.

use findings::{DontKnow, FaultOrigin, Level, Place, Segment, Severity, Step, Verdict};

use super::*;
use crate::case::{Line, PartInfo};

/// Lines 1-3 are of a right part, 4-6 of one with a wrong variant (line 5 only in that), 7 and 8
/// of `main`.
fn case(rules: &[&str]) -> Case {
    let parts = [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1), None, None];
    let line = |(at, part): (usize, &Option<usize>)| Line {
        text: format!("line {}", at + 1),
        part: *part,
        is_wrong: at == 4,
    };
    let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
    let part = |idiom: &str, variant| PartInfo { idiom: idiom.to_owned(), variant };
    Case {
        lines: parts.iter().enumerate().map(line).collect(),
        parts: vec![part("list", None), part("ring", Some(("late".to_owned(), rules)))],
    }
}

fn place(line: u32) -> Place {
    Place { file: SOURCE.to_owned(), line, ..Place::default() }
}

fn fault(rule: &str, line: u32) -> Fault {
    Fault {
        id: String::new(),
        rule: rule.to_owned(),
        cwe: Vec::new(),
        severity: Severity::Error,
        verdict: Verdict::Unsafe,
        place: place(line),
        message: String::new(),
        level: Level::Likely,
        input_dependent: true,
        witness: None,
        origin: FaultOrigin::Detection,
        segments: Vec::new(),
        n_paths: None,
        error_state: String::new(),
        fingerprint: String::new(),
        group: None,
    }
}

fn findings(faults: Vec<Fault>) -> Findings {
    Findings { faults, ..Findings::default() }
}

fn seen(rule: &'static str, lines: &[u32], message: &str) -> Seen {
    Seen { rule, stack: lines.iter().map(|l| place(*l)).collect(), message: message.to_owned() }
}

fn shown(case: &Case, rule: &'static str, line: u32) -> Shown {
    Shown::new(case, seen(rule, &[line], "heap-buffer-overflow"), &Input::default())
}

#[test]
fn a_fault_of_the_family_in_the_part_is_found() {
    let case = case(&["buffer-overflow"]);
    let native = [shown(&case, "buffer-overflow", 5)];
    let ask = |rule: &str, line| {
        let findings = findings(vec![fault(rule, line)]);
        seeded(&case, &native, Some(&findings), None)[0].clone()
    };
    assert!(ask("buffer-overread", 6).by_static);
    assert!(!ask("leak", 6).is_found(), "another rule");
    assert!(!ask("buffer-overflow", 3).is_found(), "another part");
    assert!(!ask("buffer-overflow", 7).is_found(), "main");
    assert!(ask("leak", 6).is_shown);
    let right_part = [shown(&case, "buffer-overflow", 2)];
    assert!(!seeded(&case, &right_part, None, None)[0].is_shown);
}

#[test]
fn a_leak_is_also_known_by_its_steps() {
    let case = case(&["leak"]);
    let mut lost = fault("leak", 8);
    let ask =
        |lost: &Fault| seeded(&case, &[], None, Some(&findings(vec![lost.clone()])))[0].by_explore;
    assert!(!ask(&lost));
    let step = Step { place: place(4), note: String::new(), impact: true, depth: 0 };
    lost.segments.push(Segment { steps: vec![step] });
    assert!(ask(&lost));
}

#[test]
fn what_is_shown_and_not_found_is_missed_with_its_input() {
    let case = case(&["integer-overflow", "buffer-overflow"]);
    let input = Input { stdin: b"x".to_vec(), ..Input::default() };
    let overflow = seen("buffer-overflow", &[6], "heap-buffer-overflow");
    let native = [Shown::new(&case, overflow, &input)];
    let silent = seeded(&case, &native, None, None);
    let missed_now = missed(&case, &silent, &native);
    assert_eq!(missed_now.len(), 1);
    assert_eq!(missed_now[0].input.as_ref(), Some(&input));
    assert_eq!(missed_now[0].rule, "integer-overflow");
    assert!(missed_now[0].told.starts_with("silent"));
    let open = DontKnow {
        place: place(4),
        rule: "buffer-overflow".to_owned(),
        reason: String::new(),
        at: place(4),
        resolve: String::new(),
    };
    let undecided = Findings { dont_knows: vec![open], ..Findings::default() };
    let undecided = seeded(&case, &native, Some(&undecided), None);
    assert!(missed(&case, &undecided, &native)[0].told.starts_with("undecided"));
    assert!(missed(&case, &seeded(&case, &[], None, None), &[]).is_empty(), "never shown");
}

#[test]
fn numbers_that_wrap_count_only_where_that_is_wrong() {
    let case = case(&["integer-truncation"]);
    let text = "implicit conversion from type 'int' of value 400 (32-bit, signed)";
    let at = |line| Shown::new(&case, seen("integer-truncation", &[line], text), &Input::default());
    assert!(at(5).counts(&case));
    assert!(!at(6).counts(&case));
    assert!(!at(2).counts(&case));
    let signed = seen("integer-overflow", &[2], "signed integer overflow: 1 + 2");
    assert!(Shown::new(&case, signed, &Input::default()).counts(&case));
}

#[test]
fn reports_in_right_code_are_false_unless_they_happen() {
    let case = case(&["leak"]);
    let reported = findings(vec![
        fault("buffer-overflow", 2),
        fault("buffer-overflow", 2),
        fault("null-dereference", 3),
        fault("leak", 5),
        fault("null-dereference", 6),
        fault("leak", 7),
    ]);
    let native = [shown(&case, "null-dereference", 3)];
    let (found, n_unclear) = falsely(&case, &native, &reported);
    let places: Vec<(u32, &str)> = found.iter().map(|f| (f.line, f.rule.as_str())).collect();
    assert_eq!(places, [(2, "buffer-overflow"), (7, "leak")]);
    assert_eq!(n_unclear, 1, "another rule in a wrong part");
}

#[test]
fn a_proof_is_confirmed_by_its_rule_at_its_place() {
    let case = case(&["leak"]);
    let proved = fault("buffer-underflow", 2);
    let ask = |seen: &[Seen]| confirmed(&case, &proved, seen);
    assert_eq!(ask(&[seen("buffer-overflow", &[8, 2], "x")]), Confirmed::Yes);
    assert_eq!(ask(&[seen("buffer-overflow", &[3], "x")]), Confirmed::Yes, "the same part");
    let elsewhere = ask(&[seen("buffer-overflow", &[5], "x")]);
    assert_eq!(elsewhere, Confirmed::Different("x".to_owned()));
    assert_eq!(ask(&[seen("leak", &[2], "y")]), Confirmed::Different("y".to_owned()));
    let wrapped = seen("integer-overflow", &[2], "unsigned integer overflow: 0 - 1");
    assert_eq!(ask(&[wrapped]), Confirmed::Nothing);
    assert_eq!(ask(&[]), Confirmed::Nothing);
    assert_eq!(confirmed(&case, &fault("lock-pairing", 2), &[]), Confirmed::Unseen);
}

#[test]
fn what_happens_where_every_question_is_settled_is_a_defect() {
    let case = case(&["buffer-overflow"]);
    let point = |line, rule: &str, is_settled| Point { line, rule: rule.to_owned(), is_settled };
    let ask = |native: &[Shown], points: &[Point]| wrongly_settled(&case, native, points).len();
    let native = [shown(&case, "buffer-overflow", 5), shown(&case, "buffer-overflow", 5)];
    assert_eq!(ask(&native, &[point(5, "buffer-overread", true)]), 1, "once");
    assert_eq!(ask(&native, &[]), 0, "nothing was asked there");
    assert_eq!(ask(&native, &[point(4, "buffer-overflow", true)]), 0, "another line");
    assert_eq!(ask(&native, &[point(5, "leak", true)]), 0, "another rule");
    let both = [point(5, "buffer-overflow", true), point(5, "buffer-overread", false)];
    assert_eq!(ask(&native, &both), 0, "one of two is open");
    let wraps = seen("integer-overflow", &[2], "unsigned integer overflow: 0 - 1");
    let wraps = [Shown::new(&case, wraps, &Input::default())];
    assert_eq!(ask(&wraps, &[point(2, "integer-overflow", true)]), 0, "defined, and not wrong");
}

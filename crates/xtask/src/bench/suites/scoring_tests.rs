//! The scoring: wrong lines, rules and files, silence, and one report for one place.

use super::super::model::Function;
use super::super::running::At;
use super::*;

fn case(places: Vec<Place>) -> Case {
    let function = |name: &str, first, last| Function { name: name.to_owned(), first, last };
    Case {
        name: "x.c".to_owned(),
        folder: "/suite".into(),
        files: vec!["x.c".to_owned()],
        flags: Vec::new(),
        places,
        functions: vec![function("f", 1, 10), function("g", 11, 20), function("h", 21, 30)],
        covered: vec!["null-dereference", "leak"],
        by_call: false,
    }
}

fn place(role: Role, kind: Kind, first: u32, last: u32) -> Place {
    let rule = if kind == Kind::Leak { "leak" } else { "null-dereference" };
    let function = if first <= 10 { "f" } else { "g" };
    Place {
        role,
        kind: Some(kind),
        rules: vec![rule],
        file: "x.c".to_owned(),
        first,
        last,
        function: Some(function.to_owned()),
        text: String::new(),
    }
}

fn report(rule: &str, line: u32) -> Reported {
    Reported { rule: rule.to_owned(), file: "x.c".to_owned(), line, ..Reported::default() }
}

fn found(score: &Score) -> (usize, usize) {
    (score.found().n, score.found().of)
}

#[test]
fn a_report_on_the_line_answers() {
    let case = case(vec![place(Role::Expected, Kind::Null, 5, 5)]);
    let score = score(&case, &[report("null-dereference", 5)]);
    assert_eq!(found(&score), (1, 1));
    assert_eq!(score.kinds[&Kind::Null], Share { n: 1, of: 1 });
    assert_eq!((score.unmarked, score.beside), (Share { n: 0, of: 2 }, 0));
    assert_eq!(score.rules["null-dereference"].right, 1);
}

#[test]
fn a_wrong_line_is_a_miss_and_beside() {
    let case = case(vec![place(Role::Expected, Kind::Null, 5, 5)]);
    let score = score(&case, &[report("null-dereference", 6)]);
    assert_eq!((found(&score), score.beside), ((0, 1), 1));
    assert_eq!(score.notes.len(), 2);
}

#[test]
fn a_wrong_rule_is_a_miss() {
    let case = case(vec![place(Role::Expected, Kind::Null, 5, 5)]);
    let of_another = score(&case, &[report("leak", 5)]);
    assert_eq!((found(&of_another), of_another.beside), ((0, 1), 1));
    // What the suite's tool does not look for is not judged.
    let uncovered = score(&case, &[report("divide-by-zero", 5)]);
    assert_eq!((found(&uncovered), uncovered.beside), ((0, 1), 0));
}

#[test]
fn a_wrong_file_is_a_miss() {
    let case = case(vec![place(Role::Expected, Kind::Null, 5, 5)]);
    let elsewhere = Reported { file: "y.c".to_owned(), ..report("null-dereference", 5) };
    assert_eq!(found(&score(&case, &[elsewhere])), (0, 1));
    let same = Reported { file: "./a/../x.c".to_owned(), ..report("null-dereference", 5) };
    assert_eq!(found(&score(&case, &[same])), (1, 1));
}

#[test]
fn a_silent_place_that_is_hit_counts_once() {
    let case = case(vec![
        place(Role::Silent, Kind::Null, 5, 5),
        place(Role::Silent, Kind::Null, 7, 7),
        place(Role::Silent, Kind::Leak, 8, 8),
    ]);
    let hits = [report("null-dereference", 5), report("null-dereference", 5)];
    assert_eq!(score(&case, &hits).silent, Share { n: 1, of: 3 });
    assert_eq!(score(&case, &[report("null-dereference", 8)]).silent, Share { n: 0, of: 3 });
    assert_eq!(score(&case, &[]).silent, Share { n: 0, of: 3 });
}

#[test]
fn a_report_on_a_silent_line_answers_nothing_loosely() {
    let case =
        case(vec![place(Role::Expected, Kind::Leak, 5, 5), place(Role::Silent, Kind::Leak, 8, 8)]);
    let wrong = score(&case, &[report("leak", 8)]);
    assert_eq!((found(&wrong), wrong.silent), ((0, 1), Share { n: 1, of: 1 }));
    // Elsewhere in the function a leak is answered.
    let right = score(&case, &[report("leak", 9)]);
    assert_eq!((found(&right), right.silent), ((1, 1), Share { n: 0, of: 1 }));
    let other_function = score(&case, &[report("leak", 15)]);
    assert_eq!(found(&other_function), (0, 1));
}

#[test]
fn one_report_answers_one_place() {
    let case = case(vec![
        place(Role::Expected, Kind::Leak, 5, 5),
        place(Role::Expected, Kind::Leak, 6, 6),
    ]);
    assert_eq!(found(&score(&case, &[report("leak", 6)])), (1, 2));
    // The report on a place's own line is not used up by the other.
    assert_eq!(found(&score(&case, &[report("leak", 6), report("leak", 9)])), (2, 2));
}

#[test]
fn functions_that_nothing_speaks_of_must_be_silent_too() {
    let case = case(vec![place(Role::Expected, Kind::Null, 5, 5)]);
    let score = score(&case, &[report("null-dereference", 15), report("leak", 16)]);
    assert_eq!((score.unmarked, score.beside), (Share { n: 1, of: 2 }, 0));
}

#[test]
fn open_places_are_not_judged() {
    let case = case(vec![place(Role::Open, Kind::Null, 11, 20)]);
    let score = score(&case, &[report("null-dereference", 15)]);
    assert_eq!((score.unmarked, score.beside), (Share { n: 0, of: 2 }, 0));
    assert_eq!(found(&score), (0, 0));
}

#[test]
fn where_calls_count_a_fault_in_a_helper_belongs_to_its_caller() {
    let in_helper = |line, function: &str| Reported {
        steps: vec![At { file: "x.c".to_owned(), line, function: function.to_owned() }],
        ..report("null-dereference", 25)
    };
    let mut case = case(vec![
        place(Role::Expected, Kind::Null, 5, 5),
        place(Role::Silent, Kind::Null, 11, 20),
    ]);
    assert_eq!(found(&score(&case, &[in_helper(5, "f")])), (0, 1));
    case.by_call = true;
    assert_eq!(found(&score(&case, &[in_helper(5, "f")])), (1, 1));
    assert_eq!(found(&score(&case, &[in_helper(6, "f")])), (0, 1));
    assert_eq!(score(&case, &[in_helper(15, "g")]).silent, Share { n: 1, of: 1 });
}

#[test]
fn a_case_that_was_not_analysed_misses_everything_and_is_not_silent() {
    let case =
        case(vec![place(Role::Expected, Kind::Null, 5, 5), place(Role::Silent, Kind::Null, 7, 7)]);
    let score = not_analysed(&case, "does not compile");
    assert_eq!((found(&score), score.silent), ((0, 1), Share::default()));
}

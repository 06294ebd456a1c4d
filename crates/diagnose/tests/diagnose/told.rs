//! How failing runs are told: the input as a command, the trace in the user's words.

use std::process::Command;

use crate::common::{diagnose, diagnose_line};
use diagnose::Diagnosis;

fn notes(diagnosis: &Diagnosis) -> Vec<&str> {
    let found = diagnosis.violation.as_ref().expect("something is violated");
    found.trace.steps.iter().map(|step| step.note.as_str()).collect()
}

#[track_caller]
fn tells(diagnosis: &Diagnosis, expected: &[&str]) {
    let all = notes(diagnosis);
    for note in expected {
        assert!(all.contains(note), "{note}: {all:#?}");
    }
    for note in &all {
        let is_odd = note.contains('%') || note.contains("alloca(") || note.contains(".<");
        assert!(!is_odd && !note.contains("__"), "{note}: {all:#?}");
    }
}

/// Compiles a program so that it ends where it does what C does not define, and runs a command
/// in which it is `./program`.
fn fails(text: &str, command: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("program.c"), text).expect("a file can be written");
    let compiled = Command::new("clang-19")
        .args(["-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .args(["-o", "program", "program.c"])
        .current_dir(&folder)
        .status();
    assert!(compiled.expect("clang-19 starts").success());
    let script = format!("set -o pipefail; {command}");
    let run = Command::new("bash").args(["-c", &script]).current_dir(&folder).output();
    let said = run.expect("bash starts").stderr;
    let said = String::from_utf8_lossy(&said);
    said.contains("Sanitizer") || said.contains("runtime error")
}

/// An argument with a byte that is no text, standard input with a zero and a quote, and a
/// variable that is set beside one that is not.
const INPUTS: &str = "\
#include <stdio.h>
#include <stdlib.h>
int a[2];
int main(int argc, char **argv) {
  const char *mode = getenv(\"FIRSTFAULT_MODE\"), *home = getenv(\"HOME\");
  if (argc < 2 || (unsigned char)argv[1][0] != 0x80 || argv[1][1] != '\\'')
    return 1;
  if (home || !mode || mode[0] != '$')
    return 1;
  if (getchar() != 0 || getchar() != '%' || getchar() != '\\'')
    return 1;
  a[argc] = 1;
  return 0;
}
";

#[test]
fn the_command_makes_the_program_fail() {
    let diagnosis = diagnose(INPUTS, None, Vec::new());
    let input = diagnosis.violation.expect("there is such an input").input;
    assert!(fails(INPUTS, &input.command), "{}", input.command);
    assert!(input.command.contains("env -u HOME FIRSTFAULT_MODE='$"), "{}", input.command);
    assert!(input.command.contains("$'\\x80\\'"), "{}", input.command);
    assert_eq!(&input.arguments[0][..3], "\u{80}'");
    assert_eq!(&input.stdin.expect("it is read")[..3], "\0%'");
}

#[test]
fn what_is_not_given_is_told() {
    let text = "int a[2];\nint main(int argc, char **argv) {\n  if (argc > 1)\n    return 1;\n  \
                return a[argc + 1];\n}\n";
    let input = diagnose(text, None, Vec::new()).violation.expect("2 is no index").input;
    assert_eq!(input.command, "./program  # without arguments");
    let text = "#include <stdio.h>\nint a[2];\nint main(void) {\n  if (getchar() == EOF)\n    \
                return a[getchar() + 3];\n  return 0;\n}\n";
    let input = diagnose(text, None, Vec::new()).violation.expect("2 is no index").input;
    assert_eq!(input.command, "./program < /dev/null");
    assert_eq!(input.stdin.as_deref(), Some(""));
    let text = "int a[2];\nint main(void) {\n  int i = 2;\n  return a[i];\n}\n";
    let input = diagnose(text, None, Vec::new()).violation.expect("2 is no index").input;
    assert_eq!(input.command, "./program");
    assert!(input.is_empty());
}

/// A state machine that ends in no state.
const STATES: &str = "\
#include <stdio.h>
enum state { CODE, STRING, END, N_STATES };
static int count[N_STATES];
static enum state step(enum state s, int c) {
  switch (s) {
  case CODE:
    if (c == '\"') return STRING;
    return CODE;
  case STRING:
    return c == '\"' ? N_STATES : STRING;
  default:
    break;
  }
  return s;
}
int main(void) {
  int c;
  enum state s = CODE;
  while ((c = getchar()) != EOF) {
    s = step(s, c);
    count[s]++;
  }
  return 0;
}
";

#[test]
fn decisions_returns_and_enumerators_are_told_in_the_users_words() {
    let diagnosis = diagnose(STATES, None, Vec::new());
    let faulty = "return c == '\"' ? N_STATES : STRING, which is N_STATES";
    let expected = [
        "s = CODE",
        "condition ((c = getchar()) != EOF) is true",
        "switch (s) goes to case CODE",
        "switch (s) goes to case STRING",
        "condition (c == '\"') is true",
        "return STRING",
        "s = step(s, c): s is STRING",
        faulty,
        "s = step(s, c): s is N_STATES",
        "check fails: an access outside the bounds of its object: \
         count[s] reads element 3 of count, which has 3 elements",
    ];
    tells(&diagnosis, &expected);
    let found = diagnosis.violation.as_ref().expect("something is violated");
    let step = found.trace.steps.iter().find(|step| step.note == faulty);
    assert_eq!(step.map(|step| step.place.line), Some(10));
    assert!(found.trace.sliced.contains(&("program.c".to_owned(), 10)));
    assert!(notes(&diagnosis).iter().all(|note| !note.contains("gives")), "told twice");
}

/// Pointers, characters, a macro inside of an index, and what the C library makes of `isupper`.
const WORDS: &str = "\
#include <ctype.h>
#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static int *make(int n) {
  int *p = malloc(n * sizeof *p);
  return p;
}
int main(int argc, char **argv) {
  int *p = make(3);
  int n;
  char sign = '-';
  if (argc < 2 || !isupper(argv[1][0]))
    return 1;
  n = atoi(argv[1] + 1);
  if (n < 0 || argv[1][0] != 'A' + sign - '-')
    return 1;
  switch (argv[1][0]) {
  case 'A':
    p[MIN(n, 3)] = 1;
  }
  return 0;
}
";

#[test]
fn what_only_the_interpreter_knows_is_not_told() {
    let diagnosis = diagnose(WORDS, None, Vec::new());
    let expected = [
        "p = malloc(n * sizeof *p)",
        "return p, which is not null",
        "p = make(3)",
        "condition (isupper(argv[1][0])) is true",
        "sign = '-'",
        "switch (argv[1][0]) goes to case 'A'",
        "check fails: an access outside the bounds of its object: \
         p[MIN(n, 3)] writes 4 bytes at byte 12 of the 12 bytes allocated in line 5",
    ];
    let all = notes(&diagnosis);
    assert!(all.iter().all(|note| !note.contains("105")), "{all:#?}");
    assert!(all.iter().any(|note| note.starts_with("n = atoi(argv[1] + 1): n is ")), "{all:#?}");
    tells(&diagnosis, &expected);
    let places = &diagnosis.violation.as_ref().expect("it is").trace.steps;
    assert!(places.iter().all(|step| step.place.line > 0), "{places:#?}");
}

/// The rows of an array whose length is known only at run time, and a struct that is returned.
const ROWS: &str = "\
#include <stdlib.h>
struct pair { int first, second; };
static struct pair pair(int n) {
  struct pair p = { n, n + 1 };
  return p;
}
int main(int argc, char **argv) {
  struct pair p = pair(argc);
  int n = argc + 1, m = p.second;
  int t[n][m];
  t[n - 1][0] = 1;
  return t[n - 1][m];
}
";

#[test]
fn arrays_of_unknown_length_are_told_as_they_are_written() {
    let diagnosis = diagnose_line(ROWS, 12);
    let all = notes(&diagnosis);
    let failing = "check fails: an access outside the bounds of its object: t[n - 1][m] reads ";
    assert!(all.last().is_some_and(|note| note.starts_with(failing)), "{all:#?}");
    tells(&diagnosis, &[]);
}

#[test]
fn a_line_where_nothing_is_violated_is_not_the_whole_program() {
    let diagnosis = diagnose_line(ROWS, 8);
    let said = diagnosis.notes.join("\n");
    assert!(diagnosis.violation.is_none() && said.contains("in line 8"), "{said}");
    assert!(said.contains("another violation, in program.c:"), "{said}");
}

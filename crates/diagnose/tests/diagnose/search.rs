//! What the search finds, and that changes are judged fairly on it.

use crate::common::{changes, diagnose, diagnose_line, diagnose_rule};

/// Line 6 and line 12 have nothing to do with each other.
const TWO_FAULTS: &str = "\
#include <stdlib.h>
static int a[4], b[6];
static int all(void) {
  int i, s = 0;
  for (i = 0; i <= 4; i++)
    s += a[i];
  return s;
}
static int one(int n) {
  if (n > 6 || n < 0)
    return 0;
  return b[n];
}
int main(int argc, char **argv) {
  int n;
  if (argc < 2)
    return 1;
  n = atoi(argv[1]);
  return n == 17 ? all() : one(n);
}
";

#[test]
fn another_fault_of_the_program_is_not_held_against_a_change() {
    let first = diagnose_line(TWO_FAULTS, 6);
    assert_eq!(changes(&first)[0], [(5, "<=", "<")]);
    let second = diagnose_line(TWO_FAULTS, 12);
    assert_eq!(changes(&second)[0], [(10, ">", ">=")]);
    let said = &second.repairs[0].verified;
    let left = "a violation in line 6 is left, which was there before";
    assert!(said.iter().any(|v| v == left), "{said:?}");
}

/// What was never set decides in line 4; past it an index is too large.
const UNSET_AND_BEYOND: &str = "\
int main(int argc, char **argv) {
  int a[4] = { 0 };
  int flag;
  if (flag == 3)
    return a[argc + 3];
  return 0;
}
";

#[test]
fn a_rule_says_which_violation_is_meant() {
    let any = diagnose(UNSET_AND_BEYOND, None, Vec::new()).violation.expect("flag is never set");
    assert_eq!((any.rule, any.place.line), ("uninitialized-read", 4));
    let meant = diagnose_rule(UNSET_AND_BEYOND, "buffer-overflow").violation;
    let meant = meant.expect("a flag that was never set may be 3");
    assert_eq!((meant.rule, meant.place.line), ("buffer-overflow", 5));
    assert!(diagnose_rule(UNSET_AND_BEYOND, "divide-by-zero").violation.is_none());
}

/// Both arguments are numbers of which only some with three digits fail.
const NUMBERS: &str = "\
#include <stdlib.h>
static int hours[24];
int main(int argc, char **argv) {
  int minute, length;
  if (argc < 3)
    return 1;
  minute = atoi(argv[1]);
  length = atoi(argv[2]);
  if (minute < 0 || minute > 24 * 30 || length < 0 || length > minute)
    return 1;
  hours[minute / 30] += length;
  return 0;
}
";

#[test]
fn numbers_in_arguments_are_found_whatever_their_length() {
    let diagnosis = diagnose(NUMBERS, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("720 / 30 is no hour");
    assert_eq!(found.place.line, 11);
    assert!(found.input.command.contains("720"), "{:?}", found.input);
    assert_eq!(changes(&diagnosis)[0], [(9, ">", ">=")]);
}

/// Five arguments do not fit.
const MANY: &str = "\
int main(int argc, char **argv) {
  char first[4];
  int i;
  for (i = 1; i < argc; i++)
    first[i - 1] = argv[i][0];
  return 0;
}
";

#[test]
fn the_number_of_arguments_rises_step_by_step() {
    let diagnosis = diagnose(MANY, None, Vec::new());
    let found = diagnosis.violation.expect("the fifth argument does not fit");
    assert_eq!(found.place.line, 5);
    assert!(found.input.arguments.len() == 5, "{:?}", found.input);
}

const ENVIRONMENT: &str = "\
#include <stdlib.h>
#include <string.h>
int main(void) {
  char name[4];
  const char *given = getenv(\"NAME\");
  if (given == NULL)
    return 1;
  if (strlen(given) > sizeof name)
    return 1;
  strcpy(name, given);
  return 0;
}
";

#[test]
fn environment_variables_may_be_set_to_anything() {
    let diagnosis = diagnose(ENVIRONMENT, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("four bytes and a zero do not fit");
    assert_eq!(found.place.line, 10);
    let command = &found.input.command;
    assert!(command.starts_with("env NAME="), "{command}");
    let set = &found.input.environment[0];
    assert_eq!((set.name.as_str(), set.value.as_ref().map(String::len)), ("NAME", Some(4)));
    assert_eq!(changes(&diagnosis)[0], [(8, ">", ">=")]);
}

const FILES: &str = "\
#include <stdio.h>
int main(int argc, char **argv) {
  int first[2], n = 0, c;
  FILE *file = fopen(\"numbers\", \"r\");
  if (file == NULL)
    return 1;
  while (n <= 2 && (c = getc(file)) != EOF)
    first[n++] = c;
  fclose(file);
  return 0;
}
";

#[test]
fn files_hold_unknown_bytes_or_cannot_be_opened() {
    let diagnosis = diagnose(FILES, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("the third byte does not fit");
    assert_eq!(found.place.line, 8);
    let command = &found.input.command;
    assert!(command.contains("' > numbers; ./program"), "{command}");
    assert_eq!(changes(&diagnosis)[0], [(7, "<=", "<")]);
    let unchecked = FILES.replace("if (file == NULL)", "if (argc > 9)");
    let found = diagnose(&unchecked, None, Vec::new()).violation.expect("no file is read");
    assert_eq!((found.rule, found.place.line), ("null-dereference", 7));
}

/// Only four blanks and a letter after them leave the array.
const WORDS: &str = "\
#include <stdio.h>
static char words[4][12];
int main(void) {
  char line[64];
  int i, n = 0, at = 0;
  if (fgets(line, sizeof line, stdin) == NULL)
    return 1;
  for (i = 0; line[i] != '\\0' && line[i] != '\\n' && n < 12; i++) {
    if (line[i] == ' ') {
      n++;
      at = 0;
    } else if (at < 11) {
      words[n][at++] = line[i];
    }
  }
  return n;
}
";

#[test]
fn runs_that_come_to_a_place_more_often_are_followed_first() {
    let diagnosis = diagnose(WORDS, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("the fifth word does not fit");
    assert_eq!(found.place.line, 13);
}

#[test]
fn what_is_not_modelled_is_said_where_nothing_is_found() {
    let text = "int is_more(double x) { return x > 1.0; }\n";
    let diagnosis = diagnose(text, None, Vec::new());
    assert!(diagnosis.violation.is_none());
    assert!(diagnosis.unmodelled.is_some(), "{:?}", diagnosis.notes);
    let said = diagnosis.notes.join("\n");
    assert!(said.contains("no violated property was found in 3 runs; not modelled"), "{said}");
}

#[test]
fn a_loop_without_end_takes_no_more_than_its_share() {
    let text = "\
int main(int argc, char **argv) {
  unsigned i, s = 0;
  for (i = 0; i < 10; i--)
    s += (unsigned)argc * i;
  return (int)s;
}
";
    let endless = text.replace("i < 10", "i + s + 1 > s * i || i < 10 || 1");
    let diagnosis = diagnose(&endless, None, Vec::new());
    assert!(diagnosis.violation.is_none());
    let said = diagnosis.notes.join("\n");
    assert!(said.contains("too many steps"), "{said}");
}

/// The product of two unknown numbers is more than the solver takes on.
const FACTORS: &str = "\
int table[4];
int hard(unsigned long long a, unsigned long long b) {
  if (a > 1 && b > 1 && a < 1u << 31 && b < 1u << 31 && a * b == 998244359987710471ull)
    return table[4];
  return 0;
}
";

#[test]
fn what_the_solver_gives_up_on_is_said() {
    let diagnosis = diagnose(FACTORS, None, Vec::new());
    assert!(diagnosis.violation.is_none());
    assert!(diagnosis.unmodelled.is_none());
    let said = diagnosis.notes.join("\n");
    assert!(said.contains("the solver gave up on a path"), "{said}");
}

#[test]
fn a_bound_that_is_reached_without_a_violation_is_said() {
    let text = "\
#include <string.h>
int main(int argc, char **argv) {
  char copy[500];
  for (int i = 1; i < argc; i++)
    if (strlen(argv[i]) < 600)
      strcpy(copy, argv[i]);
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    assert!(diagnosis.violation.is_none(), "no argument of the search has 500 bytes");
    assert!(diagnosis.repairs.is_empty());
    let said = diagnosis.notes.join("\n");
    assert!(
        said.contains("no violated property was found in 8000 runs; all runs were used up"),
        "{said}"
    );
}

#[test]
fn what_only_larger_inputs_violate_is_outside_the_bounds() {
    let text = "\
static int table[4];
int main(int argc, char **argv) {
  if (argc > 20)
    return table[argc];
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    assert!(diagnosis.violation.is_none() && diagnosis.repairs.is_empty());
    let said = diagnosis.notes.join("\n");
    assert!(
        said.contains("no property is violated on any of 19 paths within the bounds"),
        "{said}"
    );
}

#[test]
fn what_must_not_be_written_takes_no_place_that_is_written() {
    let text = "\
#include <string.h>
static void reverse(const char *text, char *out) {
  int length = (int)strlen(text);
  int i;
  for (i = 0; i < length; i++)
    out[i] = text[length - 1 + i];
  out[length] = '\\0';
}
int main(int argc, char **argv) {
  char out[32];
  if (argc < 2 || strlen(argv[1]) >= 32)
    return 1;
  reverse(argv[1], out);
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = changes(&diagnosis);
    assert!(all.contains(&vec![(6, "+", "-")]), "{all:?}");
}

#[test]
fn nothing_is_compared_with_itself() {
    let diagnosis = diagnose(TWO_FAULTS, None, Vec::new());
    let all = changes(&diagnosis);
    let is_self = |(_, old, new): &(u32, &str, &str)| *old == "4" && *new == "i";
    assert!(!all.iter().flatten().any(is_self), "{all:?}");
}

/// Nothing ends the loop but what comes from outside.
const WAITING: &str = "\
int next(void);
int main(void) {
  char line[4];
  int c, n = 0;
  while ((c = next()) != -1) {
    if (c == '\\n')
      n = 0;
    line[n++] = c;
  }
  return 0;
}
";

#[test]
fn a_loop_that_asks_for_more_input_is_no_endless_run() {
    let diagnosis = diagnose(WAITING, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("the fifth character does not fit");
    assert_eq!(found.place.line, 8);
    assert!(found.input.command.contains("# next gives 0, 0, 0, 0, 0"), "{:?}", found.input);
    // What goes on for ever is kept, and it is said how far it was followed.
    let waits = diagnosis.repairs.iter().find(|repair| repair.changes[0].place.line == 8);
    let said = &waits.expect("a place that is written again and again").verified[0];
    assert!(said.contains("as long as it was followed"), "{said}");
    let no_bug = WAITING.replace("char line[4]", "char line[400]");
    let diagnosis = diagnose(&no_bug, None, Vec::new());
    assert!(diagnosis.violation.is_none());
    assert!(diagnosis.incomplete.is_some(), "more values may follow");
}

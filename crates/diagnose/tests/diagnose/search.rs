//! What the search finds, and that changes are judged fairly on it.

use crate::common::{changes, diagnose, diagnose_line};

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
    assert!(said.iter().any(|v| v.contains("violation is left")), "{said:?}");
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
    assert!(found.inputs.contains("720"), "{}", found.inputs);
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
    assert!(found.inputs.contains("argument 5"), "{}", found.inputs);
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
    assert!(found.inputs.contains("environment variable 1"), "{}", found.inputs);
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
    assert!(found.inputs.contains("read from files"), "{}", found.inputs);
    assert_eq!(changes(&diagnosis)[0], [(7, "<=", "<")]);
    let unchecked = FILES.replace("if (file == NULL)", "if (argc > 9)");
    let found = diagnose(&unchecked, None, Vec::new()).violation.expect("no file is read");
    assert_eq!((found.rule, found.place.line), ("null-dereference", 7));
}

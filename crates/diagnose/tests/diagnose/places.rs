//! That places are told right where a block begins with what fails or is wrong.

use crate::common::{changes, diagnose, diagnose_line};

/// The division is the first instruction behind the `if`.
const FIRST_IN_BLOCK: &str = "\
static int half(int a, int b) {
  if (a > 3)
    return 1;
  return 10 / b;
}
int main(int argc, char **argv) {
  return half(argc, argc - 1);
}
";

#[test]
fn the_first_instruction_of_a_block_is_not_the_end_of_the_one_before() {
    let found = diagnose(FIRST_IN_BLOCK, None, Vec::new()).violation.expect("1 - 1 is 0");
    assert_eq!((found.place.line, found.place.column), (4, 13));
    assert!(found.trace.executed.contains(&("program.c".to_owned(), 4)));
    assert!(diagnose_line(FIRST_IN_BLOCK, 4).violation.is_some(), "it is in this line");
    assert!(diagnose_line(FIRST_IN_BLOCK, 2).violation.is_none(), "nothing fails in this line");
}

/// Behind the loop stands what fails; in it something that must not be blamed.
const BEHIND_A_LOOP: &str = "\
int main(int argc, char **argv) {
  int a[4] = { 0 };
  int i = 0;
  int *p = a;
  while (i < argc) {
    p += 2;
    i++;
  }
  *p = 3;
  return a[0];
}
";

#[test]
fn what_fails_behind_a_loop_is_not_told_of_the_loop() {
    let diagnosis = diagnose(BEHIND_A_LOOP, None, Vec::new());
    let found = diagnosis.violation.expect("two elements are two steps");
    assert_eq!((found.place.line, found.place.column), (9, 6));
}

/// Each case is one assignment of a constant, so its block holds little else.
const CASES: &str = "\
int main(int argc, char **argv) {
  int a[3] = { 0, 0, 0 }, k;
  switch (argc) {
  case 1:
    k = 0;
    break;
  case 2:
    k = 3;
    break;
  default:
    k = 2;
    break;
  }
  a[k] = 1;
  return a[0];
}
";

#[test]
fn an_assignment_that_begins_a_case_is_executed_and_changed() {
    let diagnosis = diagnose(CASES, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("3 is no index");
    assert!(found.trace.executed.contains(&("program.c".to_owned(), 8)));
    assert!(!found.trace.executed.contains(&("program.c".to_owned(), 5)));
    assert_eq!(changes(&diagnosis)[0], [(8, "3", "2")]);
}

/// The faulty constant goes through the one place where the function returns.
const RETURNED: &str = "\
static int pick(int s) {
  switch (s) {
  case 0:
    return 1;
  case 1:
    return 2;
  case 2:
    return 4;
  }
  return 0;
}
int main(int argc, char **argv) {
  int a[4] = { 0 };
  a[pick(argc - 1)] = 1;
  return a[0];
}
";

#[test]
fn a_constant_that_is_returned_is_executed_and_changed() {
    let diagnosis = diagnose(RETURNED, None, Vec::new());
    assert_eq!(changes(&diagnosis)[0], [(8, "4", "3")]);
}

//! Statements that are missing, and edits that must not be taken for repairs.

use crate::common::{changes, diagnose};

type Told = (u32, String, String);

fn proposed(text: &str) -> Vec<Told> {
    let diagnosis = diagnose(text, None, Vec::new());
    let all = changes(&diagnosis).into_iter().flatten();
    all.map(|(line, old, new)| (line, old.to_owned(), new.trim().to_owned())).collect()
}

#[track_caller]
fn adds(text: &str, line: u32, new: &str) {
    let all = proposed(text);
    assert!(all.contains(&(line, String::new(), new.to_owned())), "{all:#?}");
}

#[test]
fn a_text_that_was_cut_has_no_end() {
    let text = "\
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char name[4];
  if (argc < 2)
    return 1;
  strncpy(name, argv[1], sizeof name);
  printf(\"%d\\n\", (int)strlen(name));
  return 0;
}
";
    adds(text, 7, "name[sizeof name - 1] = '\\0';");
}

const FREED_TWICE: &str = "\
#include <stdlib.h>
int main(int argc, char **argv) {
  char *text = malloc(4);
  if (text == NULL)
    return 1;
  if (argc > 1) {
    free(text);
  }
  free(text);
  return 0;
}
";

#[test]
fn who_frees_forgets_to_say_so() {
    adds(FREED_TWICE, 7, "text = NULL;");
}

#[test]
fn who_does_nothing_more_is_told_so_and_comes_last() {
    let diagnosis = diagnose(FREED_TWICE, None, Vec::new());
    let all = changes(&diagnosis);
    let off = all.iter().position(|change| change[0] == (4, "==", "!="));
    let off = off.expect("who leaves at once violates nothing");
    let null = all.iter().position(|change| change[0].0 == 7);
    assert!(null.is_some_and(|null| null < off), "{all:#?}");
    let said = diagnosis.repairs[off].verified.join("; ");
    assert!(said.contains("lines no more"), "{said}");
}

#[test]
fn a_counter_that_does_not_start_anew() {
    let text = "\
#include <stdio.h>
int main(void) {
  char line[4];
  int c, n = 0, at = 0;
  while ((c = getchar()) != EOF) {
    if (c == '\\n') {
      n = 0;
      continue;
    }
    n++;
    if (n > 4)
      break;
    line[at] = c;
    at++;
  }
  return 0;
}
";
    adds(text, 7, "at = 0;");
}

#[test]
fn a_variable_without_a_first_value() {
    let text = "\
int main(int argc, char **argv) {
  int best, i;
  for (i = 0; i < argc; i++)
    if (i == 3)
      best = i;
  if (best > 2)
    return 1;
  return 0;
}
";
    adds(text, 2, "= 0");
}

#[test]
fn a_result_that_nobody_takes() {
    let text = "\
#include <stdlib.h>
int main(int argc, char **argv) {
  int *all = malloc(4 * sizeof(int));
  realloc(all, 8 * sizeof(int));
  all[argc > 1 ? 7 : 0] = 1;
  return 0;
}
";
    let all = proposed(text);
    let whole = "all = realloc(all, 8 * sizeof(int))".to_owned();
    assert!(all.iter().any(|(line, _, new)| *line == 4 && *new == whole), "{all:#?}");
}

#[test]
fn arguments_the_wrong_way_round() {
    let text = "\
static int grid[3][8];
static void mark(int row, int column) {
  grid[row][column] = 1;
}
int main(int argc, char **argv) {
  int x, y;
  for (y = 0; y < 3; y++)
    for (x = 0; x < 8; x++)
      mark(x, y);
  return 0;
}
";
    let all = proposed(text);
    assert!(all.contains(&(9, "x, y".to_owned(), "y, x".to_owned())), "{all:#?}");
}

/// In a choice between `n` and `cap` both would be unsigned, and `n - 5 < 0` never true.
const SIGNS: &str = "\
#include <stdio.h>
#include <string.h>
static int t[4];
int main(int argc, char **argv) {
  unsigned cap = 3;
  int n, i, last = 4;
  if (argc < 2)
    return 1;
  n = (int)strlen(argv[1]);
  cap = cap + 1;
  if (n - 5 < 0)
    for (i = 0; i <= last; i++)
      t[i] = n;
  printf(\"%d %u\\n\", n, cap);
  return 0;
}
";

#[test]
fn alternatives_do_not_change_what_they_are_not_of() {
    let all = proposed(SIGNS);
    assert_eq!(all[0], (12, "<=".to_owned(), "<".to_owned()));
    let does_nothing = |(line, old, _): &Told| *line == 9 || *line == 11 && old == "5";
    assert!(!all.iter().any(does_nothing), "{all:#?}");
}

#[test]
fn what_is_asserted_is_changed_last() {
    let text = "\
#include <assert.h>
int main(int argc, char **argv) {
  int x = 5;
  if (argc > 2)
    x = 2;
  assert(x < 3);
  return 0;
}
";
    let all = proposed(text);
    let of_property: Vec<usize> = (0..all.len()).filter(|index| all[*index].0 == 6).collect();
    // One of them is among the first five, in case the assertion is wrong.
    assert_eq!(of_property.first(), Some(&4), "{all:#?}");
    let last = all.iter().rposition(|(line, ..)| *line != 6);
    assert!(of_property[1..].iter().all(|index| Some(*index) > last), "{all:#?}");
}

/// Behind the text that does not fit there is a loop that goes too far.
const ONE_BEHIND_THE_OTHER: &str = "\
#include <stdlib.h>
#include <string.h>
static int table[5];
static int sum(void) {
  int i, s = 0;
  for (i = 0; i <= 5; i++)
    s += table[i];
  return s;
}
int main(int argc, char **argv) {
  char *copy;
  size_t n;
  if (argc < 2)
    return 1;
  n = strlen(argv[1]);
  copy = malloc(n);
  strcpy(copy, argv[1]);
  return sum();
}
";

#[test]
fn a_violation_that_was_hidden_is_no_reason_to_drop_a_repair() {
    let diagnosis = diagnose(ONE_BEHIND_THE_OTHER, None, Vec::new());
    let first = &diagnosis.repairs[0];
    assert!([15, 16].contains(&first.changes[0].place.line), "{:?}", first.changes);
    assert!(first.changes[0].new.ends_with(" + 1"), "{:?}", first.changes);
    let said = &first.verified[0];
    assert!(said.contains("another violation follows in line 7"), "{said}");
}

/// Both steps are wrong, so no one change mends it.
const NO_REPAIR: &str = "\
static int mix(int a) {
  return (a * 7 + 5) ^ (a << 3);
}
int main(int argc, char **argv) {
  int t[2] = { 0, 0 };
  int at = mix(argc) + mix(argc + 1) * 31;
  t[0] = at;
  return t[at];
}
";

#[test]
fn statements_are_named_where_no_change_is_known() {
    let library = diagnose::Library::with(&quiet()).expect("the kinds are known");
    let diagnosis = crate::common::diagnose_with(NO_REPAIR, library);
    assert!(diagnosis.violation.is_some());
    let lines: Vec<u32> = diagnosis.repairs.iter().map(|r| r.changes[0].place.line).collect();
    assert!(lines.contains(&6), "{lines:?} {:?}", diagnosis.notes);
    let said = diagnosis.notes.join("\n");
    assert!(said.contains("another value of one of these statements"), "{said}");
}

/// A library without a single mistake.
fn quiet() -> String {
    let own = diagnose::Library::own();
    let operators: String = own.operators.keys().map(|o| format!("{o:?} = {{}}\n")).collect();
    let weights: String = own.weights.keys().map(|kind| format!("{kind} = 0\n")).collect();
    format!("[operators]\n{operators}[weights]\n{weights}")
}

/// The only change that survives is to leave as soon as memory is there.
const USED_AFTER_FREE: &str = "\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int *count = malloc(sizeof *count);
  if (count == NULL)
    return 1;
  *count = argc;
  if (argc > 3)
    free(count);
  printf(\"%d\\n\", *count);
  printf(\"%d\\n\", argc);
  return 0;
}
";

#[test]
fn statements_are_named_before_what_switches_off() {
    let diagnosis = diagnose(USED_AFTER_FREE, None, Vec::new());
    let all = changes(&diagnosis);
    let named = all.iter().position(|change| change[0].0 == 8);
    let off = all.iter().position(|change| change[0] == (5, "==", "!="));
    assert!(named.is_some() && named < off, "{all:#?}");
}

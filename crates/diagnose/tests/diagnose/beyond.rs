//! Violations that lie behind others, and inputs that only many steps lead to.

use crate::common::{diagnose, diagnose_line, diagnose_rule};

const ONE_AFTER_THE_OTHER: &str = "\
#include <assert.h>
#include <stdlib.h>
#include <string.h>
static int table[5];
static int sum(const int *a, int n) {
  int i, s = 0;
  for (i = 0; i <= n; i++)
    s += a[i];
  return s;
}
int main(int argc, char **argv) {
  char copy[1];
  int k;
  if (argc < 2)
    return 1;
  strcpy(copy, \"abc\");
  k = atoi(argv[1]);
  assert(k == 77);
  k = sum(table, 5) + k;
  return 100 / (k - k);
}
";

#[test]
fn what_is_asked_for_is_found_behind_other_violations() {
    for (line, rule) in [(8, "buffer-overflow"), (18, "assertion"), (20, "divide-by-zero")] {
        let diagnosis = diagnose_line(ONE_AFTER_THE_OTHER, line);
        let found = diagnosis.violation.unwrap_or_else(|| panic!("line {line} is wrong"));
        assert_eq!((found.place.line, found.rule), (line, rule));
        let said = diagnosis.notes.join("\n");
        assert!(said.contains("program.c:16") && said.contains("passed over"), "{said}");
    }
}

#[test]
fn the_first_violation_passes_over_nothing() {
    let diagnosis = diagnose_line(ONE_AFTER_THE_OTHER, 16);
    assert_eq!(diagnosis.violation.expect("three letters do not fit").place.line, 16);
    assert!(!diagnosis.notes.iter().any(|note| note.contains("passed over")));
}

#[test]
fn a_repair_mends_what_was_asked_for() {
    let text = ONE_AFTER_THE_OTHER.replace("100 / (k - k)", "k");
    let diagnosis = diagnose_line(&text, 8);
    let mended = diagnosis.repairs.iter().flat_map(|repair| &repair.changes);
    let mut mended = mended.map(|change| (change.place.line, &*change.old, &*change.new));
    assert!(mended.any(|change| change == (7, "<=", "<")), "{:?}", diagnosis.repairs);
}

#[test]
fn where_other_violations_end_all_runs_it_is_said() {
    let diagnosis = diagnose_rule(ONE_AFTER_THE_OTHER, "double-free");
    assert!(diagnosis.violation.is_none());
    let why = diagnosis.incomplete.expect("nothing is known of what is behind");
    assert!(why.contains("program.c:16 (buffer-overflow)"), "{why}");
}

/// Numbers go in and out; only the fifth that comes out is read from behind the array.
const RING: &str = "\
#include <stdio.h>
#include <stdlib.h>
struct ring { int data[4]; unsigned head, tail, count; };
static int put(struct ring *r, int v) {
  if (r->count == 4)
    return -1;
  r->data[r->head] = v;
  r->head = (r->head + 1) % 4;
  r->count++;
  return 0;
}
static int get(struct ring *r, int *v) {
  if (r->count == 0)
    return -1;
  *v = r->data[r->tail];
  r->tail++;
  r->count--;
  return 0;
}
int main(void) {
  struct ring r = { { 0 }, 0, 0, 0 };
  char line[64];
  int v;
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (line[0] == '+' && put(&r, atoi(line + 1)) < 0)
      printf(\"full\\n\");
    else if (line[0] == '-' && get(&r, &v) < 0)
      printf(\"empty\\n\");
  }
  return 0;
}
";

#[test]
fn lines_of_several_kinds_are_put_together() {
    let found = diagnose(RING, None, Vec::new()).violation.expect("the tail leaves the array");
    assert_eq!(found.place.line, 15);
    // What is not needed is left out.
    let stdin = found.input.stdin.expect("lines are read");
    assert!(stdin.len() <= 20 && !stdin.contains('\0'), "{stdin:?}");
}

/// A line that one of many cases leads to.
#[test]
fn a_search_goes_towards_the_line_that_is_asked_for() {
    let case = |k: u32| match k {
        541 => "  case 541: return a[k - 533];\n".to_owned(),
        _ => format!("  case {k}: return work(a, atoi(argv[2]) + {k});\n"),
    };
    let cases: String = (0..600).map(case).collect();
    let text = format!(
        "\
#include <stdlib.h>
static int work(int *a, int n) {{
  int i, s = 0;
  for (i = 0; i < 8 && i < n; i++)
    s += a[i] > n ? 1 : n % 7;
  return s;
}}
int main(int argc, char **argv) {{
  int a[8] = {{ 0 }}, k;
  if (argc < 3)
    return 1;
  k = atoi(argv[1]);
  switch (k) {{
{cases}  }}
  return 0;
}}
"
    );
    let found = diagnose_line(&text, 14 + 541).violation.expect("eight is behind the array");
    assert_eq!(found.input.arguments[0], "541");
}

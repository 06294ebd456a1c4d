//! Mistakes the annotation library knows, and what it does not take for one.

use crate::common::{changes, diagnose};

fn proposed(text: &str) -> Vec<(u32, String, String)> {
    let diagnosis = diagnose(text, None, Vec::new());
    let all = changes(&diagnosis).into_iter().flatten();
    all.map(|(line, old, new)| (line, old.to_owned(), new.to_owned())).collect()
}

#[track_caller]
fn proposes(text: &str, line: u32, old: &str, new: &str) {
    let all = proposed(text);
    let wanted = (line, old.to_owned(), new.to_owned());
    assert!(all.contains(&wanted), "{all:#?}");
}

#[test]
fn another_enumerator() {
    let text = "\
enum color { RED, GREEN, BLUE, N_COLORS };
static int counts[N_COLORS];
int main(int argc, char **argv) {
  enum color c = argc > 1 ? N_COLORS : GREEN;
  counts[c]++;
  return 0;
}
";
    proposes(text, 4, "N_COLORS", "BLUE");
}

const LETTERS: &str = "\
#include <ctype.h>
#include <stdio.h>
static int counts[26];
int main(void) {
  int c = getchar();
  if (isupper(c))
    counts[c - 'A']++;
  else if (islower(c))
    counts[c - 'A']++;
  return 0;
}
";

#[test]
fn a_letter_in_the_other_case_and_no_number_for_a_character() {
    proposes(LETTERS, 9, "'A'", "'a'");
    let all = proposed(LETTERS);
    let is_tested = |(line, old, new): &(u32, String, String)| {
        *line == 8 && old == "c" && new.chars().any(|c| c.is_ascii_digit())
    };
    assert!(!all.iter().any(is_tested), "{all:#?}");
}

#[test]
fn a_limit_that_is_a_macro() {
    let text = "\
#include <stdlib.h>
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static const int prices[] = { 10, 20, 35 };
int main(int argc, char **argv) {
  unsigned tier = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  return prices[MIN(tier, LENGTH(prices))];
}
";
    proposes(text, 7, "LENGTH(prices)", "LENGTH(prices) - 1");
}

#[test]
fn the_size_of_another_array() {
    let text = "\
#include <string.h>
int main(int argc, char **argv) {
  char small[8], big[16];
  memset(small, argc, sizeof big);
  memset(big, argc, sizeof big);
  return small[0] + big[0];
}
";
    proposes(text, 4, "sizeof big", "sizeof small");
}

#[test]
fn a_test_that_leaves_before_what_fails() {
    let null = "\
#include <string.h>
static const char *names[] = { \"ann\", \"bob\" };
static const char *find(const char *name) {
  for (int i = 0; i < 2; i++)
    if (!strcmp(names[i], name))
      return names[i];
  return NULL;
}
int main(int argc, char **argv) {
  const char *u;
  if (argc < 2)
    return 1;
  u = find(argv[1]);
  return u[0];
}
";
    proposes(null, 14, "", "if (u == NULL)\n    return 1;\n  ");
    let zero = "\
static int average(int s, int n) {
\treturn s / n;
}
int main(int argc, char **argv) {
  return average(7, argc - 1);
}
";
    proposes(zero, 2, "", "if (n == 0)\n\t\treturn 0;\n\t");
    let bound = "\
#include <stdlib.h>
#define N 5
static int table[N];
static void set(int i, int v) {
  table[i] = v;
}
int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  set(atoi(argv[1]), 1);
  return 0;
}
";
    proposes(bound, 5, "", "if (i < 0 || i >= N)\n    return;\n  ");
}

#[test]
fn what_is_added_to_a_pointer_fits() {
    let text = "\
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
    let all = proposed(text);
    assert!(!all.iter().any(|(line, old, new)| *line == 6 && old == "p" && new == "i"), "{all:#?}");
    assert!(!all.is_empty());
}

//! Faults in and around calls of the C library.

use crate::common::diagnose;

/// The line of the violation found, if any, and the inputs it takes.
fn found(text: &str) -> Option<(u32, String)> {
    let violation = diagnose(text, None, Vec::new()).violation?;
    Some((violation.place.line, violation.input.told()))
}

#[test]
fn a_base_that_is_none_costs_nothing() {
    // Among the changes tried is a base of 1, of 0, and without it.
    let text = "\
#include <stdlib.h>
static int z[2];
int main(int argc, char **argv) {
  char *end;
  long n = strtol(argc > 1 ? argv[1] : \"0\", &end, 2);
  z[argc] = (int)n + *end;
  return 0;
}
";
    assert_eq!(found(text).expect("two arguments are too many").0, 6);
}

#[test]
fn what_strings_are_scanned_for_is_followed() {
    let text = "\
#include <stdio.h>
static int days[12];
int main(int argc, char **argv) {
  int month, day;
  if (argc < 2 || sscanf(argv[1], \"%d/%d\", &month, &day) != 2)
    return 1;
  if (month < 1 || month > 12)
    return 1;
  days[month] = day;
  return 0;
}
";
    let (line, inputs) = found(text).expect("there is no thirteenth element");
    assert_eq!(line, 9);
    assert!(inputs.contains("12/"), "{inputs}");
}

#[test]
fn tokens_are_found() {
    let text = "\
#include <string.h>
int main(int argc, char **argv) {
  const char *words[2];
  int n = 0;
  char *at;
  if (argc < 2)
    return 1;
  for (at = strtok(argv[1], \",\"); at != NULL; at = strtok(NULL, \",\"))
    words[n++] = at;
  return 0;
}
";
    assert_eq!(found(text).expect("a third word does not fit").0, 9);
}

#[test]
fn comparators_run_in_the_program() {
    let text = "\
#include <stdlib.h>
struct pair { int key, value; };
static int calls[8];
static int compare(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  calls[x->value]++;
  return x->key - y->key;
}
int main(int argc, char **argv) {
  struct pair pairs[3] = { { 3, 0 }, { 1, 1 }, { 2, 2 } };
  if (argc > 1)
    pairs[1].value = atoi(argv[1]);
  qsort(pairs, 3, sizeof pairs[0], compare);
  return pairs[0].key;
}
";
    assert_eq!(found(text).expect("a value may lie outside").0, 6);
}

#[test]
fn results_of_standard_functions_are_what_they_are() {
    let text = "\
#include <math.h>
#include <strings.h>
int main(int argc, char **argv) {
  int v[4] = { 0 };
  v[lround(argc > 2 ? 2.4 : 1.4)] = 1;
  if (ffs(argc) > 32)
    v[5] = 1;
  return v[1];
}
";
    assert_eq!(found(text), None);
}

const MEMBER: &str = "\
#include <stdio.h>
#include <string.h>
struct record { char name[4]; char title[4]; };
int main(int argc, char **argv) {
  struct record r = { \"\", \"\" };
  if (argc > 1)
    COPY;
  return r.title[0];
}
";

#[test]
fn string_functions_stay_in_the_member_they_are_given() {
    for copy in [
        "strcpy(r.name, argv[1])",
        "strcat(r.name, argv[1])",
        "sprintf(r.name, \"%s\", argv[1])",
        "snprintf(r.name, sizeof r, \"%s\", argv[1])",
        "strcpy(&r.name[2], argv[1])",
        "fgets(r.name, sizeof r, stdin)",
    ] {
        let text = MEMBER.replace("COPY", copy);
        let line = found(&text).map(|(line, _)| line);
        assert_eq!(line, Some(7), "{copy}");
    }
}

#[test]
fn memory_functions_may_leave_a_member_but_not_the_object() {
    for copy in [
        "memset(r.name, 0, sizeof r)",
        "memcpy(r.name, \"abcdefg\", 8)",
        "snprintf(r.title, sizeof r.title, \"%s\", argv[1])",
        "snprintf(r.name, sizeof r.name, \"%s\", argv[1])",
    ] {
        let text = MEMBER.replace("COPY", copy);
        assert_eq!(found(&text), None, "{copy}");
    }
}

#[test]
fn times_from_outside_are_any() {
    let text = "\
#include <time.h>
static int seasons[3];
int main(void) {
  time_t now = time(NULL);
  seasons[localtime(&now)->tm_mon / 3] = 1;
  return 0;
}
";
    assert_eq!(found(text).expect("there are four seasons").0, 5);
}

#[test]
fn the_end_of_input_is_noticed_too_late() {
    let text = "\
#include <stdio.h>
int main(void) {
  int sum = 0, c, seen[256] = { 0 };
  while (!feof(stdin)) {
    c = getchar();
    sum += ++seen[c];
  }
  return sum;
}
";
    assert_eq!(found(text).expect("the last character is none").0, 6);
}

#[test]
fn a_jump_back_is_told_with_its_value() {
    let text = "\
#include <setjmp.h>
static jmp_buf env;
static int a[2];
static void f(int n) {
  if (n > 1)
    longjmp(env, n);
  a[n]++;
}
int main(int argc, char **argv) {
  int r = setjmp(env);
  if (r == 0)
    f(argc);
  else
    a[r] = 1;
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let violation = diagnosis.violation.as_ref().expect("2 is outside");
    assert_eq!(violation.place.line, 14);
    let said = format!("{:?}", violation.trace);
    assert!(said.contains("r is 2") && !said.contains("r is 0"), "{said}");
}

#[test]
fn objects_of_other_code_may_hold_anything() {
    let text = "\
extern int limit;
int main(int argc, char **argv) {
  int a[4] = { 0 };
  if (limit > 3)
    a[3] = 1;
  return a[0];
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    assert!(diagnosis.violation.is_none());
    assert_eq!(diagnosis.unmodelled.as_deref(), Some("an object outside the program"));
}

#[test]
fn sums_that_are_checked_for_overflow_are_followed() {
    let text = "\
#include <stdlib.h>
static int a[4];
int main(int argc, char **argv) {
  int sum;
  if (argc < 2 || __builtin_add_overflow(atoi(argv[1]), 7, &sum))
    return 1;
  if (sum == 123)
    a[sum] = 1;
  return 0;
}
";
    let (line, inputs) = found(text).expect("116 and 7 are 123");
    assert_eq!(line, 8);
    assert!(inputs.contains("116"), "{inputs}");
}

#[test]
fn a_link_is_read_without_a_zero_behind_it() {
    let text = "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char to[100];
  long n = readlink(\"/proc/self/exe\", to, sizeof to);
  if (n < 0)
    return 1;
  to[n] = '\\0';
  return to[0] == '/';
}
";
    assert_eq!(found(text).expect("it may fill all of it").0, 8);
    assert_eq!(found(&text.replace("sizeof to)", "sizeof to - 1)")), None);
}

#[test]
fn the_working_directory_may_not_be_told() {
    let text = "\
#include <string.h>
#include <unistd.h>
int main(void) {
  char to[64], copy[20];
  char *at = getcwd(to, sizeof to);
  strcpy(copy, at);
  return 0;
}
";
    assert_eq!(found(text).expect("there may be none").0, 6);
    let tested = text.replace("strcpy(", "if (at) strcpy(");
    assert_eq!(found(&tested).expect("it may be longer").0, 6);
    assert_eq!(found(&tested.replace("copy[20]", "copy[64]")), None);
}

#[test]
fn no_file_has_an_empty_name() {
    let text = "\
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *f;
  char line[10];
  if (argc != 2)
    return 2;
  f = fopen(argv[1], \"r\");
  if (f == NULL)
    return 2;
  return fgets(line, 20, f) != NULL;
}
";
    let (line, told) = found(text).expect("lines may be longer");
    assert_eq!(line, 10);
    assert!(told.starts_with("printf '") && told.ends_with("' > 0; ./program 0"), "{told}");
    let made_up = text.replace("argv[1]", "\"\"");
    assert_eq!(found(&made_up), None);
}

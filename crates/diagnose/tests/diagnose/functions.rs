//! Runs that start in another function than `main`, whose parameters are made up.

use crate::common::{diagnose, diagnose_function};

/// What a run from this function fails with.
fn fails_with(text: &str, function: &str) -> Option<String> {
    let violation = diagnose_function(text, function).violation?;
    Some(violation.input.told())
}

const COPIES: &str = "\
#include <string.h>
int copy(const char *s) { char b[8]; strcpy(b, s); return b[0]; }
int fits(const char *s) { char b[80]; strcpy(b, s); return b[0]; }
int sum(const int *a, int n) { int t[6], i; for (i = 0; i < n; i++) t[i] = a[i]; return t[0]; }
";

#[test]
fn what_lies_behind_a_parameter_grows() {
    assert_eq!(fails_with(COPIES, "copy").as_deref(), Some("s = \"00000000\""));
    assert_eq!(fails_with(COPIES, "sum").as_deref(), Some("a = {0}, n = 7"));
    assert_eq!(fails_with(COPIES, "fits"), None);
}

#[test]
fn a_run_that_leaves_what_was_made_up_is_not_complete() {
    let text = "int last(const int *a, int n) { return n > 0 ? a[n] : 0; }\n";
    let diagnosis = diagnose_function(text, "last");
    assert!(diagnosis.violation.is_none());
    assert!(diagnosis.incomplete.is_some(), "what lies there is not known");
}

const TESTED: &str = "\
#include <stddef.h>
struct node { int value; struct node *next; };
static int is_there(const struct node *p) { return p != NULL; }
int tests(const char *p) { if (p != NULL && *p == 'x') return 1; return *p; }
int asks(const struct node *p) { return is_there(p) ? 0 : p->value; }
int walks(const struct node *p) {
  const struct node *q;
  for (q = p; q; q = q->next)
    ;
  return p->value;
}
int trusts(const char *p) { return *p; }
int behind(struct node *p) { while (p->next != NULL) p = p->next; return p->value; }
";

#[test]
fn a_parameter_that_is_compared_with_null_may_be_null() {
    for function in ["tests", "asks", "walks"] {
        assert_eq!(fails_with(TESTED, function).as_deref(), Some("p = NULL"), "{function}");
    }
    assert_eq!(fails_with(TESTED, "trusts"), None, "nothing says that it may be null");
    assert_eq!(fails_with(TESTED, "behind"), None, "a member is no parameter");
}

#[test]
fn parameters_are_told_as_c_writes_them() {
    let text = "\
struct item { int n; unsigned char left[4]; };
int f(const struct item *p, unsigned char k, const short *a) {
  if (p->n != -3 || p[1].left[2] != 9 || k != 200 || a[2] != -7)
    return 1;
  return 1 / (k - 200);
}
";
    let told = fails_with(text, "f");
    let wanted = "p = {[0].n = -3, [1].left[2] = 9}, k = 200, a = {0, 0, -7}";
    assert_eq!(told.as_deref(), Some(wanted));
}

#[test]
fn without_main_it_is_said_where_runs_start() {
    let diagnosis = diagnose("int f(int n) { return 1 / n; }\n", None, Vec::new());
    assert!(diagnosis.violation.is_some());
    assert!(diagnosis.notes[0].contains("runs start in f"), "{:?}", diagnosis.notes);
}

#[test]
fn an_object_too_large_to_be_followed_is_told_as_one() {
    let text = "static char huge[1u << 30];\nint main(void) { return huge[3]; }\n";
    let diagnosis = diagnose(text, None, Vec::new());
    let why = diagnosis.incomplete.expect("nothing was run");
    assert!(why.contains("an object of 1073741824 bytes"), "{why}");
}

//! What the failing check says: the values it fails with, and what ended the life of an object.

use crate::common::diagnose;
use diagnose::{Diagnosis, TestCase};

fn notes(diagnosis: &Diagnosis) -> Vec<&str> {
    let found = diagnosis.violation.as_ref().expect("something is violated");
    found.trace.steps.iter().map(|step| step.note.as_str()).collect()
}

/// The body of a program that fails, and what the check says.
#[track_caller]
fn fails(body: &str, expected: &str) {
    let text = format!("#include <limits.h>\n#include <stdlib.h>\n#include <string.h>\n{body}");
    let diagnosis = diagnose(&text, None, Vec::new());
    let found = diagnosis.violation.as_ref().expect("something is violated");
    assert_eq!(found.message, expected);
}

#[test]
fn arrays_are_told_with_index_and_length() {
    fails(
        "int a[4];\nint main(int argc, char **argv) {\n  if (argc == 1)\n    a[argc + 3] = 1;\n}\n",
        "an access outside the bounds of its object: \
         a[argc + 3] writes element 4 of a, which has 4 elements",
    );
    fails(
        "int m[2][3];\nint main(int argc, char **argv) {\n  int i = argc - 3;\n  \
         if (argc == 3)\n    return m[i][argc];\n  return 0;\n}\n",
        "an access outside the bounds of its object: \
         m[i][argc] reads element 3 of m[i], which has 3 elements",
    );
}

/// Nearer to what is read than the array lies another object.
#[test]
fn the_object_is_what_the_pointer_starts_from() {
    fails(
        "int main(int argc, char **argv) {\n  int before[100] = {0};\n  int a[100] = {0};\n  \
         if (argc > 1)\n    return a[-60] + before[0];\n  return 0;\n}\n",
        "an access outside the bounds of its object: \
         a[-60] reads element -60 of a, which has 100 elements",
    );
}

#[test]
fn string_functions_are_told_with_their_bytes() {
    fails(
        "int main(void) {\n  char b[8];\n  strcpy(b, \"12345678\");\n  return b[0];\n}\n",
        "an access outside the bounds of its object: strcpy writes 9 bytes into b, which has 8 bytes",
    );
    fails(
        "int main(void) {\n  char *b = malloc(4);\n  memset(b, 0, 5);\n  return b[0];\n}\n",
        "an access outside the bounds of its object: \
         memset writes 5 bytes into the 4 bytes allocated in line 5",
    );
    fails(
        "struct s { int id; char name[4]; int last; };\nint main(void) {\n  struct s s;\n  s.last = \
         0;\n  strcpy(s.name, \"1234\");\n  return s.last;\n}\n",
        "an access outside the bounds of its object: \
         strcpy writes 5 bytes into s.name, which has 4 bytes",
    );
    fails(
        "int main(void) {\n  char b[2] = {'a', 'b'};\n  return strlen(b);\n}\n",
        "an access outside the bounds of its object: \
         strlen reads past the end of b, which has 2 bytes",
    );
}

#[test]
fn numbers_and_pointers_are_told() {
    fails(
        "int main(int argc, char **argv) {\n  int d = argc - 2;\n  return 7 / d;\n}\n",
        "a division by zero: 7 / d is 7 / 0",
    );
    fails(
        "int main(int argc, char **argv) {\n  int n = INT_MAX;\n  return n + argc;\n}\n",
        "a signed number overflows: 2147483647 + argc is 2147483647 + 1",
    );
    fails(
        "struct node { struct node *next; int v; };\nint main(void) {\n  struct node n = {0};\n  \
         return n.next->v;\n}\n",
        "a null pointer is dereferenced: n.next->v: n.next is NULL",
    );
    fails(
        "int main(int argc, char **argv) {\n  int set;\n  if (argc > 1)\n    set = 1;\n  \
         if (set)\n    return 1;\n  return 0;\n}\n",
        "a value that was never set decides: set was never set",
    );
}

#[test]
fn the_end_of_a_life_is_told_with_what_led_to_it() {
    let text = "\
#include <stdlib.h>
int main(int argc, char **argv) {
  int *p = malloc(sizeof *p);
  *p = argc;
  if (argc > 3)
    free(p);
  return *p;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    let expected = [
        "condition (argc > 3) is true",
        "free(p) ends the life of the 4 bytes allocated in line 3",
        "check fails: an object is used after its life: \
         *p reads the 4 bytes allocated in line 3, freed in line 6",
    ];
    assert_eq!(all[all.len() - 3..], expected, "{all:#?}");
}

#[test]
fn a_pointer_that_is_freed_twice_is_told_with_the_first_time() {
    let text = "\
#include <stdlib.h>
static void drop(char *text, int is_last) {
  if (is_last)
    free(text);
}
int main(int argc, char **argv) {
  char *text = malloc(2);
  drop(text, argc == 2);
  free(text);
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    for note in [
        "drop(text, argc == 2): is_last is 1",
        "condition (is_last) is true",
        "free(text) ends the life of the 2 bytes allocated in line 7",
        "check fails: memory is freed twice: \
         text points to the 2 bytes allocated in line 7, freed in line 4",
    ] {
        assert!(all.contains(&note), "{note}: {all:#?}");
    }
}

#[test]
fn a_variable_ends_with_its_function() {
    let text = "\
static int *local(int n) {
  int x = n;
  int *p = &x;
  return p;
}
int main(int argc, char **argv) {
  int *p = local(argc);
  return *p;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    assert!(all.contains(&"local(argc) ends the life of x"), "{all:#?}");
    let failing = all.last().expect("it fails");
    assert!(
        failing.ends_with("*p reads x, which ended when local returned to line 7"),
        "{failing}"
    );
}

/// Two calls around what fails: the condition of the outer one decides as well.
#[test]
fn decisions_of_all_callers_are_told() {
    let text = "\
static int a[2];
static void inner(int i) {
  a[i] = 1;
}
static void outer(int i) {
  inner(i);
}
int main(int argc, char **argv) {
  if (argc > 1)
    outer(2);
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    assert!(all.contains(&"condition (argc > 1) is true"), "{all:#?}");
    assert!(all.contains(&"outer(2): i is 2"), "{all:#?}");
}

#[test]
fn floating_point_numbers_are_told() {
    let text = "\
static int a[4];
int main(void) {
  double x = 1.50;
  double y = x * 4;
  return a[(int)y];
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    assert!(all.contains(&"x = 1.50") && all.iter().any(|n| n.ends_with("y is 6")), "{all:#?}");
}

#[test]
fn characters_are_told_as_such() {
    let text = "\
#include <stdio.h>
static int a[4];
int main(void) {
  int c = getchar();
  if (c == 'l')
    a[c] = 1;
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    assert!(all.contains(&"c = getchar(): c is 'l'"), "{all:#?}");
}

#[test]
fn functions_of_the_compiler_are_told_as_in_c() {
    let text = "\
#include <stdlib.h>
static int a[4];
static int clamp(int n) {
  return n > 4 ? 4 : n;
}
int main(int argc, char **argv) {
  if (abs(clamp(argc)) > 3)
    a[abs(clamp(argc))] = 1;
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    assert!(all.iter().all(|note| !note.contains(".i32")), "{all:#?}");
    assert!(all.contains(&"condition (abs(clamp(argc)) > 3) is true"), "{all:#?}");
}

/// What a call gives is told with what it is assigned to or decides, not twice.
#[test]
fn results_of_calls_are_told_once() {
    let text = "\
#include <stdlib.h>
#include <string.h>
struct s { int n; char *text; };
int main(int argc, char **argv) {
  struct s s;
  s.text = malloc(2);
  if (argc > 1 && strchr(argv[1], 'x'))
    s.text[2] = 'x';
  return 0;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let all = notes(&diagnosis);
    assert!(all.contains(&"s.text = malloc(2)"), "{all:#?}");
    assert!(all.contains(&"condition (strchr(argv[1], 'x')) is true"), "{all:#?}");
    assert!(all.iter().all(|note| !note.ends_with(") is not null")), "{all:#?}");
}

#[test]
fn tests_that_changes_fail_are_named() {
    let text = "int a[2];\nint main(int argc, char **argv) {\n  if (argc > 1)\n    a[argc] = 1;\n  \
                return 0;\n}\n";
    let test = TestCase {
        name: "silent".to_owned(),
        arguments: Vec::new(),
        stdin: Vec::new(),
        stdout: Some(b"never said".to_vec()),
        exit: None,
    };
    let diagnosis = diagnose(text, None, vec![test]);
    assert!(diagnosis.repairs.is_empty());
    let said = diagnosis.notes.join("\n");
    assert!(said.contains("fail test silent"), "{said}");
}

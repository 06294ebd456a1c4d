//! Numbers that do not fit, wherever they come from, and numbers that always do.

use diagnose::Diagnosis;

use crate::common::diagnose;

/// A program whose only argument is a number, or nothing.
fn with_number(statements: &str) -> Diagnosis {
    let text = format!(
        "#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {{
  if (argc < 2)
    return 0;
  {statements}
  return 0;
}}
"
    );
    diagnose(&text, None, Vec::new())
}

#[track_caller]
fn overflows(statements: &str) {
    let diagnosis = with_number(statements);
    let rule = diagnosis.violation.as_ref().map(|found| found.rule);
    assert_eq!(rule, Some("integer-overflow"), "{statements}: {:?}", diagnosis.incomplete);
}

#[track_caller]
fn never_overflows(statements: &str) {
    let diagnosis = with_number(statements);
    let found = diagnosis.violation.as_ref().map(|found| &found.input.command);
    assert_eq!((found, &diagnosis.incomplete), (None, &None), "{statements}");
}

#[test]
fn products_of_unknown_numbers_overflow() {
    overflows("int n = atoi(argv[1]); printf(\"%d\", n * n);");
    overflows("int n = atoi(argv[1]); printf(\"%d\", n * (n - 7));");
    overflows("int n = atoi(argv[1]); if (n > 46340 && n < 46350) printf(\"%d\", n * n);");
    overflows("int n = atoi(argv[1]), m = atoi(argv[argc - 1]); printf(\"%d\", n * m);");
    overflows("long n = atol(argv[1]); printf(\"%ld\", n * n);");
    overflows("unsigned short n = atoi(argv[1]); printf(\"%d\", n * n);");
}

#[test]
fn products_with_negative_constants_overflow() {
    overflows("int n = atoi(argv[1]); printf(\"%d\", n * -3);");
    overflows("int n = atoi(argv[1]); printf(\"%d\", n * -1);");
    never_overflows("int n = atoi(argv[1]); if (n != INT_MIN) printf(\"%d\", n * -1);");
    never_overflows(
        "int n = atoi(argv[1]); if (n >= -1 && n < 8) printf(\"%d\", n * (INT_MIN / 8));",
    );
}

#[test]
fn small_products_do_not_overflow() {
    never_overflows("int n = atoi(argv[1]); if (n > -46341 && n < 46341) printf(\"%d\", n * n);");
    never_overflows("long n = atoi(argv[1]); printf(\"%ld\", n * n);");
    never_overflows("unsigned char n = atoi(argv[1]); printf(\"%d\", n * n * n);");
}

#[test]
fn the_least_number_has_no_opposite() {
    overflows("int n = atoi(argv[1]); if (n) printf(\"%d\", INT_MIN / n);");
    overflows("int n = atoi(argv[1]); if (n) printf(\"%d\", INT_MIN % n);");
    overflows("int n = atoi(argv[1]); printf(\"%d\", -n);");
    overflows("int n = atoi(argv[1]); printf(\"%d\", n / -1);");
    never_overflows("int n = atoi(argv[1]); if (n) printf(\"%d\", INT_MAX / n);");
    never_overflows("int n = atoi(argv[1]); printf(\"%d\", n / -2);");
}

#[test]
fn numbers_in_text_are_as_large_as_their_type() {
    overflows("int n = atoi(argv[1]); printf(\"%d\", n + 1);");
    overflows("long n = atol(argv[1]); printf(\"%ld\", n - 2);");
    let diagnosis = with_number("int t[4]; if (atol(argv[1]) == 4294967295) t[argc + 4] = 1;");
    let found = diagnosis.violation.expect("a number of ten digits");
    assert!(found.input.command.starts_with("./program 4294967295"), "{:?}", found.input);
    let diagnosis =
        with_number("int t[4]; if (atol(argv[1]) < -9223372036854775807) t[argc + 4] = 1;");
    let found = diagnosis.violation.expect("the least of all numbers");
    assert!(found.input.command.starts_with("./program -9223372036854775808"), "{:?}", found.input);
}

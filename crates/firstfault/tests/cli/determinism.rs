//! The same program looks the same however it was imported.

use crate::support::{Sandbox, TWO_UNITS};

const SHOW: &[&str] = &["show", "ir", "main.c", "add.c", "more.c"];

/// Enough different things that an order left to chance would show.
const MORE: &str = "
#include <stdio.h>
#include <string.h>
struct point { int x, y; const char *name; };
union word { unsigned char bytes[4]; unsigned value; };
enum colour { RED, GREEN = 4, BLUE };
typedef int (*operation)(int, int);
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }
static operation operations[] = { plus, minus };
static struct point points[3] = { { 1, 2, \"one\" }, { .y = 4, .name = \"two\" } };
#define TWICE(x) ((x) * 2)
int more(int n, const char *text)
{
    char copy[16];
    union word word = { .value = 7 };
    int total = 0;
    for (int i = 0; i < n; i++) {
        switch (text[i]) {
        case 'a': total += operations[i % 2](i, TWICE(total)); break;
        case 'b': total -= points[i % 3].x; break;
        default: total ^= word.bytes[i & 3];
        }
    }
    strncpy(copy, text, sizeof copy);
    return total + printf(\"%s %d\\n\", copy, (int)BLUE);
}
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write("more.c", MORE);
    sandbox
}

fn shown(sandbox: &Sandbox, more: &[&str]) -> String {
    let args: Vec<&str> = SHOW.iter().chain(more).copied().collect();
    let run = sandbox.run(&args).expect_analysed();
    assert!(run.stdout.contains("more"), "{run:#?}");
    run.stdout
}

#[test]
fn threads_and_cache_do_not_show() {
    let sandbox = sandbox();
    let cold_one = shown(&sandbox, &["-j1"]);
    let warm_two = shown(&sandbox, &["-j2"]);
    assert_eq!(cold_one, warm_two);
    let cold_two = shown(&sandbox, &["-j2", "--state", "other-state"]);
    assert_eq!(cold_one, cold_two);
    let warm_one = shown(&sandbox, &["-j1", "--state", "other-state"]);
    assert_eq!(cold_one, warm_one);
}

#[test]
fn a_copy_of_the_project_elsewhere_looks_the_same() {
    assert_eq!(shown(&sandbox(), &[]), shown(&sandbox(), &[]));
}

#[test]
fn reports_are_the_same_bytes() {
    let sandbox = sandbox();
    let check = |more: &[&str]| {
        let mut args = vec!["check", "--format", "json", "main.c", "add.c", "more.c"];
        args.extend(more);
        sandbox.run(&args).expect_analysed().stdout
    };
    let first = check(&["-j1"]);
    assert_eq!(first, check(&["-j2"]));
    assert_eq!(first, check(&["-j2", "--state", "other-state"]));
}

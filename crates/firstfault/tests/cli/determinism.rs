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

/// Functions with faults, contracts and questions nobody can answer, of callers and callees.
fn many_functions() -> String {
    let mut text =
        "#include <stdlib.h>\n#include <string.h>\nextern int chance(void);\n".to_owned();
    for n in 0..40 {
        text += &format!(
            "static int helper{n}(int *p, int k) {{ return k > {n} ? p[k] : 100 / k; }}\n\
             int user{n}(int a, char *s) {{\n\
             \x20 int t[{size}] = {{0}}, u, *p = malloc(8);\n\
             \x20 char copy[{size}];\n\
             \x20 if (a > {n}) u = a;\n\
             \x20 for (int i = 0; i < a; i++) t[i] = u;\n\
             \x20 strcpy(copy, s);\n\
             \x20 *p = helper{n}(t, chance() % 7);\n\
             \x20 return t[a] + copy[0] + helper{n}(t, a - {n});\n\
             }}\n",
            size = n % 9 + 2
        );
    }
    text
}

#[test]
fn findings_in_many_functions_are_the_same_bytes() {
    let sandbox = Sandbox::new(&[("many.c", &many_functions())]);
    let check = |more: &[&str]| {
        let mut args = vec!["check", "--format", "json", "many.c", "--strict"];
        args.extend(["--entry", "user3:a,s"]);
        args.extend(more);
        sandbox.run(&args).expect(1)
    };
    let cold_on_one = check(&["-j1", "--state", "one"]);
    assert!(cold_on_one.json().faults.len() > 40, "{}", cold_on_one.json().faults.len());
    for options in [["-j1", "--state", "one"], ["-j2", "--state", "two"], ["-j2", "--state", "two"]]
    {
        assert!(check(&options).stdout == cold_on_one.stdout, "{options:?} differs");
    }
}

/// Chains of copies that pass each other on, so that faults of many functions correlate.
fn many_chains() -> String {
    let mut text = String::from("#include <stdlib.h>\n#include <string.h>\n");
    for n in 0..12 {
        let size = 8 + n;
        text += &format!(
            "static void last{n}(char *s) {{ char c[{size}]; strcpy(c, s); s[0] = c[0]; }}\n\
             static void first{n}(char *s) {{ char b[{size}]; strcpy(b, s); last{n}(b); s[0] = b[0]; }}\n\
             void chain{n}(void) {{\n  char a[{size}];\n  const char *in = getenv(\"A{n}\");\n  \
             if (in) {{ strcpy(a, in); first{n}(a); }}\n}}\n"
        );
    }
    text
}

#[test]
fn graphs_are_the_same_bytes() {
    let sandbox = Sandbox::new(&[("chains.c", &many_chains())]);
    for format in ["json", "dot", "svg", "text"] {
        let graph = |jobs: &str, state: &str| {
            let args = ["check", "--graph", "--format", format, jobs, "--state", state, "chains.c"];
            sandbox.run(&args).expect(1).stdout
        };
        let on_one = graph("-j1", "one");
        assert!(on_one.matches("chains.c").count() >= 24, "{on_one}");
        assert!(graph("-j2", "two") == on_one, "{format} differs");
    }
}

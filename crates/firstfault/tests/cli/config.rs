//! `firstfault.toml`, and the options that do the same.

use crate::support::Sandbox;

const WITHOUT_MEMORY: &str = "#include <stdlib.h>
int main(void)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    int seven = *p + 6;
    free(p);
    return seven;
}
";

const INTERFACE: &str = "static int table[8];
int lookup(unsigned index)
{
    return table[index];
}
";

fn rules_of(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let args: Vec<&str> = ["check", "--format", "json"].iter().chain(args).copied().collect();
    let run = sandbox.run(&args).expect_analysed();
    run.json().faults.iter().map(|fault| fault.rule.clone()).collect()
}

#[test]
fn allocation_can_be_assumed_to_succeed() {
    let sandbox = Sandbox::new(&[("a.c", WITHOUT_MEMORY)]);
    assert_eq!(rules_of(&sandbox, &["a.c"]), ["null-dereference"]);
    assert_eq!(rules_of(&sandbox, &["a.c", "--assume-alloc-succeeds"]), [""; 0]);
    sandbox.write("firstfault.toml", "assume-alloc-succeeds = true\n");
    assert_eq!(rules_of(&sandbox, &["a.c"]), [""; 0]);
}

#[test]
fn entries_make_parameters_input() {
    let sandbox = Sandbox::new(&[("a.c", INTERFACE)]);
    assert_eq!(rules_of(&sandbox, &["a.c"]), [""; 0]);
    let by_option = rules_of(&sandbox, &["a.c", "--entry", "lookup:index"]);
    assert_eq!(by_option, ["buffer-overread"]);
    sandbox.write("firstfault.toml", "[[entry]]\nfunction = \"lookup\"\ninput = [\"index\"]\n");
    assert_eq!(rules_of(&sandbox, &["a.c"]), by_option);
}

#[test]
fn an_entry_that_names_nothing_is_said() {
    let sandbox = Sandbox::new(&[("a.c", INTERFACE)]);
    let run = sandbox.run(&["check", "a.c", "--entry", "lookup:indx"]).expect(0);
    assert!(run.stderr.contains("lookup has no parameter indx"), "{run:#?}");
    let run = sandbox.run(&["check", "a.c", "--entry", "look:index"]).expect(0);
    assert!(run.stderr.contains("no function look with a body"), "{run:#?}");
    let run = sandbox.run(&["check", "a.c", "--entry", "lookup"]).expect(2);
    assert!(run.first_error().contains("names no parameters"), "{run:#?}");
}

#[test]
fn rules_and_models_of_the_project_are_used_everywhere() {
    let sandbox = Sandbox::new(&[]);
    sandbox.run(&["spec", "new", "my-rule", "--folder", "rules"]).expect(0);
    sandbox.write("firstfault.toml", "spec = [\"rules\"]\n");
    sandbox.write("a.c", sandbox.read("rules/my-rule/fixtures/basic.c"));
    assert_eq!(rules_of(&sandbox, &["a.c"]), ["my-rule"]);
    // Named twice, it is still one rule.
    assert_eq!(rules_of(&sandbox, &["a.c", "--spec", "rules/my-rule"]), ["my-rule"]);
    let run = sandbox.run(&["rules"]).expect(0);
    assert!(run.stdout.contains("\nmy-rule "), "{run:#?}");
    let run = sandbox.run(&["explain", "my-rule"]).expect(0);
    assert!(run.stdout.starts_with("# my-rule"), "{run:#?}");
    let run = sandbox.run(&["spec", "test", "rules"]).expect(0);
    assert!(run.stdout.contains("as annotated: 1 rule"), "{run:#?}");
}

#[test]
fn wrong_settings_are_an_error_with_a_place() {
    let sandbox = Sandbox::new(&[("a.c", INTERFACE)]);
    sandbox.write("firstfault.toml", "\nentrys = []\n");
    let run = sandbox.run(&["check", "a.c"]).expect(2);
    let expected = "firstfault.toml:2:1: unknown key `entrys`; do you mean `entry`?";
    assert!(run.first_error().contains(expected), "{run:#?}");
    sandbox.write("firstfault.toml", "spec = [\"nowhere\"]\n");
    let run = sandbox.run(&["check", "a.c"]).expect(2);
    assert!(run.first_error().contains("nowhere"), "{run:#?}");
}

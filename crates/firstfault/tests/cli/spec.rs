//! `spec`, `rules` and `explain`.

use crate::support::Sandbox;

const MISTAKEN: &str =
    "fault x\ntitle \"t\"\nvars ptr p;\nobserve\n  at $f(p)$ require Sise(p) > 0\n";

#[test]
fn the_built_in_specifications_are_correct() {
    let run = Sandbox::new(&[]).run(&["spec", "check"]).expect(0);
    assert!(run.stdout.contains("specifications are correct"), "{run:#?}");
}

#[test]
fn a_mistake_is_shown_with_its_place_and_what_to_try() {
    let sandbox = Sandbox::new(&[("my.fault", MISTAKEN)]);
    let run = sandbox.run(&["spec", "check", "my.fault"]).expect(1);
    assert!(run.stdout.contains("my.fault:5:21: error: unknown attribute `Sise`"), "{run:#?}");
    assert!(run.stdout.contains("^^^^ did you mean `Size`?"), "{run:#?}");
    sandbox.run(&["spec", "check", "missing.fault"]).expect(2);
}

#[test]
fn a_new_rule_can_be_checked_and_shown() {
    let sandbox = Sandbox::new(&[]);
    sandbox.run(&["spec", "new", "my-rule"]).expect(0);
    sandbox.run(&["spec", "check", "my-rule"]).expect(0);
    let run = sandbox.run(&["spec", "show", "my-rule/spec.fault"]).expect(0);
    assert!(run.stdout.contains("matches a call of resource_use with (r)"), "{run:#?}");
    let again = sandbox.run(&["spec", "new", "my-rule"]).expect(2);
    assert!(again.first_error().contains("exists already"), "{again:#?}");
    sandbox.run(&["spec", "new", "../evil"]).expect(2);
}

#[test]
fn rules_are_listed_and_explained() {
    let sandbox = Sandbox::new(&[]);
    let run = sandbox.run(&["rules"]).expect(0);
    assert!(run.stdout.contains("use-after-free"), "{run:#?}");
    let run = sandbox.run(&["explain", "use-after-free"]).expect(0);
    assert!(run.stdout.starts_with("# use-after-free"), "{run:#?}");
    let run = sandbox.run(&["explain", "use-afer-free"]).expect(2);
    assert!(run.first_error().contains("do you mean use-after-free?"), "{run:#?}");
}

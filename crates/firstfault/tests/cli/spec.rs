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

#[test]
fn fixtures_are_run_and_compared_both_ways() {
    let sandbox = Sandbox::new(&[]);
    sandbox.run(&["spec", "new", "my-rule"]).expect(0);
    let run = sandbox.run(&["spec", "test", "my-rule"]).expect(0);
    // The fixture of the folder, and the example of the document.
    assert!(run.stdout.contains("2 fixtures, as annotated"), "{run:#?}");
    let fixture = sandbox.read("my-rule/fixtures/basic.c");
    sandbox.write("my-rule/fixtures/basic.c", fixture.replace("//~ step(late)", ""));
    sandbox.run(&["spec", "test", "my-rule/spec.fault"]).expect(0);
    sandbox.write("my-rule/fixtures/basic.c", fixture.replace("//~ ", "// "));
    let run = sandbox.run(&["spec", "test", "my-rule"]).expect(1);
    assert!(run.stdout.contains("basic.c:10: unexpected fault[my-rule]"), "{run:#?}");
    sandbox.write("my-rule/fixtures/basic.c", fixture.replace("//~ ok", "//~ fault"));
    let run = sandbox.run(&["spec", "test", "."]).expect(1);
    assert!(run.stdout.contains("basic.c:15: fault[my-rule] is not reported here"), "{run:#?}");
}

#[test]
fn built_in_rules_carry_their_fixtures() {
    let sandbox = Sandbox::new(&[]);
    let run = sandbox.run(&["spec", "test", "double-free", "lock-pairing"]).expect(0);
    assert!(run.stdout.contains("as annotated: 2 rules"), "{run:#?}");
    let run = sandbox.run(&["spec", "test", "duble-free"]).expect(2);
    assert!(run.first_error().contains("do you mean double-free?"), "{run:#?}");
    sandbox.write("empty/notes.txt", "");
    let run = sandbox.run(&["spec", "test", "empty"]).expect(2);
    assert!(run.first_error().contains("no rule with fixtures"), "{run:#?}");
}

/// Files that are no specifications at all cost a short message.
#[test]
fn hostile_specifications_are_refused_briefly() {
    let sandbox = Sandbox::new(&[]);
    let start = "fault x\ntitle \"t\"\nvars ptr p;\nobserve\n  at $f(p)$ require ";
    let cases: [(&str, Vec<u8>, i32, &str); 7] = [
        ("words.fault", "at ".repeat(300_000).into(), 1, "expected `fault NAME` or `model NAME`"),
        ("deep.fault", format!("{start}{}", "(".repeat(1 << 20)).into(), 1, "error: "),
        (
            "long.fault",
            format!("{start}{}0 > 1;", "Size(p) + ".repeat(100_000)).into(),
            1,
            "more than 200 operators in a row",
        ),
        (
            "signature.fault",
            start.replace("f(p)", &format!("{}p", "p + ".repeat(100_000))).into(),
            1,
            "longer than any signature",
        ),
        ("nul.fault", format!("{start}Size(p) > \0\0\0").into(), 1, "error: "),
        ("bytes.fault", [start.as_bytes(), &[0xff, 0xfe]].concat(), 2, "line 5 is not UTF-8"),
        ("huge.fault", vec![b'#'; (4 << 20) + 1], 2, "larger than 4 MiB"),
    ];
    for (name, content, code, expected) in cases {
        sandbox.write(name, content);
        let run = sandbox.run(&["spec", "check", name]).expect(code);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(expected), "{name}: {said}");
        assert!(said.len() < 100_000 && !said.contains('\0'), "{name}: {} bytes", said.len());
    }
}

//! The same finding over time: fingerprints, baselines, comments, commits.

use std::process::Command;

use crate::support::{Run, Sandbox};

const TWO: &str = "#include <stdlib.h>
int use(int *p) { return *p; }

int first(void)
{
    int *p = malloc(sizeof *p);
    if (!p)
        return 0;
    free(p);
    return *p;
}

int second(int n)
{
    int table[4] = {0};
    table[4] = n;
    return table[0];
}
";

fn check(sandbox: &Sandbox, more: &[&str]) -> Run {
    let args: Vec<&str> =
        ["check", "--format", "json", "a.c"].iter().chain(more).copied().collect();
    sandbox.run(&args)
}

fn names(run: &Run) -> Vec<(String, String)> {
    let faults = run.json().faults;
    faults.into_iter().map(|fault| (fault.rule, fault.fingerprint)).collect()
}

fn rules(run: &Run) -> Vec<String> {
    names(run).into_iter().map(|(rule, _)| rule).collect()
}

fn git(sandbox: &Sandbox, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(sandbox.path(""))
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn fingerprints_survive_edits_elsewhere_and_lines_that_move() {
    let sandbox = Sandbox::new(&[("a.c", TWO)]);
    let before = names(&check(&sandbox, &[]).expect(1));
    assert_eq!(before.len(), 2, "{before:?}");
    assert!(before.iter().all(|(_, name)| name.len() == 32));
    let edited = TWO
        .replace("int use", "/* new */\n\nstatic int more(void) { return 7; }\nint use")
        .replace("    free(p);\n", "\n\n  free( p );\n")
        .replace("    table[4] = n;", "\ttable[4]  =  n;");
    sandbox.write("a.c", edited);
    assert_eq!(names(&check(&sandbox, &[]).expect(1)), before);
    // The line itself changed: another finding.
    sandbox.write("a.c", TWO.replace("table[4] = n;", "table[4] = n + 1;"));
    let after = names(&check(&sandbox, &[]).expect(1));
    assert_eq!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let sandbox = Sandbox::new(&[("a.c", TWO)]);
    check(&sandbox, &["--save-baseline", "known.json"]).expect(1);
    let run = check(&sandbox, &["--baseline", "known.json"]).expect(0);
    assert_eq!(run.json().stats["in_baseline"], 2);
    sandbox.write("a.c", format!("{TWO}int zero(void) {{ int z = 0; return 1 / z; }}\n"));
    assert_eq!(
        rules(&check(&sandbox, &["--baseline", "known.json"]).expect(1)),
        ["divide-by-zero"]
    );
    // A whole report will do, too; anything else is refused.
    sandbox.write("report.json", check(&sandbox, &[]).expect(1).stdout);
    check(&sandbox, &["--baseline", "report.json"]).expect(0);
    let run = check(&sandbox, &["--baseline", "a.c"]).expect(2);
    assert!(run.first_error().contains("cannot use the baseline a.c"), "{run:#?}");
}

#[test]
fn comments_silence_one_line_or_one_function() {
    let silenced = TWO
        .replace(
            "return *p;\n}\n\nint second",
            "return *p; // firstfault-ignore[use-after-free]: a test\n}\n\nint second",
        )
        .replace("int second", "/* firstfault-ignore[buffer-overflow]: another */\nint second");
    let sandbox = Sandbox::new(&[("a.c", &silenced)]);
    let run = check(&sandbox, &[]).expect(0);
    assert_eq!(run.json().stats["ignored"], 2);
    assert_eq!(run.json().notices, []);
    // Fixed, but the comments are still there.
    let fixed = silenced.replace("    free(p);\n", "").replace("table[4] = n", "table[3] = n");
    sandbox.write("a.c", fixed);
    let run = sandbox
        .run(&["check", "a.c", "--rule", "use-after-free", "--rule", "buffer-overflow"])
        .expect(0);
    let said = "a.c:9: note: firstfault-ignore[use-after-free] silences nothing: remove it";
    assert!(run.stdout.contains(said), "{run:#?}");
    assert_eq!(run.stdout.matches("silences nothing").count(), 2, "{run:#?}");
    sandbox.write(
        "a.c",
        "int a; // firstfault-ignore[use-afer-free]: x\nint b; // firstfault-ignore[leak]\n",
    );
    let run = sandbox.run(&["check", "a.c"]).expect(0);
    assert!(run.stdout.contains("no rule is called that; do you mean use-after-free?"), "{run:#?}");
    assert!(run.stdout.contains("gives no reason"), "{run:#?}");
}

#[test]
fn only_what_is_new_since_a_commit_is_reported() {
    let sandbox = Sandbox::new(&[("a.c", TWO)]);
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "a.c"]);
    git(&sandbox, &["commit", "-qm", "one"]);
    let moved = TWO.replace("int use", "\n\nint use");
    sandbox.write("a.c", format!("{moved}int zero(void) {{ int z = 0; return 1 / z; }}\n"));
    let run = check(&sandbox, &["--diff", "HEAD"]).expect(1);
    assert_eq!(rules(&run), ["divide-by-zero"]);
    assert_eq!(run.json().stats["known_before"], 2);
    // By edited functions: nothing in the others changed.
    let run = check(&sandbox, &["--changed-since", "HEAD"]).expect(1);
    assert_eq!(rules(&run), ["divide-by-zero"]);
    // Of another length: git may take an edit of the same second and length for none.
    sandbox.write("a.c", TWO.replace("int table[4] = {0};", "int table[4] = {1, 2};"));
    assert_eq!(
        rules(&check(&sandbox, &["--changed-since", "HEAD"]).expect(1)),
        ["buffer-overflow"]
    );
    let run = check(&sandbox, &["--diff", "no-such"]).expect(2);
    assert!(run.first_error().contains("no commit no-such here"), "{run:#?}");
}

#[test]
fn the_last_findings_are_written_again_in_any_format() {
    let sandbox = Sandbox::new(&[("a.c", TWO)]);
    let run = sandbox.run(&["report"]).expect(2);
    assert!(run.first_error().contains("run `firstfault check` first"), "{run:#?}");
    let text = sandbox.run(&["check", "a.c"]).expect(1).stdout;
    assert_eq!(sandbox.run(&["report"]).expect(1).stdout, text);
    let sarif = sandbox.run(&["report", "--format", "sarif"]).expect(1).stdout;
    assert!(sarif.contains("\"version\": \"2.1.0\"") && sarif.contains("## What it finds"));
    let html = sandbox.run(&["report", "--format", "html", "-o", "report.html"]).expect(1);
    assert_eq!(html.stdout, "");
    assert!(sandbox.read("report.html").starts_with("<!DOCTYPE html>"));
    let run = sandbox.run(&["report", "a.c"]).expect(2);
    assert!(run.first_error().contains("a.c is no report"), "{run:#?}");
}

#[test]
fn colours_are_as_asked_for() {
    let sandbox = Sandbox::new(&[("a.c", TWO)]);
    let has_colour = |args: &[&str]| sandbox.run(args).expect(1).stdout.contains('\u{1b}');
    assert!(!has_colour(&["check", "a.c"]));
    assert!(has_colour(&["--color", "always", "report"]));
    assert!(!has_colour(&["--color", "never", "report"]));
}

#[test]
fn a_captured_build_cannot_be_compared_with_a_commit_and_says_what_can() {
    let sandbox = Sandbox::new(&[("a.c", TWO), ("Makefile", "a.o: a.c\n\tcc -c a.c\n")]);
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "a.c", "Makefile"]);
    git(&sandbox, &["commit", "-qm", "both"]);
    sandbox.run(&["capture", "--", "make", "-s"]).expect(0);
    let run = sandbox.run(&["check", "--diff", "HEAD"]).expect(2);
    assert!(run.stderr.contains("firstfault check --diff HEAD -- make"), "{run:#?}");
    assert_eq!(run.stdout, "");
}

//! `firstfault suggest` and `firstfault learn` as a user runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn firstfault(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
    command.args(args).current_dir(folder).env("FIRSTFAULT_STATE", folder.join("state"));
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command prints that must not fail.
fn said(folder: &Path, args: &[&str]) -> String {
    let output = firstfault(folder, args);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{args:?}: {code:?} {}", text(&output.stderr));
    text(&output.stdout)
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/bugfix")
}

/// A program of `bench/bugfix` with a fault, in a folder of its own.
struct Faulty {
    folder: TempDir,
    file: String,
    tests: String,
    line: String,
}

impl Faulty {
    fn new(program: &str, old: &str, new: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = format!("{program}.c");
        let right = fs::read_to_string(programs().join(program).join(&file)).unwrap();
        assert_eq!(right.matches(old).count(), 1, "{program}: {old}");
        let faulty = right.replace(old, new);
        let at = right.find(old).unwrap();
        let line = right[..at].matches('\n').count() + 1;
        fs::write(folder.path().join(&file), faulty).unwrap();
        let diff = format!(
            "--- a/{file}\n+++ b/{file}\n@@ -{line} +{line} @@\n-{}\n+{}\n",
            line_with(&fs::read_to_string(folder.path().join(&file)).unwrap(), line),
            line_with(&right, line)
        );
        fs::write(folder.path().join("fix.diff"), diff).unwrap();
        let tests = programs().join(program).join("tests.toml").display().to_string();
        Self { folder, file, tests, line: line.to_string() }
    }

    fn learn(&self, knowledge: &str) -> String {
        let args = ["learn", &self.file, "--tests", &self.tests, "--fixed-by", "fix.diff"];
        let knowledge = ["--knowledge", knowledge, "--no-shipped"];
        said(self.folder.path(), &[&args[..], &knowledge].concat())
    }

    /// Suggestions with their ranks, and what was tried.
    fn suggest(&self, knowledge: &str, tries: &str) -> Vec<(u64, String, Vec<String>)> {
        let args = ["suggest", &self.file, "--tests", &self.tests, "--line", &self.line];
        let more = ["--knowledge", knowledge, "--no-shipped", "--format", "json", "--tries", tries];
        let json = said(self.folder.path(), &[&args[..], &more].concat());
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let read = |suggestion: &serde_json::Value| {
            let verified = suggestion["verified"].as_array().cloned().unwrap_or_default();
            (
                suggestion["rank"].as_u64().unwrap(),
                suggestion["description"].as_str().unwrap().to_owned(),
                verified.iter().filter_map(|v| v.as_str()).map(str::to_owned).collect(),
            )
        };
        report["suggestions"].as_array().unwrap().iter().map(read).collect()
    }
}

fn line_with(text: &str, line: usize) -> &str {
    text.lines().nth(line - 1).unwrap()
}

fn ranked(list: &[(u64, String, Vec<String>)], rank: u64) -> Vec<&str> {
    list.iter().filter(|(r, _, _)| *r == rank).map(|(_, fix, _)| fix.as_str()).collect()
}

/// The case study of section 8.3 with faults of the same kinds in programs of our own.
#[test]
fn the_case_study() {
    let home = tempfile::tempdir().unwrap();
    let knowledge = home.path().join("study.db").display().to_string();
    // Training: `<=` for `<`, a missing -1 in an index, a constant too large, twice.
    let training = [
        ("dock", "return speed < limit;", "return speed <= limit;"),
        ("subst", "if (n > 0 && line[n - 1] == '\\n')", "if (n > 0 && line[n] == '\\n')"),
        ("queue", "return take(&ready[level], 0);", "return take(&ready[level], 1);"),
        ("dates", "return 29;", "return 30;"),
    ];
    for (program, old, new) in training {
        let learned = Faulty::new(program, old, new).learn(&knowledge);
        assert!(learned.starts_with("learned: "), "{learned}");
    }
    let (operator, comparison) = ("operator mutation", "comparison operator mutation");
    let (at_least, at_most) = ("change `>=` into `>`", "change `<=` into `<`");

    // As tcas v9: the general descriptions are right, and the specific one is not known yet.
    let first = Faulty::new("dock", "return push > 40;", "return push >= 40;");
    let list = first.suggest(&knowledge, "0");
    let best = ranked(&list, 1);
    assert!(best.contains(&operator) && best.contains(&comparison), "{list:?}");
    assert!(best.contains(&at_most), "{list:?}");
    assert!(list.iter().all(|(_, fix, _)| fix != at_least), "{list:?}");
    first.learn(&knowledge);

    // As tcas v20: what was just learned is now suggested first, and it is right.
    let second =
        Faulty::new("dock", "return depth - draft > MARGIN;", "return depth - draft >= MARGIN;");
    let list = second.suggest(&knowledge, "20");
    let best = ranked(&list, 1);
    assert!([operator, comparison, at_least].iter().all(|fix| best.contains(fix)), "{list:?}");
    let tried = list.iter().find(|(_, fix, _)| fix == at_least).unwrap();
    assert_eq!(tried.2, ["passes all 31 tests"]);
    second.learn(&knowledge);

    // As replace v23: a term is to be added to an index, though another than was learned.
    let third = Faulty::new(
        "lexer",
        "if (at + 1 < length && text[at + 1] == '=')",
        "if (at + 1 < length && text[at] == '=')",
    );
    let list = third.suggest(&knowledge, "0");
    assert!(ranked(&list, 1).contains(&"add term to expression"), "{list:?}");
    assert!(list.iter().all(|(_, fix, _)| fix != "add +1 term to expression"), "{list:?}");
    third.learn(&knowledge);

    // As schedule2 v7: a new program; the right descriptions are among those given.
    let fourth = Faulty::new(
        "summary",
        "if (part < 0.0 || part > whole)",
        "if (part < 0.0 || part >= whole)",
    );
    let list = fourth.suggest(&knowledge, "0");
    for fix in [operator, comparison, at_least] {
        assert!(list.iter().any(|(_, other, _)| other == fix), "{fix}: {list:?}");
    }
}

/// From the first use on: the shipped knowledge gives a fix that passes all tests.
#[test]
fn the_top_statement_gets_a_fix_that_passes_all_tests() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ticket");
    let folder = tempfile::tempdir().unwrap();
    fs::copy(examples.join("ticket.c"), folder.path().join("ticket.c")).unwrap();
    let tests = examples.join("tests").display().to_string();
    let report = said(folder.path(), &["suggest", "ticket.c", "--tests", &tests]);
    assert!(report.contains("ticket.c:17:13: note: suggestion 1 (100 %): "), "{report}");
    assert!(report.contains("  passes all 7 tests\n"), "{report}");
    assert!(report.contains("\n+    if (age < 16)"), "{report}");
}

#[test]
fn learning_from_a_commit_uses_what_was_seen_before_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ticket");
    let faulty = fs::read_to_string(examples.join("ticket.c")).unwrap();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        let output = Command::new("git").args(who).args(args).current_dir(folder).output();
        assert!(output.unwrap().status.success(), "{args:?}");
    };
    fs::write(folder.join("ticket.c"), &faulty).unwrap();
    git(&["init", "-q"]);
    git(&["add", "ticket.c"]);
    git(&["commit", "-q", "-m", "start"]);
    let tests = examples.join("tests").display().to_string();
    said(folder, &["suggest", "ticket.c", "--tests", &tests, "--tries", "0", "--brief"]);
    fs::write(folder.join("ticket.c"), faulty.replace("age <= 16", "age < 16")).unwrap();
    git(&["commit", "-q", "-a", "-m", "fix the age"]);
    let learned = said(folder, &["learn", "--fixed-by", "HEAD", "--describe", "children are 15"]);
    assert!(learned.contains("change `<=` into `<`, children are 15"), "{learned}");
    assert!(learned.contains("OTHER-BRANCH"), "{learned}");
    let again = said(folder, &["learn", "--fixed-by", "HEAD", "--describe", "children are 15"]);
    assert!(again.starts_with("known already"), "{again}");
    let list = said(folder, &["learn", "--list", "--no-shipped"]);
    assert_eq!(list.lines().count(), 1, "{list}");
    let history = said(folder, &["learn", "--from-history"]);
    assert!(history.contains("1 fix one statement"), "{history}");
    let rules = said(folder, &["learn", "--rules", "--no-shipped", "--support", "2"]);
    assert!(rules.contains("if -> change `<=` into `<` (100 %, 2 of 2)"), "{rules}");
}

#[test]
fn a_fault_of_check_has_a_situation_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = "#include <stdlib.h>\nint main(void) {\n  int *p = malloc(4);\n  *p = 1;\n\
                   \x20 free(p);\n  return 0;\n}\n";
    fs::write(folder.join("a.c"), program).unwrap();
    let check = ["check", "a.c", "--format", "json", "-o", "report.json"];
    said(folder, &[&check[..], &["--rule", "null-dereference"]].concat());
    let fixed = program.replace("  *p = 1;", "  if (!p) return 1;\n  *p = 1;");
    fs::write(folder.join("fixed.c"), &fixed).unwrap();
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -3,0 +4 @@\n+  if (!p) return 1;\n";
    fs::write(folder.join("fix.diff"), diff).unwrap();
    let learned = said(folder, &["learn", "--fixed-by", "fix.diff", "--from", "report.json"]);
    assert!(learned.contains("add a null check"), "{learned}");
    assert!(learned.contains("RULE null-dereference"), "{learned}");
    let report = said(folder, &["suggest", "--from", "report.json", "--no-shipped"]);
    assert!(report.contains("suggestion 1 (100 %): add a null check"), "{report}");
    let one = said(folder, &["suggest", "--from", "report.json", "--fault", "F1", "--no-shipped"]);
    assert!(one.contains("add a null check"), "{one}");
}

fn refused(folder: &Path, args: &[&str], why: &str) {
    let output = firstfault(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stdout));
    assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
}

#[test]
fn bad_input_is_said_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = "int f(int a) {\n  return a + 1;\n}\n";
    fs::write(folder.join("a.c"), program).unwrap();
    refused(folder, &["suggest", "a.c"], "which statement?");
    refused(folder, &["suggest", "a.c", "--line", "99"], "there is no statement here");
    refused(folder, &["suggest", "a.c", "--line", "x"], "is no line");
    refused(folder, &["suggest", "missing.c", "--line", "1"], "cannot read missing.c");
    refused(folder, &["suggest", "--from", "a.c"], "no JSON report");
    refused(folder, &["learn", "--fixed-by", "no-such-thing"], "neither a diff nor a commit");
    let diff = |text: &[u8]| fs::write(folder.join("x.diff"), text).unwrap();
    diff(b"--- a/../a.c\n+++ b/../a.c\n@@ -1 +1 @@\n-a\n+b\n");
    refused(folder, &["learn", "--fixed-by", "x.diff"], "outside of the project");
    diff(&[0xff, 0, b'\n'].repeat(2 << 20));
    refused(folder, &["learn", "--fixed-by", "x.diff"], "larger than");
    diff(b"--- a/a.c\n+++ b/a.c\n@@ -2 +2 @@\n-  return b;\n+  return c;\n");
    refused(folder, &["learn", "--fixed-by", "x.diff"], "fits neither");
    std::os::unix::fs::symlink("a.c", folder.join("link.c")).unwrap();
    diff(b"--- a/link.c\n+++ b/link.c\n@@ -2 +2 @@\n-  return a + 1;\n+  return a;\n");
    refused(folder, &["learn", "--fixed-by", "x.diff"], "symbolic link");
    fs::write(folder.join("notes"), "no knowledge base\n".repeat(90)).unwrap();
    let args = ["suggest", "a.c", "--line", "2", "--knowledge", "notes"];
    refused(folder, &args, "not a knowledge base");
    assert_eq!(fs::read_to_string(folder.join("notes")).unwrap(), "no knowledge base\n".repeat(90));
    assert_eq!(fs::read_to_string(folder.join("a.c")).unwrap(), program);
}

//! Diffs that `patch` applies, whatever the lines of a file end in.

use std::path::Path;
use std::process::Command;

use findings::{Change, Place};
use report::diff::unified;
use report::sources::Sources;

fn change(file: &str, line: u32, column: u32, old: &str, new: &str) -> Change {
    let place = Place { file: file.to_owned(), line, column, ..Place::default() };
    Change { place, old: old.to_owned(), new: new.to_owned() }
}

/// What `patch -p1` in `folder` makes of `a.c`.
fn patched(folder: &Path, diff: &str) -> Vec<u8> {
    std::fs::write(folder.join("a.patch"), diff).unwrap();
    let done = Command::new("patch")
        .args(["-p1", "--binary", "-s", "-i", "a.patch"])
        .current_dir(folder)
        .output()
        .expect("patch starts");
    assert!(done.status.success(), "{}\n{diff:?}", String::from_utf8_lossy(&done.stdout));
    std::fs::read(folder.join("a.c")).unwrap()
}

fn applied(text: &[u8], changes: &[Change]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), text).unwrap();
    let diff = unified(changes, &mut Sources::new(folder.path())).expect("all can be shown");
    patched(folder.path(), &diff)
}

const TABS: &str = "int a[3];\nint f(void)\n{\n\tint i;\t/* \u{e9} */\n\tfor (i = 0; i <= 3; \
                    i++)\n\t\ta[i] = 1;\n\treturn 0;\n}\n";

#[test]
fn tabs_stay_tabs() {
    let right = TABS.replace("<=", "<");
    assert_eq!(applied(TABS.as_bytes(), &[change("a.c", 5, 16, "<=", "<")]), right.as_bytes());
}

#[test]
fn carriage_returns_stay_and_are_added() {
    let text = TABS.replace('\n', "\r\n");
    let right = text.replace("<=", "<");
    assert_eq!(applied(text.as_bytes(), &[change("a.c", 5, 16, "<=", "<")]), right.as_bytes());
    let guard = change("a.c", 6, 3, "a[i]", "if (i)\n\t\t\ta[i]");
    let right = text.replace("a[i]", "if (i)\r\n\t\t\ta[i]");
    assert_eq!(applied(text.as_bytes(), &[guard]), right.as_bytes());
    let two = change("a.c", 5, 2, "for (i = 0; i <= 3; i++)\r\n\t\ta[i] = 1;", ";");
    let right = text.replace("for (i = 0; i <= 3; i++)\r\n\t\ta[i] = 1;", ";");
    assert_eq!(applied(text.as_bytes(), &[two]), right.as_bytes());
}

#[test]
fn a_last_line_without_end_is_told() {
    let text = TABS.trim_end();
    let right = text.replace("<=", "<");
    assert_eq!(applied(text.as_bytes(), &[change("a.c", 5, 16, "<=", "<")]), right.as_bytes());
    let one = "int main(void) { return 1; }";
    let right = one.replace('1', "0");
    assert_eq!(applied(one.as_bytes(), &[change("a.c", 1, 25, "1", "0")]), right.as_bytes());
}

#[test]
fn hunks_behind_one_that_adds_lines_are_where_they_are() {
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let right = text.replace("line 3\n", "new\nline 3\n").replace("line 30\n", "line x\n");
    let changes = [change("a.c", 3, 1, "", "new\n"), change("a.c", 30, 6, "30", "x")];
    assert_eq!(applied(text.as_bytes(), &changes), right.as_bytes());
}

#[test]
fn what_a_terminal_must_not_see_is_left_out_or_there_is_no_diff() {
    let text = "one\n\x1b[2J\ntwo\nthree\nfour\nfive\n";
    let right = text.replace("three", "3");
    assert_eq!(applied(text.as_bytes(), &[change("a.c", 4, 1, "three", "3")]), right.as_bytes());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "x = 1; /* \x1b[2J */\n").unwrap();
    std::fs::write(folder.path().join("b.c"), b"x = 1; /* \xff */\n").unwrap();
    let mut sources = Sources::new(folder.path());
    assert_eq!(unified(&[change("a.c", 1, 5, "1", "2")], &mut sources), None);
    assert_eq!(unified(&[change("b.c", 1, 5, "1", "2")], &mut sources), None);
}

#[test]
fn files_elsewhere_are_named_from_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.c");
    std::fs::write(&path, TABS).unwrap();
    let changes = [change(&path.display().to_string(), 5, 16, "<=", "<")];
    let diff = unified(&changes, &mut Sources::new(folder.path())).unwrap();
    assert!(diff.starts_with(&format!("--- a{}\n", path.display())), "{diff}");
    std::fs::write(folder.path().join("a.patch"), &diff).unwrap();
    let done = Command::new("patch")
        .args(["-p1", "-s", "-d", "/", "-i"])
        .arg(folder.path().join("a.patch"))
        .status();
    assert!(done.expect("patch starts").success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), TABS.replace("<=", "<"));
}

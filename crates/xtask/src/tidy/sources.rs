//! Rules about single files: module docs, sizes, forbidden words, conflicts left behind.

use super::files::TextFile;

/// Above this many lines a module doc has to say why.
const LONG_FILE: usize = 800;

/// The phrase by which a module doc explains a long file.
const REASON: &str = "one file because";

/// Crates that talk to LLVM, to the machine or to a program under test.
const MAY_BE_UNSAFE: [&str; 3] = ["crates/llvm/", "crates/rt/", "crates/run/"];

pub fn check(files: &[TextFile]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        if file.path.ends_with(".rs") {
            check_rust(file, &mut complaints);
        }
        check_machine_paths(file, &mut complaints);
        check_conflict_markers(file, &mut complaints);
    }
    complaints
}

fn check_rust(file: &TextFile, complaints: &mut Vec<String>) {
    let TextFile { path, text } = file;
    if !text.starts_with("//!") {
        complaints.push(format!("{path}:1: start with //! and say what lives here and why"));
    }
    let n_lines = text.lines().count();
    let doc_has_reason =
        text.lines().take_while(|l| l.starts_with("//!")).any(|l| l.contains(REASON));
    if n_lines > LONG_FILE && !doc_has_reason {
        complaints.push(format!(
            "{path}: {n_lines} lines: divide it, or let its module doc say \"{REASON} ...\""
        ));
    }
    let may_be_unsafe = MAY_BE_UNSAFE.iter().any(|folder| path.starts_with(folder));
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        let mut complain = |what: &str| complaints.push(format!("{path}:{}: {what}", index + 1));
        if !may_be_unsafe && uses_unsafe(code) {
            complain("unsafe code belongs into the crates llvm, rt and run");
        }
        if code.contains(concat!("#[", "ignore")) {
            complain("an ignored test is no test: run it, fix it or delete it");
        }
        if code.contains(concat!("todo", "!(")) || code.contains(concat!("unimplemented", "!(")) {
            complain("a stub is not done");
        }
    }
}

/// Whether a line opens an unsafe block, function, impl or extern.
fn uses_unsafe(code: &str) -> bool {
    ["{", "fn", "impl", "extern", "("].iter().any(|after| {
        code.split_once("unsafe").is_some_and(|(before, rest)| {
            !before.ends_with('_') && rest.trim_start().starts_with(after)
        })
    })
}

/// Paths of one developer's machine mean nothing to others.
fn check_machine_paths(file: &TextFile, complaints: &mut Vec<String>) {
    const FORBIDDEN: [&str; 4] = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
        concat!("/tmp", "/ff"),
    ];
    for (index, line) in file.text.lines().enumerate() {
        for path in FORBIDDEN {
            if let Some(at) = line.find(path)
                && !line[..at]
                    .ends_with(|c: char| c.is_ascii_alphanumeric() || "./_-$})".contains(c))
            {
                let path_and_line = format!("{}:{}", file.path, index + 1);
                complaints.push(format!("{path_and_line}: names a folder of one machine: {path}"));
            }
        }
    }
}

/// What git leaves where two changes met and nobody chose.
fn check_conflict_markers(file: &TextFile, complaints: &mut Vec<String>) {
    const MARKERS: [&str; 3] =
        [concat!("<<<<", "<<< "), concat!(">>>>", ">>> "), concat!("||||", "||| ")];
    for (index, line) in file.text.lines().enumerate() {
        if MARKERS.iter().any(|marker| line.starts_with(marker)) {
            let path = &file.path;
            complaints.push(format!("{path}:{}: a conflict is not resolved", index + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints_about(path: &str, text: &str) -> Vec<String> {
        check(&[TextFile { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn good_files_pass() {
        assert!(complaints_about("crates/base/src/a.rs", "//! Doc.\nfn f() {}\n").is_empty());
        assert!(complaints_about("crates/rt/src/a.rs", "//! Doc.\nunsafe { f() }\n").is_empty());
        let long = format!("//! This is {REASON} it is a table.\n{}", "x\n".repeat(900));
        assert!(complaints_about("crates/base/src/a.rs", &long).is_empty());
        assert!(complaints_about("a.md", "see src/work/x and net/home/y\n").is_empty());
    }

    #[test]
    fn each_rule_finds_its_offender() {
        let complain = |text: &str, word: &str| {
            let complaints = complaints_about("crates/base/src/a.rs", text);
            assert_eq!(complaints.len(), 1, "{complaints:?}");
            assert!(complaints[0].contains(word), "{complaints:?}");
        };
        complain("fn f() {}\n", "start with //!");
        complain(&format!("//! Doc.\n{}", "x\n".repeat(900)), "901 lines");
        complain("//! Doc.\nunsafe { f() }\n", "unsafe code");
        complain(concat!("//! Doc.\n#[", "ignore]\n"), "ignored test");
        complain(concat!("//! Doc.\ntodo", "!()\n"), "stub");
        complain(concat!("//! Doc.\n// see /wo", "rk/x\n"), "one machine");
        complain(concat!("//! Doc.\n<<<<", "<<< HEAD\n"), "conflict");
    }
}

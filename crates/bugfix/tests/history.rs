//! Fixes from the history of repositories, friendly and hostile.

use std::fs;
use std::path::Path;
use std::process::Command;

use base::Cancel;
use bugfix::{Repository, RepositoryError};

fn git(folder: &Path, args: &[&str]) {
    let settings =
        ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let output =
        Command::new("git").args(settings).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(folder: &Path, file: &str, text: &[u8], message: &str) {
    fs::write(folder.join(file), text).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--no-verify", "-m", message]);
}

fn program(condition: &str) -> Vec<u8> {
    format!("int f(int a, int b) {{\n  if ({condition}) return 1;\n  return 0;\n}}\n").into_bytes()
}

#[test]
fn one_statement_fixes_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    git(folder, &["init", "-q"]);
    commit(folder, "a.c", &program("a <= b"), "start");
    commit(folder, "a.c", &program("a < b"), "Fix the bound");
    commit(folder, "a.c", &program("a < b + 1"), "Another feature");
    commit(folder, "b.c", b"int g;\n", "fix: a new file is no fix of a statement");
    let cancel = Cancel::new();
    let repository = Repository::new(folder, &cancel);
    let (fixes, n_commits) = repository.past_fixes(100).unwrap();
    assert_eq!((fixes.len(), n_commits), (1, 2));
    assert_eq!(fixes[0].path, "a.c");
    assert!(fixes[0].fix.fixes.contains("change `<=` into `<`"));
    let (_, blobs) = repository.changed_by("HEAD~2").unwrap();
    assert_eq!((blobs[0].old.clone(), blobs[0].new.clone()), (program("a <= b"), program("a < b")));
    assert!(matches!(repository.changed_by("HEAD~3"), Err(RepositoryError::NoParent(_))));
    for odd in ["nothing", "--output=x", "HEAD\nHEAD", ""] {
        assert!(matches!(repository.changed_by(odd), Err(RepositoryError::NoCommit(_))), "{odd}");
    }
    assert!(Repository::new(&folder.join(".git/refs"), &cancel).past_fixes(9).is_ok());
    let nowhere = tempfile::tempdir().unwrap();
    assert!(Repository::new(nowhere.path(), &cancel).past_fixes(9).is_err());
}

#[test]
fn hostile_repositories_run_nothing_and_break_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    git(folder, &["init", "-q"]);
    commit(folder, "a.c", &program("a > b"), "start");
    commit(folder, "a.c", &program("a >= b"), "fix it");
    // Huge, binary, oddly encoded and linked files; a name that is no UTF-8.
    commit(folder, "huge.c", &b"int x;\n".repeat(400_000), "start huge");
    commit(folder, "huge.c", &b"int y;\n".repeat(400_000), "fix huge");
    commit(folder, "binary.c", &[0, 1, 2, 0xff], "start binary");
    commit(folder, "binary.c", &[0, 1, 3, 0xff], "fix binary");
    let latin: Vec<u8> = [&b"/* gr\xfc\xdfe */\n"[..], &program("a == b")].concat();
    commit(folder, "latin.c", &latin, "start latin");
    let fixed: Vec<u8> = [&b"/* gr\xfc\xdfe */\n"[..], &program("a != b")].concat();
    commit(folder, "latin.c", &fixed, "fix latin");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.c")).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "start link"]);
    fs::remove_file(folder.join("link.c")).unwrap();
    std::os::unix::fs::symlink("/etc/hosts", folder.join("link.c")).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "fix link"]);
    // Whatever git can be told to run leaves a mark.
    let mark = folder.join("mark");
    let run = format!("touch {}; true", mark.display());
    fs::write(folder.join(".gitattributes"), "*.c diff=evil filter=evil\n").unwrap();
    for (name, value) in [
        ("core.fsmonitor", run.as_str()),
        ("core.pager", &run),
        ("core.sshCommand", &run),
        ("diff.external", &run),
        ("diff.evil.textconv", &run),
        ("diff.evil.command", &run),
        ("filter.evil.smudge", &run),
        ("filter.evil.clean", &run),
        ("gpg.program", &run),
        ("log.showSignature", "true"),
        ("core.hooksPath", "hooks"),
    ] {
        let output = Command::new("git").args(["config", name, value]).current_dir(folder).output();
        assert!(output.unwrap().status.success());
    }
    fs::create_dir(folder.join("hooks")).unwrap();
    let hook = folder.join("hooks/reference-transaction");
    fs::write(&hook, format!("#!/bin/sh\n{run}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, mode).unwrap();
    let cancel = Cancel::new();
    let (fixes, _) = Repository::new(folder, &cancel).past_fixes(100).unwrap();
    let paths: Vec<&str> = fixes.iter().map(|fix| fix.path.as_str()).collect();
    assert_eq!(paths, ["latin.c", "a.c"]);
    assert!(!mark.exists(), "something of the repository was run");
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let home = tempfile::tempdir().unwrap();
    let cancel = base::Cancel::default();
    let missing = home.path().join("missing");
    let why = Repository::new(&missing, &cancel).past_fixes(10).err().unwrap().to_string();
    assert_eq!(why, format!("there is no folder {}", missing.display()));
}

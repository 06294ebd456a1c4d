//! What the README shows is what a reader gets: every `console` block is run and compared.
//! With `FIRSTFAULT_UPDATE=1` the blocks are written anew instead.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Run, Sandbox};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a terminal would show: the command and what it printed.
fn session(sandbox: &Sandbox, folder: &mut String, line: &str) -> String {
    if let Some(below) = line.strip_prefix("cd ") {
        *folder = format!("{folder}/{below}");
        return format!("$ {line}\n");
    }
    let program = env!("CARGO_BIN_EXE_firstfault");
    let command = line.replacen("firstfault", &format!("'{program}'"), 1);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(&*folder);
    let run = Run::of(shell.env("FIRSTFAULT_STATE", sandbox.path("state")).output().unwrap());
    format!("$ {line}\n{}", run.stdout)
}

#[test]
fn the_readme_shows_what_happens() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    // The README's commands run one after the other in a copy.
    let sandbox = Sandbox::with_examples();
    let mut folder = sandbox.path("").display().to_string();
    let mut rewritten = String::new();
    let mut n_blocks = 0;
    let mut in_block = false;
    for line in readme.lines() {
        match (in_block, line) {
            (false, "```console") => {
                (in_block, n_blocks) = (true, n_blocks + 1);
                rewritten += "```console\n";
            }
            (true, "```") => {
                in_block = false;
                rewritten += "```\n";
            }
            (true, line) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    rewritten += &session(&sandbox, &mut folder, command);
                }
            }
            (false, line) => rewritten += &format!("{line}\n"),
        }
    }
    assert!(n_blocks > 0, "the README shows no session");
    if std::env::var_os("FIRSTFAULT_UPDATE").is_some() {
        std::fs::write(path, rewritten).unwrap();
    } else {
        assert!(readme == rewritten, "FIRSTFAULT_UPDATE=1 would make the README:\n{rewritten}");
    }
}

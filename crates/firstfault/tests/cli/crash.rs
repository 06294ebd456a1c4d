//! `firstfault crash` as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::Sandbox;

fn crash(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
    command.arg("crash").args(args).current_dir(folder).output().unwrap()
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

#[test]
fn the_first_corruption_is_reported_as_text_and_json() {
    let sandbox = Sandbox::with_example("bank");
    let run = ["bank.c", "--args", "ann maximilian_of_habsburg"];
    let output = crash(&sandbox.path(""), &run);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).starts_with("bank.c:16:5: error: "), "{}", said(&output));
    let output = crash(&sandbox.path(""), &[&run[..], &["--format", "json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let corruption = &report["corruption"];
    assert_eq!((&corruption["line"], &corruption["kind"]), (&16.into(), &"overflow".into()));
    assert!(corruption["executions"].as_u64() > Some(3));
    assert_eq!(corruption["chain"].as_array().unwrap().len(), 2);
}

#[test]
fn a_run_that_does_not_fail_exits_with_3() {
    let sandbox = Sandbox::with_example("bank");
    let output = crash(&sandbox.path(""), &["bank.c", "--args", "ann bob"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("does not fail"), "{}", said(&output));
}

#[test]
fn input_that_cannot_be_used_is_said_in_a_line() {
    let sandbox = Sandbox::with_example("bank");
    sandbox.write("broken.c", "int main(void) { return");
    for (args, expected) in [
        (&["bank.c", "--args", "'a"][..], "quote without its end"),
        (&["bank.c", "--stdin", "nothing"][..], "cannot read nothing"),
        (&["bank.c", "--input", "nothing"][..], "no such file"),
        (&["missing.c"][..], "missing.c: no such file"),
        (&["broken.c"][..], "broken.c does not compile"),
    ] {
        let output = crash(&sandbox.path(""), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(expected), "{args:?}: {}", said(&output));
    }
}

#[test]
fn files_named_in_the_arguments_are_found() {
    let program = "#include <stdio.h>\n#include <string.h>\n\
        static struct { char line[8]; char *end; } s;\n\
        int main(int c, char **v) { FILE *f = fopen(v[1], \"r\"); if (!f) return 0;\n\
        s.end = s.line;\n\
        fgets(s.line, 64, f);\n\
        return *s.end; }\n";
    let sandbox = Sandbox::new(&[("read.c", program), ("in.txt", "abcdefghijklmnopqrstuvwxyz\n")]);
    let output = crash(&sandbox.path(""), &["read.c", "--args", "in.txt"]);
    assert!(said(&output).starts_with("read.c:6:"), "{}", said(&output));
}

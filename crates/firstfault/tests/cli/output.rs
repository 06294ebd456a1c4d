//! Where reports go, and what happens when they cannot get there.

use std::process::Stdio;

use crate::support::{Run, Sandbox, TWO_UNITS};

#[test]
fn a_report_file_is_replaced_as_a_whole() {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write("report.json", "the previous report");
    let args = ["check", "--format", "json", "-o", "report.json", "main.c", "add.c"];
    let run = sandbox.run(&args).expect(0);
    assert_eq!(run.stdout, "");
    let report: findings::Findings = serde_json::from_str(&sandbox.read("report.json")).unwrap();
    assert_eq!(report.schema, "firstfault/1");
}

#[test]
fn a_failed_run_leaves_the_previous_report() {
    let sandbox = Sandbox::new(&[("bad.c", "int f(void) { return nothing; }\n")]);
    sandbox.write("report.json", "the previous report");
    sandbox.run(&["check", "-o", "report.json", "bad.c"]).expect(2);
    assert_eq!(sandbox.read("report.json"), "the previous report");
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::new(TWO_UNITS);
    for (target, said) in
        [("/dev/full", "No space left"), ("no/such/folder/report", "no/such/folder"), (".", ".")]
    {
        let run = sandbox.run(&["check", "-o", target, "main.c", "add.c"]).expect(2);
        assert!(run.first_error().contains(said), "{run:#?}");
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = sandbox.command(&["check", "main.c", "add.c"]);
    let run = Run::of(command.stdout(full).output().unwrap()).expect(2);
    assert!(run.first_error().contains("No space left"), "{run:#?}");
}

#[test]
fn a_reader_that_goes_away_is_no_disaster() {
    let sandbox = Sandbox::new(TWO_UNITS);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = sandbox.command(&["show", "ir", "main.c", "add.c"]);
    let run = Run::of(command.stdout(Stdio::from(writer)).output().unwrap());
    assert!(run.first_error().contains("its reader has gone away"), "{run:#?}");
    assert_eq!(run.code, Some(2));
}

#[test]
fn reports_on_a_pipe_have_no_colours_and_no_progress() {
    let sandbox = Sandbox::new(TWO_UNITS);
    let run = sandbox.run(&["check", "main.c", "add.c"]).expect(0);
    assert!(!run.stdout.contains('\u{1b}'), "{run:#?}");
    assert_eq!(run.stderr, "", "a run without trouble logs nothing");
}

/// A limit on the size of files is a disk that is full for all files that matter.
#[test]
fn a_full_disk_leaves_the_previous_report_and_nothing_else() {
    let sandbox = Sandbox::new(TWO_UNITS);
    for format in ["json", "sarif", "html"] {
        // With a warm cache, only the report is written.
        sandbox.run(&["check", "--format", format, "main.c", "add.c"]).expect(0);
        sandbox.write("out/report", "the previous report");
        let program = env!("CARGO_BIN_EXE_firstfault");
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", script, "sh", program, "check", "--format", format]);
        limited.args(["-o", "out/report", "main.c", "add.c"]).current_dir(sandbox.path(""));
        let run = Run::of(limited.env("FIRSTFAULT_STATE", sandbox.path("state")).output().unwrap());
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains("cannot write out/report: File too large"), "{run:#?}");
        assert_eq!(sandbox.read("out/report"), "the previous report");
        assert_eq!(sandbox.files_below("out").len(), 1, "{:?}", sandbox.files_below("out"));
    }
}

#[test]
fn a_reader_of_a_report_may_go_away() {
    let sandbox = Sandbox::new(TWO_UNITS);
    for format in ["text", "json", "sarif", "html"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = sandbox.command(&["check", "--format", format, "main.c", "add.c"]);
        let run = Run::of(command.stdout(Stdio::from(writer)).output().unwrap());
        assert!(run.first_error().contains("its reader has gone away"), "{format}: {run:#?}");
        assert_eq!(run.code, Some(2), "{format}");
    }
}

#[test]
fn witnesses_are_kept_as_files() {
    let program =
        "#include <stdio.h>\nint main(void) {\n  int n = getchar() - 'k';\n  return 7 / n;\n}\n";
    let sandbox = Sandbox::new(&[("a.c", program)]);
    let run = sandbox.run(&["check", "--rule", "divide-by-zero", "a.c"]).expect(1);
    assert!(run.stdout.contains("proved, happens with: printf 'k' | ./program"), "{run:#?}");
    let stdin = std::fs::read(sandbox.path("state/witnesses/F1/stdin")).unwrap();
    assert_eq!(stdin, b"k");
    // The next report has none.
    sandbox.write("a.c", "int main(void) { return 0; }\n");
    sandbox.run(&["check", "a.c"]).expect(0);
    assert!(!sandbox.path("state/witnesses/F1").exists());
}

//! `firstfault locate` as a user runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const PROGRAM: &str = "#include <stdio.h>\n\
     #include <stdlib.h>\n\
     int main(int argc, char **argv) {\n\
       int x = atoi(argv[1]), y = atoi(argv[2]);\n\
       int a;\n\
       a = x + y;\n\
       if (x < y)\n\
         printf(\"%d\\n\", a);\n\
       else\n\
         printf(\"%d\\n\", a + 1);\n\
       return 0;\n\
     }\n";

/// The program and tests of figure 2.6: `a = x + y` should be `x - y`.
fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "sum.c", PROGRAM);
    fs::create_dir(folder.path().join("tests")).unwrap();
    for (name, args, out) in [
        ("a", "0\n0\n", "1\n"),
        ("b", "-1\n0\n", "-1\n"),
        ("c", "1\n1\n", "1\n"),
        ("d", "0\n1\n", "-1\n"),
    ] {
        write(&folder, &format!("tests/{name}.args"), args);
        write(&folder, &format!("tests/{name}.out"), out);
    }
    folder
}

fn write(folder: &TempDir, name: &str, text: &str) {
    fs::write(folder.path().join(name), text).unwrap();
}

fn locate(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
    command.arg("locate").args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_faulty_statement_comes_first_with_its_evidence() {
    let folder = project();
    let output = locate(folder.path(), &["sum.c", "--tests", "tests"]);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}{}", text(&output.stderr));
    let first = report.lines().next().unwrap();
    assert!(first.starts_with("sum.c:6:"), "{report}");
    assert!(report.contains("with a = 0 instead of 2 at the 1st execution, test c passes"));
}

#[test]
fn json_is_the_same_at_any_number_of_threads() {
    let folder = project();
    let run = |jobs| {
        locate(folder.path(), &["sum.c", "--tests", "tests", "--format", "json", "-j", jobs]).stdout
    };
    let one = run("1");
    assert!(text(&one).contains("\"statements\""));
    assert_eq!(text(&one), text(&run("2")));
}

#[test]
fn a_formula_ranks_without_replacing_anything() {
    let folder = project();
    let output =
        locate(folder.path(), &["sum.c", "--tests", "tests", "--formula", "ochiai", "--top", "0"]);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(!report.contains("instead of"), "{report}");
}

/// A conversation with `--rounds`.
struct Rounds {
    folder: TempDir,
    child: std::process::Child,
}

impl Rounds {
    fn start(how: &str) -> Self {
        let folder = project();
        let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
        command.args(["locate", "sum.c", "--tests", "tests", "--rounds", how]);
        command.current_dir(folder.path()).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        Self { folder, child }
    }

    /// What is said up to the next question.
    fn question(&mut self) -> String {
        let said = self.child.stderr.as_mut().unwrap();
        let mut text = String::new();
        let mut byte = [0];
        while !text.ends_with("nothing to stop): ") {
            std::io::Read::read_exact(said, &mut byte).unwrap();
            text.push(byte[0] as char);
        }
        text
    }

    fn answer(&mut self, text: &str) {
        std::io::Write::write_all(self.child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
    }

    fn end(self) -> Output {
        self.child.wait_with_output().unwrap()
    }
}

#[test]
fn rounds_end_when_every_test_passes() {
    for how in ["partial", "full", "minimal"] {
        let mut rounds = Rounds::start(how);
        // The list is out once the question is asked; the fix is made before the answer.
        rounds.question();
        write(&rounds.folder, "sum.c", &PROGRAM.replace("x + y", "x - y"));
        rounds.answer("sum.c:6\n");
        let output = rounds.end();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
        assert!(text(&output.stdout).ends_with("every test passes\n"));
    }
}

#[test]
fn rounds_ask_again_after_a_slip() {
    let mut rounds = Rounds::start("partial");
    rounds.question();
    rounds.answer("line six\n");
    assert!(rounds.question().starts_with("\"line six\" is no line\n"));
    write(&rounds.folder, "sum.c", &PROGRAM.replace("x + y", "x - "));
    rounds.answer("6\n");
    let said = rounds.question();
    assert!(said.starts_with("sum.c does not compile: sum.c:6:"), "{said}");
    write(&rounds.folder, "sum.c", &PROGRAM.replace("x + y", "x - y + 1"));
    rounds.answer("./sum.c:6\n");
    rounds.question();
    rounds.answer("\n");
    let output = rounds.end();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let report = text(&output.stdout);
    assert_eq!(report.matches("suspicious statement").count(), 2, "two lists: {report}");
    assert!(!report.contains("every test passes"));
}

#[test]
fn a_program_that_does_not_build_is_said_in_a_line() {
    let folder = project();
    write(&folder, "sum.c", "int main(void) { return undeclared; }\n");
    let output = locate(folder.path(), &["sum.c", "--tests", "tests"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("sum.c does not compile: sum.c:1:"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn a_missing_expectation_is_named_and_the_rest_still_done() {
    let folder = project();
    write(&folder, "tests/e.args", "5\n5\n");
    let output = locate(folder.path(), &["sum.c", "--tests", "tests"]);
    assert_eq!(output.status.code(), Some(3));
    let report = text(&output.stdout) + &text(&output.stderr);
    assert!(report.contains("test e"), "{report}");
    assert!(report.contains("sum.c:6:"), "{report}");
}

#[test]
fn missing_files_tests_and_failures_are_said() {
    let folder = project();
    let message = |args: &[&str]| {
        let output = locate(folder.path(), args);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert!(message(&["no.c", "--tests", "tests"]).contains("no.c: no such file"));
    assert!(message(&["sum.c", "--tests", "nowhere"]).contains("cannot read nowhere"));
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert!(message(&["sum.c", "--tests", "empty"]).contains("no tests in empty"));
    write(&folder, "bad.toml", "[[test]]\nnome = 1\n");
    assert!(message(&["sum.c", "--tests", "bad.toml"]).contains("bad.toml"));
    write(&folder, "sum.c", &PROGRAM.replace("x + y", "x - y"));
    assert!(message(&["sum.c", "--tests", "tests"]).contains("no test fails"));
}

#[test]
fn an_interrupted_run_leaves_no_process_behind() {
    let folder = project();
    write(&folder, "sum.c", "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n");
    // What it would write outside its folder, nobody would see.
    let mark = format!("MARK={}", folder.path().display());
    for name in ["a", "b", "c", "d"] {
        write(&folder, &format!("tests/{name}.env"), &mark);
    }
    let marked = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let environments = processes.filter_map(|p| fs::read(p.path().join("environ")).ok());
        let has_mark = |all: &Vec<u8>| all.split(|byte| *byte == 0).any(|v| v == mark.as_bytes());
        environments.filter(has_mark).count()
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstfault"));
    command.args(["locate", "sum.c", "--tests", "tests", "-j", "1", "--time-limit", "600"]);
    let mut child = command.current_dir(folder.path()).spawn().unwrap();
    while marked() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    child.wait().unwrap();
    assert_eq!(marked(), 0);
}

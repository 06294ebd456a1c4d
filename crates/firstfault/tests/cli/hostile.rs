//! Projects and reports that try to write, read or run what is not theirs.

use std::time::{Duration, Instant};

use crate::support::Sandbox;

/// Faulty in its second line, which it claims to be another file's first.
fn claiming(file: &str) -> String {
    format!("int main(void) {{\n#line 1 \"{file}\"\n  int *p = 0; return *p;\n}}\n")
}

#[test]
fn flags_of_a_project_neither_write_nor_run_anything() {
    let command = "cc -c b.c --output=b.o -Xclang -load -Xclang ./x.so -Xclang=-load \
                   --config=evil.cfg --write-dependencies -fproc-stat-report=stat.txt \
                   -fcrash-diagnostics-dir=d -ftime-trace=t.json -save-temps";
    let sandbox = Sandbox::new(&[
        ("b.c", "int main(void) { int *p = 0; return *p; }\n"),
        ("b.o", "precious"),
        ("evil.cfg", "-DEVIL\n-o\nstolen.o\n"),
    ]);
    let database = serde_json::json!([{
        "directory": sandbox.path(""), "file": "b.c", "command": command,
    }]);
    sandbox.write("compile_commands.json", database.to_string());
    let names = || {
        let entries = std::fs::read_dir(sandbox.path("")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "state");
        names.sort();
        names
    };
    let before = names();
    let run = sandbox.run(&["check", "--format", "json"]).expect(1);
    assert_eq!(run.json().faults.len(), 1, "{run:#?}");
    assert!(run.stdout.contains("-fproc-stat-report=stat.txt"), "left out with a notice: {run:#?}");
    assert_eq!(names(), before);
    assert_eq!(std::fs::read(sandbox.path("b.o")).unwrap(), b"precious");
}

#[test]
fn reports_show_only_what_the_compiler_read() {
    let outside = Sandbox::new(&[("secret", "the secret\n")]);
    let secret = outside.path("secret").display().to_string();
    let sandbox = Sandbox::new(&[("own", "the secret\n")]);
    for claimed in [secret.as_str(), "own"] {
        sandbox.write("a.c", claiming(claimed));
        for format in ["text", "html", "json", "sarif"] {
            let run = sandbox.run(&["check", "--format", format, "a.c"]).expect(1);
            assert!(run.stdout.contains(claimed), "the position is told: {run:#?}");
            assert!(!run.stdout.contains("the secret"), "{format}: {run:#?}");
            let again = sandbox.run(&["report", "--format", format]).expect(1);
            assert!(!again.stdout.contains("the secret"), "{format}: {again:#?}");
        }
    }
    // What it read is shown.
    sandbox.write("a.c", "int main(void) {\n  int *p = 0; return *p;\n}\n");
    let run = sandbox.run(&["check", "a.c"]).expect(1);
    assert!(run.stdout.contains("int *p = 0; return *p;"), "{run:#?}");
    // Nor does a report that claims a place outside of the project.
    let report = sandbox.run(&["check", "--format", "json", "a.c"]).expect(1);
    for claimed in [secret.clone(), format!("../../../../../../{secret}")] {
        let mut forged = report.json();
        forged.sources = None;
        forged.faults[0].place.file = claimed;
        forged.faults[0].place.line = 1;
        sandbox.write("forged.json", serde_json::to_string(&forged).unwrap());
        let shown = sandbox.run(&["report", "forged.json"]).expect(1);
        assert!(!shown.stdout.contains("the secret"), "{shown:#?}");
    }
}

#[test]
fn files_without_end_are_not_read() {
    let sandbox = Sandbox::new(&[
        ("zero.c", "#include \"/dev/zero\"\nint main(void) { return 0; }\n"),
        ("pipe.c", &claiming("pipe")),
        ("device.c", &claiming("/dev/zero")),
    ]);
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status();
    assert!(made.unwrap().success());
    let started = Instant::now();
    for file in ["zero.c", "pipe.c", "device.c"] {
        let run = sandbox.run(&["check", file]);
        assert!(matches!(run.code, Some(0..=3)), "{run:#?}");
        for command in ["beliefs", "show"] {
            let more: &[&str] = if command == "show" { &["ir", file] } else { &[file] };
            let run = sandbox.run(&[&[command], more].concat());
            assert!(matches!(run.code, Some(0..=3)), "{run:#?}");
        }
    }
    // Hours, where a pipe is waited for.
    assert!(started.elapsed() < Duration::from_secs(120));
}

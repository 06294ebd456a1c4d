//! What is unchanged is not compiled again; what is damaged is.

use crate::support::{Sandbox, TWO_UNITS};

/// A compiler that writes down how it was started.
const LOGGING: &str = "echo \"$*\" >> compiler.log\nexec clang-19 \"$@\"";

const CHECK: &[&str] = &["check", "main.c", "add.c"];

/// A sandbox that has seen one run, with a logging compiler.
fn warm() -> Sandbox {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.set_clang(LOGGING);
    sandbox.run(CHECK).expect(0);
    sandbox
}

/// How often the compiler is started by one more run.
fn starts_of_next_run(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.path("compiler.log");
    if log.exists() {
        std::fs::remove_file(&log).unwrap();
    }
    sandbox.run(CHECK).expect(0);
    std::fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn a_second_run_starts_no_compiler() {
    let sandbox = warm();
    let log = sandbox.read("compiler.log");
    assert_eq!(log.lines().count(), 4, "each of two units is preprocessed and compiled: {log}");
    assert_eq!(starts_of_next_run(&sandbox), Vec::<String>::new());
}

#[test]
fn a_changed_header_recompiles_only_its_dependents() {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write("other.c", "int other(void) { return 0; }\n");
    sandbox.set_clang(LOGGING);
    let check = ["check", "main.c", "add.c", "other.c"];
    sandbox.run(&check).expect(0);
    std::fs::remove_file(sandbox.path("compiler.log")).unwrap();
    sandbox.write("add.h", "int add(int a, int b);\nint unused;\n");
    sandbox.run(&check).expect(0);
    let log = sandbox.read("compiler.log");
    assert!(!log.contains("other.c"), "{log}");
    assert!(log.contains("main.c") && log.contains("add.c"), "{log}");
    assert_eq!(log.lines().count(), 4, "{log}");
}

#[test]
fn touching_a_header_without_changing_it_compiles_nothing() {
    let sandbox = warm();
    sandbox.write("add.h", sandbox.read("add.h"));
    assert_eq!(starts_of_next_run(&sandbox), Vec::<String>::new());
}

#[test]
fn other_flags_are_another_unit() {
    let sandbox = warm();
    std::fs::remove_file(sandbox.path("compiler.log")).unwrap();
    sandbox.run(&["check", "main.c", "add.c", "--", "-DX"]).expect(0);
    assert_ne!(sandbox.read("compiler.log").lines().count(), 0);
}

#[test]
fn damaged_entries_are_made_again() {
    let sandbox = warm();
    let expected = sandbox.run(CHECK).stdout;
    let entries = sandbox.files_below("state/cache");
    assert!(!entries.is_empty());
    for damage in [
        |_: Vec<u8>| Vec::new(),
        |mut bytes: Vec<u8>| {
            bytes.truncate(bytes.len() / 2);
            bytes
        },
        |mut bytes: Vec<u8>| {
            let last = bytes.len() - 1;
            bytes[last] ^= 0x40;
            bytes
        },
    ] {
        for entry in sandbox.files_below("state/cache") {
            let bytes = std::fs::read(&entry).unwrap();
            std::fs::write(&entry, damage(bytes)).unwrap();
        }
        let run = sandbox.run(CHECK).expect(0);
        assert_eq!(run.stdout, expected);
        assert_eq!(run.stderr, "");
        assert_eq!(starts_of_next_run(&sandbox), Vec::<String>::new(), "and stored again");
    }
}

#[test]
fn a_unit_that_does_not_compile_is_not_tried_again() {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write("bad.c", "int f(void) { return nothing; }\n");
    sandbox.set_clang(LOGGING);
    let check = ["check", "main.c", "add.c", "bad.c"];
    let first = sandbox.run(&check).expect(3);
    std::fs::remove_file(sandbox.path("compiler.log")).unwrap();
    let second = sandbox.run(&check).expect(3);
    assert_eq!(first.stderr, second.stderr);
    assert!(!sandbox.path("compiler.log").exists(), "{}", sandbox.read("compiler.log"));
}

//! `firstfault locate` on programs of a compilation database and of a captured build.

use crate::support::Sandbox;

const SUM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include \"add.h\"\n\
     int main(int argc, char **argv) {\n\
       int x = atoi(argv[1]), y = atoi(argv[2]);\n\
       printf(\"%d\\n\", add(x, y));\n\
       return 0;\n}\n";
const ADD: &str = "#include \"add.h\"\n#define PLUS -\n\
     int add(int x, int y) {\n\
       return x PLUS y;\n}\n";
const OTHER: &str = "int unused(void);\nint main(void) { return unused(); }\n";

/// `add` subtracts. `other.c` is a program of its own that cannot even be linked.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(&[
        ("include/add.h", "int add(int x, int y);\n"),
        ("sum.c", SUM),
        ("add.c", ADD),
        ("other.c", OTHER),
        (
            "Makefile",
            "sum: sum.o add.o\n\tcc -o sum sum.o add.o\n%.o: %.c\n\tcc -Iinclude -O2 -c $<\n",
        ),
    ]);
    for (name, args, out) in
        [("a", "1\n0\n", "1\n"), ("b", "3\n2\n", "5\n"), ("c", "7\n7\n", "14\n")]
    {
        sandbox.write(&format!("tests/{name}.args"), args);
        sandbox.write(&format!("tests/{name}.out"), out);
    }
    sandbox
}

fn database(sandbox: &Sandbox) {
    let folder = sandbox.path("").display().to_string();
    let entry = |file: &str| {
        format!(
            "{{\"directory\": {folder:?}, \"file\": {file:?}, \"command\": \"cc -Iinclude -c {file}\"}}"
        )
    };
    let entries = ["sum.c", "add.c", "other.c"].map(entry).join(",\n");
    sandbox.write("compile_commands.json", format!("[{entries}]\n"));
}

#[test]
fn a_target_of_a_database_is_linked_from_the_units_it_needs() {
    let sandbox = sandbox();
    database(&sandbox);
    let run = sandbox.run(&["locate", "-p", ".", "--target", "sum", "--tests", "tests"]).expect(1);
    assert!(run.stdout.starts_with("add.c:4:"), "{run:#?}");
}

#[test]
fn a_database_with_several_programs_needs_a_target() {
    let sandbox = sandbox();
    database(&sandbox);
    let run = sandbox.run(&["locate", "-p", ".", "--tests", "tests"]).expect(2);
    assert!(run.stderr.contains("several units define main (sum, other)"), "{run:#?}");
    let run = sandbox.run(&["locate", "-p", ".", "--target", "no", "--tests", "tests"]).expect(2);
    assert!(run.stderr.contains("no unit defines main in no; there are sum, other"), "{run:#?}");
}

#[test]
fn the_program_of_a_captured_build_is_located() {
    let sandbox = sandbox();
    sandbox.run(&["capture", "--", "make", "-s", "sum"]).expect(0);
    let run = sandbox.run(&["locate", "--tests", "tests"]).expect(1);
    assert!(run.stdout.starts_with("add.c:4:"), "{run:#?}");
    let run = sandbox.run(&["locate", "--target", "no", "--tests", "tests"]).expect(2);
    assert!(run.stderr.contains("makes no program called no; it makes sum"), "{run:#?}");
}

#[test]
fn a_project_elsewhere_is_told_relative_to_itself_and_remembered_there() {
    let (sandbox, elsewhere) = (sandbox(), Sandbox::new(&[]));
    database(&sandbox);
    let (folder, tests) = (sandbox.path(""), sandbox.path("tests"));
    let done = elsewhere
        .command(&["locate", "--target", "sum", "-p"])
        .arg(&folder)
        .arg("--tests")
        .arg(&tests)
        .env_remove("FIRSTFAULT_STATE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(text.starts_with("add.c:4:"), "{done:?}");
    assert!(text.contains("return x PLUS y;"), "{text}");
    assert!(folder.join(".firstfault/last.json").is_file());
}

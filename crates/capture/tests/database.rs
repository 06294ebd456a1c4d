//! Compilation databases, well formed and not.

mod support;

use std::process::Command;

use capture::{CaptureError, ProgramKind};
use support::{Scratch, paths, text};

/// Loads a scratch folder whose database has these entries.
fn error_of(database: &str) -> String {
    let scratch = Scratch::new();
    scratch.write("compile_commands.json", database);
    scratch.load(&scratch.folder()).expect_err("a bad database").to_string()
}

#[test]
fn both_ways_to_write_a_command_are_understood() {
    let scratch = Scratch::new();
    scratch.write("src/a.c", "const char *a = NAME;\nint v = VALUE;\n");
    scratch.write("build/flags.rsp", "-DVALUE=5 '-DNAME=\"from file\"'");
    scratch.write(
        "compile_commands.json",
        r#"[
        {"directory": "build", "file": "../src/a.c", "output": "a1.o",
         "command": "ccache /usr/bin/gcc-12 -DNAME=\\\"q\\ r\\\" -DVALUE='1 + 1' -O2 -c -o a.o ../src/a.c"},
        {"directory": "build", "file": "../src/a.c",
         "arguments": ["cc", "-DNAME=\"x\"", "-DVALUE=3", "-c", "../src/a.c"]},
        {"directory": "build", "file": "../src/a.c", "arguments": ["cc", "@flags.rsp", "-c", "../src/a.c"]},
        {"directory": "build", "file": "../src/a.c", "arguments": ["cc", "@flags.rsp", "-c", "../src/a.c"]}
        ]"#,
    );
    let project = scratch.load(&scratch.folder()).expect("loads");
    assert_eq!(paths(&project), ["src/a.c"; 3], "one unit for each different command");
    let texts: Vec<String> = project
        .units
        .iter()
        .map(|unit| String::from_utf8_lossy(&unit.text.read().expect("stored")).into_owned())
        .collect();
    assert!(texts[0].contains("a = \"q r\";") && texts[0].contains("v = 1 + 1;"), "{}", texts[0]);
    assert!(texts[1].contains("a = \"x\";") && texts[1].contains("v = 3;"));
    assert!(texts[2].contains("a = \"from file\";") && texts[2].contains("v = 5;"));
    let objects: Vec<_> = project.units.iter().map(|u| u.object.clone()).collect();
    assert_eq!(objects[0], Some(scratch.path("build/a1.o")));
    assert_eq!(objects[1], Some(scratch.path("build/a.o")));
    assert_eq!(project.programs[0].kind, ProgramKind::Unsplit);
    assert_eq!(project.programs[0].units, [0, 1, 2]);
    assert_eq!(scratch.load(&scratch.folder()).expect("loads").n_clang_runs, 0);
}

#[test]
fn entries_that_are_not_c_or_make_no_sense_do_not_stop_the_others() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    scratch.write(
        "compile_commands.json",
        r#"[
        {"directory": ".", "file": "x.cpp", "command": "g++ -c x.cpp"},
        {"directory": ".", "file": "y.S", "command": "cc -c y.S"},
        {"directory": ".", "file": "a.c", "command": "cc -c a.c"},
        {"directory": ".", "file": "gone.c", "command": "cc -c gone.c"},
        {"directory": "nowhere", "file": "b.c", "command": "cc -c b.c"},
        {"directory": ".", "file": "c.c"},
        {"directory": 5, "file": "d.c", "command": "cc"},
        {"directory": ".", "file": "e.c", "arguments": ["cc", 3]},
        {"directory": ".", "file": "f.c", "arguments": "cc"},
        {"directory": ".", "file": "g.c", "command": ""},
        "text", {"command": "cc"}
        ]"#,
    );
    let project = scratch.load(&scratch.folder()).expect("loads");
    assert_eq!(paths(&project), ["a.c"]);
    assert_eq!(project.notices, ["2 of 12 entries are not C and were left out (x.cpp, ...)"]);
    let failures: Vec<String> = project.failures.iter().map(ToString::to_string).collect();
    assert_eq!(failures.len(), 9, "{failures:#?}");
    assert!(failures[0].starts_with("gone.c: the file does not exist"));
    assert!(failures[1].contains("its directory") && failures[1].contains("nowhere"));
    assert!(failures[7].starts_with("compile_commands.json entry 11: is not an object"));
}

#[test]
fn a_database_that_is_none_is_a_clear_error() {
    for (content, expected) in [
        ("", "is empty"),
        (" \n", "is empty"),
        ("[]", "holds no compile commands"),
        ("{}", "is not a list"),
        ("[{\"file\": ", "is not valid JSON"),
        ("\u{0}\u{1}", "is not valid JSON"),
        (r#"[{"directory": ".", "file": "x.cc", "command": "g++ x.cc"}]"#, "no entry is a C file"),
    ] {
        let error = error_of(content);
        assert!(error.contains(expected), "{content}: {error}");
        assert!(error.contains("compile_commands.json") && !error.contains('\n'), "{error}");
    }
    // Deep nesting must not exhaust the stack.
    let error = error_of(&"[".repeat(1_000_000));
    assert!(error.contains("is not valid JSON"), "{error}");
}

#[test]
fn a_folder_without_a_build_says_what_to_do() {
    let scratch = Scratch::new();
    let error = scratch.load(&scratch.folder()).expect_err("nothing there");
    assert!(matches!(error, CaptureError::NoBuild(_)), "{error}");
    assert!(error.to_string().contains("firstfault capture"));
    let gone = capture::Inputs::Folder(scratch.path("gone"));
    let error = scratch.load(&gone).expect_err("nothing there");
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn what_cmake_writes_is_understood() {
    let scratch = Scratch::copy_of("cmake");
    let configured = Command::new("cmake")
        .args(["-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
        .current_dir(scratch.path(""))
        .output()
        .expect("cmake runs");
    assert!(configured.status.success(), "{}", String::from_utf8_lossy(&configured.stderr));
    let project = scratch.load(&capture::Inputs::Folder(scratch.path("build"))).expect("loads");
    assert_eq!(paths(&project), ["lib/shape.c", "app/main.c"]);
    assert_eq!(project.failures, []);
    assert!(text(&project, "app/main.c").contains("\"a title with spaces\""));
}

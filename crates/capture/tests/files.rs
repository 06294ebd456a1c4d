//! Files named by the user, with flags, and what is remembered between runs.

mod support;

use std::fs;
use std::time::Duration;

use capture::{CaptureError, ProgramKind};
use support::{Scratch, paths, text};

#[test]
fn files_make_one_program_and_keep_their_macros() {
    let scratch = Scratch::new();
    scratch.write(
        "a.c",
        "#include \"a.h\"\n#define LOCAL 3\nint main(void) { return VALUE + LOCAL; }\n",
    );
    scratch.write("sub/b.c", "#ifdef X\nint b = X;\n#endif\n");
    scratch.write("inc/a.h", "#define VALUE 2\n");
    let include = format!("-I{}", scratch.path("inc").display());
    let inputs = scratch.files(&["a.c", "sub/b.c"], &[&include, "-DX=7", "-O2", "-lm"]);
    let project = scratch.load(&inputs).expect("loads");
    assert_eq!(paths(&project), ["a.c", "sub/b.c"]);
    assert_eq!(project.notices, Vec::<String>::new());
    assert!(text(&project, "a.c").contains("return 2 + 3;"));
    assert!(text(&project, "a.c").contains("#define LOCAL 3"));
    assert!(text(&project, "sub/b.c").contains("int b = 7;"));
    assert_eq!(project.programs.len(), 1);
    assert_eq!(project.programs[0].kind, ProgramKind::Files);
    assert_eq!(project.programs[0].units, [0, 1]);
    let names: Vec<_> =
        project.units[0].dependencies.iter().filter_map(|d| d.path.file_name()).collect();
    assert_eq!(names, ["a.c", "a.h"]);
}

#[test]
fn a_second_run_starts_no_compiler_and_a_header_only_its_dependents() {
    let scratch = Scratch::new();
    scratch.write("a.c", "#include \"h.h\"\nint a = H;\n");
    scratch.write("b.c", "int b;\n");
    scratch.write("h.h", "#define H 1\n");
    let inputs = scratch.files(&["a.c", "b.c"], &[]);
    let first = scratch.load(&inputs).expect("loads");
    assert_eq!(first.n_clang_runs, 2);
    assert!(first.clang_cpu > Duration::ZERO);
    let second = scratch.load(&inputs).expect("loads");
    assert_eq!(second.n_clang_runs, 0);
    assert_eq!(text(&first, "a.c"), text(&second, "a.c"));
    assert_eq!(first.units[0].key, second.units[0].key);

    scratch.write("h.h", "#define H 1\n");
    assert_eq!(scratch.load(&inputs).expect("loads").n_clang_runs, 0, "same content");

    scratch.write("h.h", "#define H 2\n");
    let changed = scratch.load(&inputs).expect("loads");
    assert_eq!(changed.n_clang_runs, 1);
    assert!(text(&changed, "a.c").contains("int a = 2;"));
    assert_ne!(first.units[0].key, changed.units[0].key);
    assert_eq!(first.units[1].key, changed.units[1].key);

    scratch.write("a.c", "#include \"h.h\"\nint a2 = H;\n");
    assert_eq!(scratch.load(&inputs).expect("loads").n_clang_runs, 1);
    let flags = scratch.files(&["a.c", "b.c"], &["-DOTHER"]);
    assert_eq!(scratch.load(&flags).expect("loads").n_clang_runs, 2);
}

#[test]
fn a_header_that_appears_earlier_in_the_search_is_noticed() {
    let scratch = Scratch::new();
    scratch.write("a.c", "#include <h.h>\n#include <limits.h>\nint a = H;\n");
    scratch.write("late/h.h", "#define H 1\n");
    scratch.write("early/other.h", "");
    let early = format!("-I{}", scratch.path("early").display());
    let late = format!("-I{}", scratch.path("late").display());
    let inputs = scratch.files(&["a.c"], &[&early, &late]);
    scratch.load(&inputs).expect("loads");
    scratch.write("early/unrelated.h", "");
    assert_eq!(scratch.load(&inputs).expect("loads").n_clang_runs, 0);
    scratch.write("early/h.h", "#define H 2\n");
    let changed = scratch.load(&inputs).expect("loads");
    assert!(text(&changed, "a.c").contains("int a = 2;"));
    scratch.write("late/limits.h", "int shadowed;\n");
    let changed = scratch.load(&inputs).expect("loads");
    assert!(text(&changed, "a.c").contains("int shadowed;"));
}

#[test]
fn flags_only_gcc_knows_are_left_out_with_one_notice() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    scratch.write("b.c", "int b;\n");
    let flags =
        ["-fconserve-stack", "-fwrapv", "-mno-such-thing", "-std=gnu89", "-march=no-such-cpu"];
    let inputs = scratch.files(&["a.c", "b.c"], &flags);
    for run in ["cold", "warm"] {
        let project = scratch.load(&inputs).expect("loads");
        assert_eq!(
            project.notices,
            ["unknown flags were left out in 2 units: \
              -fconserve-stack -march=no-such-cpu -mno-such-thing"],
            "{run}"
        );
        assert_eq!(project.units[0].flags, ["-fwrapv", "-std=gnu89"]);
    }
}

#[test]
fn old_c_and_dates_are_no_trouble() {
    let scratch = Scratch::new();
    scratch.write(
        "old.c",
        "add(a, b) int a; int b; { return a + b; }\nmain() { puts(__DATE__ __TIME__); }\n",
    );
    let inputs = scratch.files(&["old.c"], &["-std=gnu89"]);
    let first = scratch.load(&inputs).expect("loads");
    let fresh = Scratch::new();
    fs::copy(scratch.path("old.c"), fresh.path("old.c")).expect("copies");
    let second = fresh.load(&fresh.files(&["old.c"], &["-std=gnu89"])).expect("loads");
    let body = |project| text(project, "old.c").lines().last().map(str::to_owned);
    assert_eq!(body(&first), body(&second), "the date is the same in every run");
}

#[test]
fn a_bad_file_does_not_stop_the_others() {
    let scratch = Scratch::new();
    scratch.write("good.c", "int good;\n");
    scratch.write("bad.c", "int x;\n#include \"not-there.h\"\n");
    scratch.write("notes.txt", "hello");
    scratch.write("code.cpp", "class X {};");
    scratch.write("start.S", "nop");
    scratch.write("folder/x", "");
    let names = ["gone.c", "bad.c", "good.c", "notes.txt", "code.cpp", "start.S", "folder"];
    let project = scratch.load(&scratch.files(&names, &[])).expect("loads");
    assert_eq!(paths(&project), ["good.c"]);
    let reason = |name: &str| -> &str {
        let is_it = |f: &&capture::UnitFailure| f.path.ends_with(name);
        &project.failures.iter().find(is_it).unwrap_or_else(|| panic!("{name}")).reason
    };
    assert!(reason("gone.c").contains("No such file"), "{}", reason("gone.c"));
    assert!(reason("bad.c").contains("'not-there.h' file not found"), "{}", reason("bad.c"));
    assert!(reason("notes.txt").contains("not a C file"));
    assert!(reason("code.cpp").contains("not a C file"));
    assert!(reason("start.S").contains("assembler"));
    assert!(reason("folder").contains("is a folder"));
    let bad = project.failures.iter().find(|f| f.path == "bad.c").expect("failed");
    assert!(bad.details[0].contains("bad.c:2"), "{:?}", bad.details);
}

#[test]
fn nothing_usable_is_an_error() {
    let scratch = Scratch::new();
    let error = scratch.load(&scratch.files(&["gone.c"], &[])).expect_err("nothing there");
    assert!(matches!(error, CaptureError::AllFailed(_)));
    assert!(error.to_string().contains("gone.c"), "{error}");
    let error = scratch.load(&scratch.files(&[], &[])).expect_err("nothing there");
    assert!(matches!(error, CaptureError::NoInput));
}

#[test]
fn a_file_named_otherwise_is_c_when_the_flags_say_so() {
    let scratch = Scratch::new();
    scratch.write("code.inc", "int x;\n");
    let project = scratch.load(&scratch.files(&["code.inc"], &["-x", "c"])).expect("loads");
    assert!(text(&project, "code.inc").contains("int x;"));
}

#[test]
fn cancelling_ends_the_run() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    let settings = scratch.settings();
    settings.cancel.cancel();
    let cache = std::sync::Arc::new(capture::Cache::open(&scratch.state()));
    let result = capture::load(&scratch.files(&["a.c"], &[]), &cache, &settings);
    assert!(matches!(result, Err(CaptureError::Cancelled)));
}

#[test]
fn a_damaged_cache_is_computed_again() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    let inputs = scratch.files(&["a.c"], &[]);
    let first = scratch.load(&inputs).expect("loads");
    let shards = fs::read_dir(scratch.path(".firstfault/cache")).expect("exists").flatten();
    for file in shards.flat_map(|shard| fs::read_dir(shard.path()).expect("a folder").flatten()) {
        let bytes = fs::read(file.path()).expect("readable");
        fs::write(file.path(), &bytes[..bytes.len() - 1]).expect("writable");
    }
    let again = scratch.load(&inputs).expect("loads");
    assert_eq!(again.n_clang_runs, 1);
    assert_eq!(text(&first, "a.c"), text(&again, "a.c"));
}

#[test]
fn an_unwritable_state_folder_is_only_a_notice() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    scratch.write(".firstfault", "a file where the folder should be");
    let project = scratch.load(&scratch.files(&["a.c"], &[])).expect("loads");
    assert!(text(&project, "a.c").contains("int a;"));
    assert_eq!(project.notices.len(), 1, "{:?}", project.notices);
    assert!(project.notices[0].contains("cannot write to the cache"));
}

/// Loads one good file with a shell script for a clang.
fn load_with_clang(script: &str) -> Result<capture::Project, CaptureError> {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    scratch.write("b.c", "int b;\n");
    let clang = scratch.write("clang", &format!("#!/bin/sh\n{script}\n"));
    let mut permissions = fs::metadata(&clang).expect("written").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&clang, permissions).expect("ours");
    let settings = capture::Settings {
        clang: Some(clang),
        unit_time: Duration::from_millis(300),
        ..scratch.settings()
    };
    let cache = std::sync::Arc::new(capture::Cache::open(&scratch.state()));
    capture::load(&scratch.files(&["a.c", "b.c"], &[]), &cache, &settings)
}

#[test]
fn a_clang_that_hangs_or_crashes_on_one_unit_does_not_stop_the_others() {
    let hangs = load_with_clang("case \"$*\" in *a.c) sleep 1000;; *) exec clang-19 \"$@\";; esac");
    let project = hangs.expect("the other unit loads");
    assert_eq!(paths(&project), ["b.c"]);
    assert!(project.failures[0].reason.contains("did not finish"), "{:?}", project.failures);
    let crashes =
        load_with_clang("case \"$*\" in *a.c) kill -SEGV $$;; *) exec clang-19 \"$@\";; esac");
    let project = crashes.expect("the other unit loads");
    assert_eq!(paths(&project), ["b.c"]);
    assert!(project.failures[0].reason.contains("crashed (signal 11)"), "{:?}", project.failures);
}

#[test]
fn a_clang_that_is_not_there_is_said_with_what_to_install() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    let settings =
        capture::Settings { clang: Some(scratch.path("no-clang")), ..scratch.settings() };
    let cache = std::sync::Arc::new(capture::Cache::open(&scratch.state()));
    let error = capture::load(&scratch.files(&["a.c"], &[]), &cache, &settings);
    let error = error.expect_err("no clang").to_string();
    assert!(error.contains("apt install clang-19"), "{error}");
}

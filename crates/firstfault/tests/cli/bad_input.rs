//! Every way in which input can be bad: a clear line, the rest still analysed, the right exit
//! code.

use crate::support::{Run, Sandbox, TWO_UNITS};

const GOOD: (&str, &str) = ("good.c", "int good(int x) { return x + 1; }\n");

/// The rest was analysed, and the report says what is missing.
#[track_caller]
fn only_good_is_left(run: &Run, missing: &str, reason: &str) {
    assert!(run.stderr.contains(missing), "{run:#?}");
    assert!(run.stderr.contains(reason), "{run:#?}");
    let findings = run.json();
    assert_eq!(findings.programs.len(), 1, "{run:#?}");
    assert_eq!(findings.programs[0].functions, 1, "{run:#?}");
    assert_eq!(findings.incomplete.len(), 1, "{run:#?}");
    assert!(findings.incomplete[0].what.ends_with(missing), "{run:#?}");
}

#[test]
fn a_missing_file_is_named_and_the_rest_analysed() {
    let sandbox = Sandbox::new(&[GOOD]);
    let run = sandbox.run(&["check", "--format", "json", "good.c", "gone.c"]).expect(3);
    only_good_is_left(&run, "gone.c", "No such file");
    let run = sandbox.run(&["check", "gone.c"]).expect(2);
    assert!(run.stderr.contains("gone.c"), "{run:#?}");
    assert_eq!(run.stdout, "");
}

#[test]
fn a_folder_that_cannot_be_read_is_an_error() {
    let sandbox = Sandbox::new(&[]);
    std::os::unix::fs::symlink("loop", sandbox.path("loop")).unwrap();
    let run = sandbox.run(&["check", "-p", "loop"]).expect(2);
    assert!(run.first_error().contains("loop"), "{run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:#?}");
    let run = sandbox.run(&["check", "-p", "nowhere"]).expect(2);
    assert!(run.first_error().contains("nowhere"), "{run:#?}");
}

#[test]
fn a_folder_without_a_database_says_how_to_get_one() {
    let sandbox = Sandbox::new(&[GOOD]);
    let run = sandbox.run(&["check"]).expect(2);
    assert!(run.first_error().contains("compile_commands.json"), "{run:#?}");
    assert!(run.first_error().contains("firstfault capture -- make"), "{run:#?}");
}

#[test]
fn a_malformed_or_empty_database_is_an_error() {
    for content in ["", "[", "{}", "[]", "[{\"file\": 3}]", "\0\u{1}", "[{}]"] {
        let sandbox = Sandbox::new(&[("compile_commands.json", content)]);
        let run = sandbox.run(&["check"]).expect(2);
        assert!(run.first_error().contains("compile_commands.json"), "{content:?}: {run:#?}");
        assert!(!run.stderr.contains("panicked"), "{run:#?}");
    }
}

#[test]
fn a_file_that_is_not_c_is_named() {
    let sandbox = Sandbox::new(&[GOOD, ("poem.c", "shall I compare thee to a summer's day\n")]);
    sandbox.write("noise.c", b"\x7fELF\x00\x01\xff\xfe\x80(((\x00");
    for file in ["poem.c", "noise.c"] {
        let run = sandbox.run(&["check", "--format", "json", "good.c", file]).expect(3);
        only_good_is_left(&run, file, file);
    }
}

#[test]
fn a_unit_that_does_not_compile_shows_the_compilers_first_lines() {
    let sandbox = Sandbox::new(&[GOOD, ("bad.c", "int f(void)\n{\n    return nothing;\n}\n")]);
    let run = sandbox.run(&["check", "--format", "json", "good.c", "bad.c"]).expect(3);
    only_good_is_left(&run, "bad.c", "does not compile");
    assert!(run.stderr.contains("bad.c:3:12: error: use of undeclared identifier"), "{run:#?}");
    let run = sandbox.run(&["check", "bad.c"]).expect(2);
    assert!(run.stderr.contains("undeclared identifier"), "{run:#?}");
}

#[test]
fn a_compiler_that_crashes_costs_one_unit() {
    let sandbox = Sandbox::new(&[GOOD, ("boom.c", "int boom(void) { return 1; }\n")]);
    // Once while preprocessing, once while compiling, where the source comes as input.
    let preprocessing = "case \"$*\" in *boom.c*) kill -SEGV $$ ;; esac\nexec clang-19 \"$@\"";
    let args = ["check", "--format", "json", "good.c", "boom.c"];
    sandbox.set_clang(preprocessing);
    let run = sandbox.run(&args).expect(3);
    only_good_is_left(&run, "boom.c", "clang crashed (signal 11)");
    let compiling = "case \"$*\" in *cpp-output*) text=$(cat)\n\
        case \"$text\" in *boom*) kill -SEGV $$ ;; esac\n\
        printf '%s\\n' \"$text\" | clang-19 \"$@\"; exit ;; esac\nexec clang-19 \"$@\"";
    sandbox.set_clang(compiling);
    let run = sandbox.run(&args).expect(3);
    only_good_is_left(&run, "boom.c", "clang crashed (signal 11)");
}

#[test]
fn a_compiler_that_hangs_costs_one_unit() {
    let sandbox = Sandbox::new(&[GOOD, ("slow.c", "int slow(void) { return 1; }\n")]);
    let script = "case \"$*\" in *slow.c*) sleep 1000 ;; esac\nexec clang-19 \"$@\"";
    let args = ["check", "--format", "json", "--unit-timeout", "1", "good.c", "slow.c"];
    sandbox.set_clang(script);
    let run = sandbox.run(&args).expect(3);
    only_good_is_left(&run, "slow.c", "did not finish");
}

#[test]
fn a_compiler_that_prints_nonsense_costs_one_unit() {
    let sandbox = Sandbox::new(&[GOOD, ("odd.c", "int odd(void) { return 1; }\n")]);
    let script = "case \"$*\" in *cpp-output*) text=$(cat)\n\
        case \"$text\" in *odd*) printf 'BC\\300\\336 and no more'; exit 0 ;; esac\n\
        printf '%s\\n' \"$text\" | clang-19 \"$@\"; exit ;; esac\nexec clang-19 \"$@\"";
    let args = ["check", "--format", "json", "good.c", "odd.c"];
    sandbox.set_clang(script);
    let run = sandbox.run(&args).expect(3);
    only_good_is_left(&run, "odd.c", "cannot be imported");
}

#[test]
fn without_a_compiler_it_says_what_to_install() {
    let sandbox = Sandbox::new(&[GOOD]);
    let mut command = sandbox.command(&["check", "good.c"]);
    let run = Run::of(command.env("FIRSTFAULT_CLANG", "no-such-clang").output().unwrap()).expect(2);
    assert!(run.first_error().contains("apt install clang-19"), "{run:#?}");
}

#[test]
fn a_full_disk_loses_the_cache_and_not_the_result() {
    let sandbox = Sandbox::new(TWO_UNITS);
    // No file may grow beyond one block: the cache cannot be written.
    let program = env!("CARGO_BIN_EXE_firstfault");
    let script =
        format!("trap '' XFSZ; ulimit -f 1; exec '{program}' check --format json main.c add.c");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(sandbox.path(""));
    let run = Run::of(command.env("FIRSTFAULT_STATE", sandbox.path("state")).output().unwrap());
    let run = run.expect(0);
    assert_eq!(run.json().programs[0].functions, 2, "{run:#?}");
    // What is there afterwards is either whole or not used.
    sandbox.run(&["check", "main.c", "add.c"]).expect(0);
}

#[test]
fn wrong_use_is_exit_code_2() {
    let sandbox = Sandbox::new(&[GOOD]);
    sandbox.run(&["check", "--no-such-option"]).expect(2);
    sandbox.run(&["check", "-j", "0", "good.c"]).expect(2);
    sandbox.run(&["check", "-p", ".", "good.c"]).expect(2);
    sandbox.run(&["capture"]).expect(2);
    sandbox.run(&["no-such-command"]).expect(2);
}

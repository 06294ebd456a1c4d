//! Real builds, run and watched.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use capture::{Build, CaptureError, Inputs, ProgramKind, Project};
use support::{Scratch, paths, text};

fn try_watch(scratch: &Scratch, command: &[&str]) -> Result<Project, CaptureError> {
    let command = command.iter().map(|word| word.into()).collect();
    scratch.load(&Inputs::Build(Build { command, shims: false }))
}

fn watch(scratch: &Scratch, script: &str) -> Project {
    let project = try_watch(scratch, &["sh", "-ec", script]).expect("the build is captured");
    assert_eq!(project.build_failed, None);
    assert_eq!(project.failures, []);
    project
}

/// Each program's name and the sources of its units.
fn programs(project: &Project) -> BTreeMap<&str, Vec<&str>> {
    let sources = |units: &[usize]| units.iter().map(|&u| project.units[u].path.as_str()).collect();
    project.programs.iter().map(|p| (p.name.as_str(), sources(&p.units))).collect()
}

fn run(folder: &Path, script: &str) {
    let output = Command::new("sh").args(["-ec", script]).current_dir(folder).output();
    let output = output.expect("a shell runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn configure_and_make_give_the_programs_and_no_probes() {
    let scratch = Scratch::copy_of("autotools");
    let project = watch(&scratch, "./configure && make -j2");
    assert_eq!(
        programs(&project),
        BTreeMap::from([
            ("tool", vec!["src/main.c", "src/old.c", "src/used.c", "src/deep.c"]),
            ("other", vec!["src/other.c", "src/unused.c"]),
        ])
    );
    assert!(project.programs.iter().all(|p| p.kind == ProgramKind::Executable));
    assert!(!scratch.path("src/generated.h").exists());
    assert!(text(&project, "src/main.c").contains("used(42)"), "the generated header was seen");
    assert_eq!(project.notices, ["unknown flags were left out in 6 units: -fconserve-stack"]);
    let config = fs::read_to_string(scratch.path("config.h")).expect("configure ran");
    assert_eq!(config, "#define HAVE_STRLEN 1\n#define JUNK_COMPILES_no 1\n");
}

#[test]
fn a_captured_build_is_used_later_without_building() {
    let scratch = Scratch::copy_of("autotools");
    let built = watch(&scratch, "./configure && make");
    let later = scratch.load(&scratch.folder()).expect("loads");
    assert_eq!(programs(&built), programs(&later));
    assert_eq!(later.n_clang_runs, 0);
    assert_eq!(text(&built, "src/main.c"), text(&later, "src/main.c"));

    // An edit is seen, and only its unit is preprocessed.
    scratch.write("src/used.c", "int deep(int);\nint used(int x) { return deep(x) + 2; }\n");
    let edited = scratch.load(&scratch.folder()).expect("loads");
    assert_eq!(edited.n_clang_runs, 1);
    assert!(text(&edited, "src/used.c").contains("+ 2"));

    // An incremental build keeps what it does not rebuild.
    fs::remove_file(scratch.path("src/deep.o")).expect("was built");
    scratch.write("src/deep.c", "int deep(int x) { return x * 3; }\n");
    let rebuilt = watch(&scratch, "make");
    assert_eq!(programs(&built), programs(&rebuilt));
    assert!(text(&rebuilt, "src/deep.c").contains("* 3"));
}

/// Every file below a folder except our state, with its content.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("readable").flatten() {
            let path = entry.path();
            if path.ends_with(".firstfault") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("inside").display().to_string();
                files.insert(name, fs::read(&path).expect("readable"));
            }
        }
    }
    files
}

/// Builds twice in the same folder, watched and not, and compares every file.
fn assert_same_outputs(scratch: &Scratch, script: &str) {
    let original = Scratch::new();
    run(original.path("").as_path(), &format!("cp -a {}/. .", scratch.path("").display()));
    run(&scratch.path(""), script);
    let plain = tree(&scratch.path(""));
    run(&scratch.path(""), "find . -mindepth 1 -delete");
    run(&scratch.path(""), &format!("cp -a {}/. .", original.path("").display()));
    watch(scratch, script);
    let watched = tree(&scratch.path(""));
    assert_eq!(plain.keys().collect::<Vec<_>>(), watched.keys().collect::<Vec<_>>());
    for (name, content) in &plain {
        assert!(watched[name] == *content, "{name} differs when the build is watched");
    }
}

#[test]
fn outputs_are_the_same_byte_for_byte() {
    let scratch = Scratch::copy_of("autotools");
    assert_same_outputs(
        &scratch,
        "./configure && make -j2 && gcc -S -fverbose-asm -o listing.s src/deep.c \
         && gcc -g -save-temps -MMD -c src/used.c -o saved.o && gcc -E src/main.c -I. -DX > text.i || true",
    );
}

#[test]
fn cmake_builds_and_its_probes() {
    let scratch = Scratch::copy_of("cmake");
    let project = watch(&scratch, "cmake -S . -B build >/dev/null && make -C build");
    let expected = BTreeMap::from([("build/app", vec!["app/main.c", "lib/shape.c"])]);
    assert_eq!(programs(&project), expected);
    assert!(text(&project, "app/main.c").contains("a title with spaces"));
    assert_same_outputs(
        &Scratch::copy_of("cmake"),
        "cmake -S . -B build >/dev/null; make -C build >/dev/null; \
        rm -rf build/CMakeFiles/CMakeOutput.log build/CMakeFiles/CMakeError.log",
    );
}

#[test]
fn every_way_to_name_a_compiler_is_seen() {
    let scratch = Scratch::new();
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        scratch.write(&format!("{name}.c"), &format!("int {name};\n"));
    }
    scratch.write("main.c", "int main(void) { return 0; }\n");
    scratch.write("mycc", "#!/bin/sh\nexec gcc -DFROM_SCRIPT=1 \"$@\"\n");
    scratch.write("gcc", "#!/bin/sh\nexec /usr/bin/gcc -DFROM_SCRIPT=2 \"$@\"\n");
    scratch.write("args", "-c 'd.c' -o d.o");
    let script = "chmod +x mycc gcc; cc -c a.c; /usr/bin/gcc -c b.c; x86_64-linux-gnu-gcc -c c.c; \
        gcc @args; clang-19 -c e.c; ./mycc -c f.c; ./gcc -c g.c; \
        env -i PATH=$PATH gcc -o prog main.c a.o b.o c.o d.o e.o f.o g.o";
    let project = watch(&scratch, script);
    let all = vec!["main.c", "a.c", "b.c", "c.c", "d.c", "e.c", "f.c", "g.c"];
    assert_eq!(programs(&project), BTreeMap::from([("prog", all)]));
    assert!(text(&project, "f.c").contains("#define FROM_SCRIPT 1"));
    assert!(text(&project, "g.c").contains("#define FROM_SCRIPT 2"));
}

#[test]
fn a_compiler_cache_hides_nothing() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int f(void) { return 1; }\n");
    scratch.write("main.c", "int f(void); int main(void) { return f(); }\n");
    let cache = Scratch::new();
    let script = format!(
        "export CCACHE_DIR={}; ccache gcc -c a.c -o a.o; rm a.o; ccache gcc -c a.c -o a.o; \
         ccache gcc -c main.c; ccache gcc -o prog main.o a.o",
        cache.path("").display()
    );
    let project = watch(&scratch, &script);
    assert_eq!(programs(&project), BTreeMap::from([("prog", vec!["main.c", "a.c"])]));
}

#[test]
fn objects_are_followed_through_linker_tools() {
    let scratch = Scratch::new();
    for (name, text) in [
        ("main.c", "int a(void), b(void), c(void); int main(void) { return a() + b() + c(); }\n"),
        ("a.c", "int a(void) { return 1; }\n"),
        ("b.c", "int b(void) { return 2; }\n"),
        ("c.c", "int c(void) { return 3; }\n"),
        ("d.c", "int d(void) { return 4; }\n"),
        ("s.c", "int s(void) { return 5; }\n"),
        ("fast.S", ".globl fast\nfast: ret\n"),
    ] {
        scratch.write(name, text);
    }
    let script = "gcc -c main.c a.c b.c c.c d.c fast.S; ld -r -o ab.o a.o b.o; strip -g ab.o; \
        cp c.o renamed.o; objcopy --redefine-sym d=dd d.o dd.o; \
        gcc -S s.c -o s.s; as s.s -o s.o; gcc -c s.s -o s2.o; rm a.o b.o; \
        ar rcsT thin.a ab.o renamed.o; gcc -o prog main.o fast.o thin.a dd.o s.o";
    let project = watch(&scratch, script);
    let expected = vec!["main.c", "a.c", "b.c", "c.c", "d.c", "s.c"];
    let found = programs(&project);
    let mut prog = found["prog"].clone();
    prog.sort_unstable();
    let mut sorted = expected.clone();
    sorted.sort_unstable();
    assert_eq!(prog, sorted);
    assert_eq!(project.programs[0].unknown, ["fast.S"]);
    assert!(project.notices.iter().any(|n| n.contains("fast.S")), "{:?}", project.notices);
}

#[test]
fn one_command_may_compile_and_link_everything() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\nint lib(void); int main(void) { return lib(); }\n");
    scratch.write("b.c", "int b;\n");
    scratch.write("lib.c", "int lib(void) { return 0; }\n");
    scratch.write("never.c", "int never(void) { return 0; }\n");
    let script = "gcc -c lib.c never.c; ar rc libx.a lib.o never.o; \
        gcc -O2 -pipe a.c b.c -L. -lx; echo 'int main(void) { return 7; }' | gcc -x c - -o stdin-prog";
    let project = watch(&scratch, script);
    let found = programs(&project);
    assert_eq!(found["a.out"], ["a.c", "b.c", "lib.c"]);
    assert_eq!(found["stdin-prog"], ["-"]);
    assert!(text(&project, "-").contains("return 7;"));
}

#[test]
fn the_linkers_own_choice_of_members_is_matched() {
    let scratch = Scratch::new();
    for (name, text) in [
        (
            "main.c",
            "int one(void), weak(void) __attribute__((weak)); extern int shared_int;\n\
            int main(void) { return one() + (weak ? 1 : 0) + shared_int; }\n",
        ),
        ("one.c", "int two(void); int one(void) { return two(); }\n"),
        ("two.c", "int back(void); int two(void) { return back(); }\n"),
        ("back.c", "int back(void) { return 1; }\n"),
        ("weak.c", "int weak(void) { return 1; }\n"),
        ("tentative.c", "int shared_int;\n"),
        ("real.c", "int shared_int = 3; int dup(int x) { return x; }\n"),
        ("dup.c", "int one(void) { return 0; }\n"),
        ("wrapped.c", "int __wrap_two(void) { return 2; }\n"),
    ] {
        scratch.write(name, text);
    }
    // The second archive needs the first again: only a group resolves that.
    let script = "gcc -fcommon -c *.c; ar rc l1.a one.o back.o weak.o tentative.o; ar rc l2.a two.o real.o dup.o; \
        ar rc l3.a wrapped.o; \
        gcc -o grouped main.o -Wl,--start-group l1.a l2.a -Wl,--end-group -Wl,-t,-t > grouped.trace; \
        gcc -o wrapped main.o l1.a l2.a l3.a -Wl,--wrap=two -Wl,-t,-t > wrapped.trace; \
        gcc -o whole main.o -Wl,--whole-archive l1.a -Wl,--no-whole-archive l2.a l1.a -Wl,-t,-t > whole.trace";
    let project = watch(&scratch, script);
    let found = programs(&project);
    for name in ["grouped", "wrapped", "whole"] {
        let trace = fs::read_to_string(scratch.path(&format!("{name}.trace"))).expect("traced");
        let mut traced: Vec<String> = trace
            .lines()
            .filter(|line| !line.starts_with('/'))
            .filter_map(|line| {
                let line = line.trim_end_matches(')');
                Some(line.rsplit(['(', ')']).next()?.strip_suffix(".o")?.to_owned() + ".c")
            })
            .collect();
        traced.sort_unstable();
        let mut sources = found[name].clone();
        sources.sort_unstable();
        assert_eq!(sources, traced, "{name}");
    }
}

#[test]
fn libraries_are_programs_where_no_executable_covers_them() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a(void) { return 1; }\n");
    scratch.write("b.c", "int b(void) { return 1; }\n");
    let script = "gcc -c a.c b.c; ar rc liba.a a.o; gcc -fPIC -DPIC -c a.c -o a.lo.o; \
        gcc -fPIC -c b.c -o b.lo.o; gcc -shared -o libab.so a.lo.o b.lo.o; ar rc libb.a b.o";
    let project = watch(&scratch, script);
    assert_eq!(programs(&project), BTreeMap::from([("libab.so", vec!["a.c", "b.c"])]));
    assert_eq!(project.programs[0].kind, ProgramKind::SharedLibrary);

    scratch.write("main.c", "int a(void); int main(void) { return a(); }\n");
    let project = watch(&scratch, "gcc -o main main.c -L. -lab");
    assert_eq!(programs(&project), BTreeMap::from([("main", vec!["main.c", "a.c", "b.c"])]));
}

#[test]
fn objects_alone_are_one_program() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    scratch.write("b.c", "int b;\n");
    let project = watch(&scratch, "gcc -c a.c b.c");
    assert_eq!(paths(&project), ["a.c", "b.c"]);
    assert_eq!(project.programs.len(), 1);
    assert_eq!(project.programs[0].kind, ProgramKind::Objects);
    // The build command may be the compiler itself.
    let direct = Scratch::new();
    direct.write("x.c", "int x;\n");
    let project = try_watch(&direct, &["gcc", "-c", "x.c"]).expect("captured");
    assert_eq!(paths(&project), ["x.c"]);
}

#[test]
fn libtool_builds_are_understood() {
    let scratch = Scratch::copy_of("libtool");
    let project = watch(
        &scratch,
        "autoreconf -i >/dev/null 2>&1 || (libtoolize -q && aclocal && autoconf); \
        ./configure -q && make -j2",
    );
    let found = programs(&project);
    let prog: Vec<_> = found.iter().filter(|(name, _)| name.ends_with("prog")).collect();
    assert_eq!(prog.len(), 1, "{found:?}");
    assert_eq!(*prog[0].1, ["main.c", "lib.c", "part.c"]);
}

#[test]
fn a_renamed_product_is_kept_and_a_removed_one_is_not() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int main(void) { return 1; }\n");
    scratch.write("b.c", "int main(void) { return 2; }\n");
    let script = "gcc -o tmp.out a.c; mv tmp.out final; gcc -c b.c; gcc -o gone b.o; rm gone";
    let project = watch(&scratch, script);
    assert_eq!(paths(&project), ["a.c"]);
    assert_eq!(
        project.notices,
        ["1 compiled file reaches no program or library that was kept and was left out"]
    );
}

#[test]
fn shims_see_what_a_static_build_tool_runs() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int main(void) { return 0; }\n");
    scratch.write("tool.c", "#include <unistd.h>\n#include <sys/wait.h>\nint main(void) {\n  \
        if (fork() == 0) { execlp(\"gcc\", \"gcc\", \"-o\", \"prog\", \"a.c\", (char *)0); _exit(9); }\n  \
        int status; wait(&status); return status != 0;\n}\n");
    run(&scratch.path(""), "gcc -static -o tool tool.c");
    let project = try_watch(&scratch, &["./tool"]).expect("captured");
    assert_eq!(project.build_failed, None);
    assert_eq!(programs(&project), BTreeMap::from([("prog", vec!["a.c"])]));
}

#[test]
fn a_failing_build_keeps_what_it_made() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    let project = try_watch(&scratch, &["sh", "-c", "gcc -c a.c; gcc -c gone.c; exit 3"]);
    let project = project.expect("something was captured");
    assert_eq!(project.build_failed.as_deref(), Some("the build (sh) failed with status 3"));
    assert_eq!(paths(&project), ["a.c"]);
}

#[test]
fn builds_that_cannot_be_used_are_errors() {
    let scratch = Scratch::new();
    let error = try_watch(&scratch, &["no-such-build-tool"]).expect_err("does not exist");
    assert!(matches!(error, CaptureError::BuildNotStarted { .. }), "{error}");
    let error = try_watch(&scratch, &["true"]).expect_err("builds nothing");
    assert!(error.to_string().contains("compiled no C"), "{error}");
    let error = try_watch(&scratch, &["false"]).expect_err("builds nothing");
    assert!(error.to_string().contains("failed with status 1"), "{error}");
    let error = try_watch(&scratch, &[]).expect_err("no command");
    assert!(matches!(error, CaptureError::NoInput));
}

#[test]
fn exit_status_and_signals_of_the_compiler_are_passed_on() {
    let scratch = Scratch::new();
    scratch.write("a.c", "int a;\n");
    scratch.write("bad.c", "int bad(\n");
    scratch.write(
        "dies.c",
        "#include <signal.h>\n#include <stdlib.h>\nint main(void) { raise(SIGTERM); }\n",
    );
    // A program named like a compiler that dies of a signal.
    let script = "gcc -c a.c; set +e; gcc -c bad.c 2>/dev/null; echo $? > status; \
        mkdir bin; /usr/bin/gcc -o bin/gcc dies.c; bin/gcc -c a.c; echo $? > signal; exit 0";
    watch(&scratch, script);
    let read = |name: &str| fs::read_to_string(scratch.path(name)).expect("written");
    assert_eq!(read("status"), "1\n");
    assert_eq!(read("signal"), "143\n");
}

#[test]
fn folders_may_have_any_name() {
    let scratch = Scratch::named("conftest: a b");
    scratch.write("in put.c", "int main(void) { return 0; }\n");
    let project = watch(&scratch, "gcc -o 'out put' 'in put.c'");
    assert_eq!(programs(&project), BTreeMap::from([("out put", vec!["in put.c"])]));
}

#[test]
fn a_name_that_is_not_utf_8_costs_its_unit_alone() {
    let scratch = Scratch::new();
    scratch.write("main.c", "int f(void); int main(void) { return f(); }\n");
    let script = r#"name=$(printf 'caf\351.c'); echo 'int f(void) { return 0; }' >"$name" &&
        gcc -c "$name" -o f.o && gcc -c main.c && gcc -o program main.o f.o"#;
    let project = try_watch(&scratch, &["sh", "-ec", script]).expect("the rest is captured");
    assert_eq!(programs(&project), BTreeMap::from([("program", vec!["main.c"])]));
    assert_eq!(project.failures.len(), 1);
    assert!(project.failures[0].reason.contains("not UTF-8"), "{:?}", project.failures);
}

#[test]
fn an_edit_that_needs_a_vanished_header_says_so() {
    let scratch = Scratch::copy_of("autotools");
    watch(&scratch, "./configure && make");
    let main = fs::read_to_string(scratch.path("src/main.c")).expect("ours");
    scratch.write("src/main.c", &format!("{main}\nint more;\n"));
    let project = scratch.load(&scratch.folder()).expect("the rest loads");
    assert_eq!(project.failures.len(), 1);
    let failure = project.failures[0].to_string();
    assert!(failure.contains("src/main.c") && failure.contains("capture it again"), "{failure}");
}

#[test]
fn link_time_optimisation_takes_archives_whole_and_says_so() {
    let scratch = Scratch::new();
    scratch.write("main.c", "int a(void); int main(void) { return a(); }\n");
    scratch.write("a.c", "int a(void) { return 0; }\n");
    scratch.write("b.c", "int b(void) { return 0; }\n");
    let project = watch(
        &scratch,
        "gcc -flto -c main.c a.c b.c; gcc-ar rc l.a a.o b.o; gcc -flto -o prog main.o l.a",
    );
    assert_eq!(programs(&project), BTreeMap::from([("prog", vec!["main.c", "a.c", "b.c"])]));
    assert!(project.notices.iter().any(|n| n.contains("archives are taken whole")));
}

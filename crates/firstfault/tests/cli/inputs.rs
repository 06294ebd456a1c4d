//! The ways people have C code, each with a real project.

use std::process::Command;

use crate::support::{Run, Sandbox, TWO_UNITS};

/// Names and unit counts of the programs in a JSON report.
fn programs(run: &Run) -> Vec<(String, u64)> {
    let findings = run.json();
    findings.programs.iter().map(|program| (program.name.clone(), program.units)).collect()
}

fn names(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|(name, units)| ((*name).to_owned(), *units)).collect()
}

#[test]
fn files_with_flags() {
    let sandbox = Sandbox::new(&[
        ("include/limit.h", "int limit(void);\n"),
        ("a.c", "#include \"limit.h\"\nint limit(void) { return LIMIT; }\n"),
    ]);
    sandbox.run(&["check", "a.c"]).expect(2);
    let args = ["check", "--format", "json", "a.c", "--", "-Iinclude", "-DLIMIT=3"];
    let run = sandbox.run(&args).expect_analysed();
    assert_eq!(programs(&run), names(&[("a", 1)]));
}

#[test]
fn a_database_with_arguments_or_commands() {
    let sandbox = Sandbox::new(TWO_UNITS);
    let folder = sandbox.path("").display().to_string();
    sandbox.write("build/flags", "-DIN_A_RESPONSE_FILE -I.\n");
    let entries = [
        format!(
            "{{\"directory\": \"{folder}\", \"file\": \"main.c\", \"arguments\": [\"cc\", \"-c\", \"main.c\"]}}"
        ),
        format!(
            "{{\"directory\": \"{folder}build\", \"file\": \"../add.c\", \"command\": \"cc -O2 @flags -c ../add.c -o add.o\"}}"
        ),
    ];
    sandbox.write("build/compile_commands.json", format!("[{}]", entries.join(",")));
    let run = sandbox.run(&["check", "--format", "json", "-p", "build"]).expect_analysed();
    assert_eq!(run.json().programs[0].units, 2);
    let ir = sandbox.run(&["show", "callgraph", "-p", "build"]).expect_analysed();
    assert!(ir.stdout.contains("main"), "{ir:#?}");
}

#[test]
fn a_build_is_watched_and_its_programs_told_apart() {
    let sandbox = Sandbox::with_example("stock");
    let run = sandbox.run(&["check", "--format", "json", "--", "make", "-s"]).expect_analysed();
    assert_eq!(programs(&run), names(&[("merge", 3), ("stock", 4)]));
    assert!(sandbox.path("stock").exists(), "the build did its own work");
}

#[test]
fn a_captured_build_is_analysed_later() {
    let sandbox = Sandbox::with_example("stock");
    let run = sandbox.run(&["capture", "--", "make", "-s", "-j2"]).expect(0);
    assert!(run.stdout.contains("captured 5 units of 2 programs"), "{run:#?}");
    let run = sandbox.run(&["check", "--format", "json"]).expect_analysed();
    assert_eq!(programs(&run), names(&[("merge", 3), ("stock", 4)]));
}

#[test]
fn a_watched_build_makes_the_same_files() {
    let (plain, watched) = (Sandbox::with_example("stock"), Sandbox::with_example("stock"));
    let status = Command::new("make").arg("-s").current_dir(plain.path("")).status().unwrap();
    assert!(status.success());
    watched.run(&["capture", "--", "make", "-s"]).expect(0);
    // Objects hold debug information with the folder's name; the list of files must agree,
    // and so must files without such names.
    let relative = |sandbox: &Sandbox| -> Vec<String> {
        let root = sandbox.path("");
        let files = sandbox.files_below("").into_iter();
        let names = files.map(|f| f.strip_prefix(&root).unwrap().display().to_string());
        names.filter(|name| !name.starts_with("state/")).collect()
    };
    assert_eq!(relative(&plain), relative(&watched));
}

#[test]
fn a_build_that_fails_is_analysed_as_far_as_it_came() {
    let sandbox = Sandbox::with_example("stock");
    sandbox.write("src/merge.c", "int main(void) { return nothing; }\n");
    let run = sandbox.run(&["check", "--format", "json", "--", "make", "-s", "-k"]).expect(3);
    assert!(run.stderr.contains("build"), "{run:#?}");
    assert!(programs(&run).contains(&("stock".to_owned(), 4)), "{run:#?}");
}

/// A hand-written `configure`, as many projects have it: it probes with small programs, and
/// writes a header and a Makefile.
const CONFIGURE: &str = r##"set -e
for header in unistd.h no_such_header.h; do
    name=HAVE_$(echo $header | tr 'a-z.' 'A-Z_')
    printf '#include <%s>\nint main(void) { return 0; }\n' $header > conftest.c
    if cc -c conftest.c -o conftest.o 2>/dev/null; then echo "#define $name 1"; fi
done > config.h
cat > conftest.c <<'END'
int main(void) { return sizeof(long) == 8 ? 0 : 1; }
END
cc conftest.c -o conftest && ./conftest && echo '#define LONG_BYTES 8' >> config.h
rm -f conftest*
printf 'adder: main.o add.o\n\tcc -o adder main.o add.o\n' > Makefile
printf '%s: config.h add.h\n' main.o add.o >> Makefile"##;

#[test]
fn configure_probes_are_not_programs() {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write(
        "add.h",
        "#include \"config.h\"\n#ifndef LONG_BYTES\n#error not configured\n#endif\nint add(int a, int b);\n",
    );
    sandbox.script("configure", CONFIGURE);
    let build = ["check", "--format", "json", "--", "sh", "-c", "./configure && make -s"];
    let run = sandbox.run(&build).expect_analysed();
    assert_eq!(programs(&run), names(&[("adder", 2)]));
}

#[test]
fn cmake_writes_the_database() {
    let sandbox = Sandbox::new(TWO_UNITS);
    sandbox.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(adder C)\n\
         set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\nadd_library(add STATIC add.c)\n\
         add_executable(adder main.c)\ntarget_link_libraries(adder add)\n",
    );
    let mut cmake = Command::new("cmake");
    cmake.args(["-S", ".", "-B", "build"]).current_dir(sandbox.path(""));
    let output = cmake.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let run = sandbox.run(&["check", "--format", "json", "-p", "build"]).expect_analysed();
    assert_eq!(run.json().programs[0].units, 2);
    assert_eq!(run.json().programs[0].functions, 2);
}

#[test]
fn old_c_is_accepted_as_it_is() {
    let sandbox = Sandbox::new(&[(
        "old.c",
        "count;\nadd(a, b)\n    int a, b;\n{\n    count = undeclared(a);\n    return a + b;\n}\n\
         main() { return add(1, 2); }\n",
    )]);
    let run =
        sandbox.run(&["check", "--format", "json", "old.c", "--", "-std=gnu89"]).expect_analysed();
    assert_eq!(run.json().programs[0].functions, 2);
}

#[test]
fn flags_only_gcc_knows_are_dropped_with_one_notice() {
    let sandbox = Sandbox::new(TWO_UNITS);
    let args = ["check", "--format", "json", "main.c", "add.c", "--", "-fconserve-stack", "-Wall"];
    let notices = sandbox.run(&args).expect_analysed().json().notices;
    assert_eq!(notices.len(), 1, "{notices:#?}");
    assert!(notices[0].message.contains("-fconserve-stack"), "{notices:#?}");
}

//! Programs of projects run where they can do no harm.

use crate::support::Sandbox;

/// Unlinks what it is told to as soon as a value is another one, and prints a wrong sum.
const HARMFUL: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int a = atoi(argv[1]), harmless = 1, sum;
  sum = a + 1;
  if (!harmless || a > 90 || sum > 90)
    unlink(getenv("OUTSIDE"));
  FILE *log = fopen(getenv("LOG"), "a");
  fprintf(log, "%d\n", sum);
  fclose(log);
  printf("%d\n", sum);
  return 0;
}
"#;

fn project() -> Sandbox {
    let sandbox = Sandbox::new(&[("a.c", HARMFUL), ("outside", "precious")]);
    let environment = |s: &Sandbox| {
        format!("OUTSIDE={}\nLOG={}\n", s.path("outside").display(), s.path("log").display())
    };
    for (name, argument, output) in [("a", "1", "2\n"), ("b", "5", "7\n"), ("c", "95", "96\n")] {
        sandbox.write(&format!("tests/{name}.args"), argument);
        sandbox.write(&format!("tests/{name}.out"), output);
        sandbox.write(&format!("tests/{name}.env"), environment(&sandbox));
    }
    sandbox
}

#[test]
fn what_replaced_values_make_a_program_do_stays_inside() {
    let sandbox = project();
    for flags in [&[][..], &["--fork"]] {
        let arguments = [&["locate", "a.c", "--tests", "tests"], flags].concat();
        let run = sandbox.run(&arguments).expect(1);
        assert!(run.stdout.contains("a.c:"), "{run:#?}");
        assert_eq!(std::fs::read(sandbox.path("outside")).unwrap(), b"precious");
        assert!(!sandbox.path("log").exists());
    }
    // It would have.
    let run = sandbox.run(&["locate", "a.c", "--tests", "tests", "--no-sandbox"]);
    assert!(!sandbox.path("outside").exists() && sandbox.path("log").exists(), "{run:#?}");
}

#[test]
fn crash_has_the_sandbox_too() {
    let sandbox = Sandbox::new(&[("outside", "precious")]);
    let text = "#include <unistd.h>\n#include <stdlib.h>\nint main(void) {\n\
                unlink(getenv(\"OUTSIDE\"));\n  int *p = 0;\n  return *p;\n}\n";
    sandbox.write("a.c", text);
    let outside = format!("OUTSIDE={}", sandbox.path("outside").display());
    sandbox.run(&["crash", "a.c", "--env", &outside]).expect(1);
    assert_eq!(std::fs::read(sandbox.path("outside")).unwrap(), b"precious");
    let folder = format!("write={}", sandbox.path("").display());
    sandbox.run(&["crash", "a.c", "--env", &outside, "--allow", &folder]).expect(1);
    assert!(!sandbox.path("outside").exists(), "it was allowed");
}

#[test]
fn what_tests_declare_needs_to_be_allowed() {
    let sandbox = project();
    let needy = "[[test]]\nname = \"n\"\nargs = [\"1\"]\noutput = \"2\\n\"\nnetwork = true\n";
    sandbox.write("tests.toml", needy);
    let run = sandbox.run(&["locate", "a.c", "--tests", "tests.toml"]);
    assert!(run.stderr.contains("--allow network"), "{run:#?}");
    let run = sandbox.run(&["locate", "a.c", "--tests", "tests.toml", "--allow", "declared"]);
    assert!(!run.stderr.contains("--allow network"), "{run:#?}");
}

#[test]
fn linkers_and_what_they_write_are_not_taken_from_flags() {
    let sandbox = project();
    sandbox.write("ld.evil", "#!/bin/sh\ntouch stolen\n");
    sandbox.write("words", "-o stolen");
    let run = sandbox
        .run(&[
            "locate",
            "a.c",
            "--tests",
            "tests",
            "--",
            "-lm",
            "-fuse-ld=./ld.evil",
            "-B.",
            "-specs=words",
            "-Wl,-Map=stolen",
            "-Xlinker",
            "-o",
            "-Xlinker",
            "stolen",
            "@words",
            "-Wl,-plugin,./x.so",
            "-T",
            "words",
        ])
        .expect(1);
    assert!(!sandbox.path("stolen").exists());
    assert!(run.stderr.contains("flags left out"), "{run:#?}");
    assert!(run.stderr.contains("-Wl,-Map=stolen") && run.stderr.contains("@words"), "{run:#?}");
}

#[test]
fn leaks_and_calls_through_null_are_reproduced() {
    let sandbox = Sandbox::new(&[(
        "a.c",
        "#include <stdlib.h>\n#include <string.h>\nint twice(int n) { return 2 * n; }\n\
         int call(int (*f)(int), int n) {\n  return f(n);\n}\n\
         int main(int argc, char **argv) {\n  char *text = malloc(10);\n\
         if (text == NULL) return 1;\n  strcpy(text, \"x\");\n  text = NULL;\n\
         return call(argc > 1 ? twice : NULL, 3);\n}\n",
    )]);
    let run = sandbox.run(&["check", "--replay", "--format", "json", "a.c"]).expect(1);
    let reproduced = |rule: &str| {
        let is = |fault: &findings::Fault| {
            fault.rule == rule && fault.level == findings::Level::Reproduced
        };
        run.json().faults.iter().any(is)
    };
    assert!(reproduced("null-dereference"), "{run:#?}");
}

//! What `diagnose` says and returns where it finds nothing.

use crate::support::Sandbox;

#[test]
fn what_is_not_modelled_makes_a_diagnosis_incomplete() {
    let sandbox = Sandbox::new(&[("more.c", "int is_more(double x) { return x > 1.0; }\n")]);
    let run = sandbox.run(&["diagnose", "more.c"]).expect(3);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("not analysed: more.c: a run came to what is not modelled"), "{run:#?}");
    let run = sandbox.run(&["diagnose", "--format", "json", "more.c"]).expect(3);
    let incomplete = run.json().incomplete;
    assert_eq!(incomplete.len(), 1, "{run:#?}");
    assert!(incomplete[0].reason.contains("not modelled"), "{run:#?}");
}

#[test]
fn a_program_whose_paths_were_all_run_is_complete() {
    let sandbox = Sandbox::new(&[("fine.c", "int main(void) { return 0; }\n")]);
    let run = sandbox.run(&["diagnose", "fine.c"]).expect(0);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("no property is violated on the only path within the bounds"),
        "{run:#?}"
    );
}

/// A number that comes from a floating-point one, a run without end, and a loop of more turns
/// than runs.
#[test]
fn a_search_that_is_not_complete_says_so() {
    let rounded = "#include <stdlib.h>\nint main(int argc, char **argv) {\n  double x;\n  \
                   if (argc < 2) return 1;\n  x = atoi(argv[1]) / 4.0;\n  \
                   return x > 2.0 ? 1 : 0;\n}\n";
    let endless = "int main(void) { int i = 0; for (;;) i ^= 1; return i; }\n";
    let sandbox = Sandbox::new(&[("rounded.c", rounded), ("endless.c", endless)]);
    for name in ["rounded.c", "endless.c"] {
        let run = sandbox.run(&["diagnose", name]).expect(3);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("no violated property was found"), "{run:#?}");
        assert!(said.contains("the search is not complete"), "{run:#?}");
    }
}

const OFF_BY_ONE: &str = "int a[3];\r\nint main(void)\r\n{\r\n\tint i;\r\n\tfor (i = 0; i <= 3; \
                          i++)\r\n\t\ta[i] = 1;\r\n\treturn 0;\r\n}";

#[test]
fn the_first_diff_applies_to_tabs_and_carriage_returns() {
    let sandbox = Sandbox::new(&[("off.c", OFF_BY_ONE)]);
    let run = sandbox.run(&["diagnose", "--top", "1", "off.c"]).expect(1);
    let start = run.stdout.find("--- a/").expect("there is a diff");
    let end = run.stdout.find("\nfound ").expect("there is a summary");
    std::fs::write(sandbox.path("off.patch"), &run.stdout[start..end]).expect("it is written");
    let patched = std::process::Command::new("patch")
        .args(["-p1", "--binary", "-s", "-i", "off.patch"])
        .current_dir(sandbox.path(""))
        .status();
    assert!(patched.expect("patch starts").success(), "{}", run.stdout);
    let right = OFF_BY_ONE.replace("<=", "<");
    assert_eq!(std::fs::read_to_string(sandbox.path("off.c")).expect("it is read"), right);
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    let library = "[operators]\n\"+\" = { \"@\" = 50 }\n";
    let broken = "[weights]\nnegation =\n";
    let files = [("off.c", OFF_BY_ONE), ("own.toml", library), ("broken.toml", broken)];
    let sandbox = Sandbox::new(&files);
    let said = |arguments: &[&str]| {
        let run = sandbox.run(&[&["diagnose", "off.c"], arguments].concat()).expect(2);
        assert!(!run.stderr.contains('\u{fffd}'), "{run:#?}");
        run.stderr
    };
    assert!(said(&["--line", "999"]).contains("no such line in off.c"));
    assert!(said(&["--line", "other.c:3"]).contains("other.c is no file of this program"));
    assert!(said(&["--annotations", "own.toml"]).contains("\"@\""));
    assert!(said(&["--annotations", "broken.toml"]).contains("line 2"));
    let run = sandbox.run(&["diagnose", "--line", "off.c:6", "off.c"]).expect(1);
    assert!(run.stdout.contains("off.c:6:"), "{run:#?}");
    let fine = Sandbox::new(&[("fine.c", "int main(void) { return 0; }\n")]);
    let run = fine.run(&["diagnose", "--fault", "F1", "fine.c"]).expect(2);
    assert!(run.stderr.contains("it finds none at all"), "{run:#?}");
}

#[test]
fn the_input_and_the_timings_are_written() {
    let sandbox = Sandbox::new(&[("off.c", OFF_BY_ONE)]);
    let arguments = ["diagnose", "--format", "json", "--timings", "times.json", "off.c"];
    let run = sandbox.run(&arguments).expect(1);
    let input = run.json().faults[0].input.clone().expect("the input is told");
    assert_eq!(input.command, "./program");
    let times = std::fs::read_to_string(sandbox.path("times.json")).expect("it is written");
    assert!(times.contains("\"diagnose\""), "{times}");
}

#[test]
fn a_fault_in_a_header_is_said_to_stay() {
    let header = "static int sum(const int *a, int n)\n{\n  int s = 0;\n  for (int i = 0; i <= n; \
                  i++)\n    s += a[i];\n  return s;\n}\n";
    let main = "#include \"sum.h\"\nint main(void)\n{\n  int v[3] = { 1, 2, 3 };\n  return \
                sum(v, 3);\n}\n";
    let sandbox = Sandbox::new(&[("sum.h", header), ("main.c", main)]);
    let run = sandbox.run(&["diagnose", "main.c"]).expect(1);
    assert!(run.stdout.contains("goes through sum.h; it is included, and not changed"), "{run:#?}");
}

//! What `diagnose` says and returns, and which options it refuses.

use crate::correlate::COPIES;
use crate::support::Sandbox;

#[test]
fn what_is_not_modelled_makes_a_diagnosis_incomplete() {
    let sandbox = Sandbox::new(&[("more.c", "int is_more(double x) { return x > 1.0; }\n")]);
    let run = sandbox.run(&["diagnose", "more.c"]).expect(3);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("not analysed: other paths of more.c: a run came to what is not modelled"),
        "{run:#?}"
    );
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
    let input = run.json().faults[0].witness.clone().expect("the input is told");
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

#[test]
fn a_macro_of_a_header_is_said_to_stay() {
    let header = "#define LENGTH 3\n#define IN_RANGE(i) ((i) >= 0 && (i) <= LENGTH)\n";
    let main = "#include \"range.h\"\nint a[LENGTH];\nint main(int argc, char **argv)\n{\n  if \
                (IN_RANGE(argc))\n    a[argc] = 1;\n  return 0;\n}\n";
    let sandbox = Sandbox::new(&[("range.h", header), ("main.c", main)]);
    let run = sandbox.run(&["diagnose", "main.c"]).expect(1);
    let said = "the macro IN_RANGE of range.h; it is included, and not changed";
    assert!(run.stdout.contains(said), "{run:#?}");
}

#[test]
fn options_without_an_effect_are_refused() {
    let sandbox = Sandbox::new(&[("off.c", OFF_BY_ONE), ("own.toml", ""), ("tests.toml", "")]);
    let said = |arguments: &[&str]| {
        sandbox.run(&[&["diagnose", "off.c"], arguments].concat()).expect(2).stderr
    };
    assert!(said(&["--max-changes", "1"]).contains("--config or --maxsat"));
    let library = said(&["--config", "trusted", "--annotations", "own.toml"]);
    assert!(library.contains("only with --maxsat"), "{library}");
    assert!(said(&["--config", "trusted", "--tests", "tests.toml"]).contains("--tests"));
    let run = sandbox.run(&["diagnose", "."]).expect(2);
    assert!(run.stderr.contains("is a folder; name the C files of one program"), "{run:#?}");
}

#[test]
fn a_limit_of_changes_holds_in_the_basic_configuration() {
    let sandbox = Sandbox::new(&[("off.c", OFF_BY_ONE)]);
    let arguments = ["diagnose", "--config", "basic", "--max-changes", "1", "--top", "50"];
    let run = sandbox.run(&[&arguments[..], &["--format", "json", "off.c"]].concat()).expect(1);
    let repairs = run.json().repairs;
    assert!(!repairs.is_empty() && repairs.iter().all(|r| r.changes.len() == 1), "{repairs:?}");
}

#[test]
fn what_the_library_would_change_is_listed_line_by_line() {
    let sandbox = Sandbox::new(&[("off.c", OFF_BY_ONE)]);
    let run = sandbox.run(&["diagnose", "--list", "--top", "3", "off.c"]).expect(0);
    let listed: Vec<&str> = run.stdout.lines().filter(|l| l.contains("note: repair")).collect();
    assert_eq!(listed.len(), 3, "{run:#?}");
    assert!(listed[0].contains("`<` instead of `<=`"), "{run:#?}");
    assert!(!run.stdout.contains("@@"), "{run:#?}");
    let all = sandbox.run(&["diagnose", "--list", "off.c"]).expect(0);
    assert!(all.stdout.lines().count() > run.stdout.lines().count(), "{all:#?}");
}

/// Two faults of `check`, of which the second is asked for.
const TWO_FAULTS: &str = "\
#include <stdlib.h>
static int a[2];
static int first(int i) {
  return a[i + 2];
}
static int second(int *p) {
  return *p;
}
int main(int argc, char **argv) {
  if (argc > 5)
    return first(1);
  if (argc > 3)
    return second(NULL);
  return 0;
}
";

#[test]
fn a_fault_of_check_keeps_its_name_and_its_rule() {
    let sandbox = Sandbox::new(&[("two.c", TWO_FAULTS)]);
    let checked = sandbox.run(&["check", "--format", "json", "two.c"]).expect(1).json().faults;
    let null = checked.iter().find(|fault| fault.rule == "null-dereference");
    let null = null.expect("check finds it");
    let run = sandbox.run(&["diagnose", "--fault", &null.id, "--format", "json", "two.c"]);
    let findings = run.expect(1).json();
    let fault = &findings.faults[0];
    assert_eq!((&fault.id, &fault.rule), (&null.id, &null.rule));
    assert_eq!(fault.cwe, null.cwe);
    assert!(findings.repairs.iter().all(|r| r.fault.as_ref() == Some(&null.id)));
    let place = format!("two.c:{}", null.place.line);
    let run = sandbox.run(&["diagnose", "--fault", &place, "--format", "json", "two.c"]);
    assert_eq!(run.expect(1).json().faults[0].rule, null.rule);
    let run = sandbox.run(&["diagnose", "--fault", "F9", "two.c"]).expect(2);
    assert!(run.stderr.contains(&format!("{} (two.c:", null.id)), "{run:#?}");
}

#[test]
fn faults_that_are_diagnosed_together_are_named() {
    let sandbox = Sandbox::new(COPIES);
    let run = sandbox.run(&["diagnose", "--fault", "F1", "copies.c"]).expect(1);
    assert!(run.stdout.contains("F1, F2, F3 are one group and diagnosed together"), "{run:#?}");
    assert!(!run.stdout.contains("knows no violation"), "{run:#?}");
}

#[test]
fn what_is_kept_is_not_changed() {
    let fill = "\
void fill(int *to, int n) {
  int i;
  for (i = 0; i <= n; i++)
    to[i] = 0;
}
";
    let main = "\
void fill(int *, int);
int main(void) {
  int all[4];
  fill(all, 4);
  return all[0];
}
";
    let sandbox = Sandbox::new(&[("fill.c", fill), ("main.c", main)]);
    let places = |run: &[&str]| -> Vec<String> {
        let repairs = sandbox.run(run).expect(1).json().repairs;
        repairs.iter().map(|repair| repair.changes[0].place.file.clone()).collect()
    };
    let all = ["diagnose", "--format", "json", "--top", "50", "main.c", "fill.c"];
    assert!(places(&all).iter().any(|file| file == "fill.c"));
    let kept = [&all[..], &["--keep", "fill.c"]].concat();
    assert!(places(&kept).iter().all(|file| file == "main.c"));
    let run = sandbox.run(&["diagnose", "--keep", "other.c", "main.c", "fill.c"]).expect(2);
    assert!(run.stderr.contains("none of the files"), "{run:#?}");
}

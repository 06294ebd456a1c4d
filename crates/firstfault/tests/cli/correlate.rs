//! Which fault causes which: the graph in every format, and reports of other tools.

use crate::support::Sandbox;

pub const COPIES: &[(&str, &str)] = &[(
    "copies.c",
    "#include <stdlib.h>
#include <string.h>
int main(void) {
  char a[16], b[16];
  const char *input = getenv(\"INPUT\");
  if (!input)
    return 1;
  strcpy(a, input);
  strcpy(b, a);
  return 0;
}
",
)];

#[test]
fn effects_are_told_under_what_causes_them() {
    let sandbox = Sandbox::new(COPIES);
    let brief = sandbox.run(&["check", "--brief", "copies.c"]).expect(1).stdout;
    let lines: Vec<&str> = brief.lines().collect();
    assert!(lines[0].starts_with("copies.c:8:3: error: "), "{brief}");
    assert_eq!(lines[1], "  fix this first: it causes 2 more faults");
    let caused = lines.iter().filter(|line| line.starts_with("copies.c:9:3: note: causes: "));
    assert_eq!(caused.count(), 2, "{brief}");
    assert_eq!(lines.last(), Some(&"found 3 errors"), "{brief}");
}

#[test]
fn the_graph_has_a_format_for_everybody() {
    let sandbox = Sandbox::new(COPIES);
    let outline = sandbox.run(&["check", "--graph", "copies.c"]).expect(1).stdout;
    let lines: Vec<&str> = outline.lines().map(str::trim).collect();
    assert_eq!(lines[..2], ["G1: 3 faults; fix first: F1", "F1 copies.c:8:3 buffer-overflow"]);
    assert!(lines[2].starts_with("both happen with: env INPUT="), "{outline}");
    assert_eq!(lines[3], "-> F2 copies.c:9:3 buffer-overflow (proved)", "{outline}");
    assert_eq!(lines[4], "-> F3 copies.c:9:3 buffer-overread", "{outline}");
    let dot = sandbox.run(&["check", "--format", "dot", "copies.c"]).expect(1).stdout;
    assert!(dot.starts_with("digraph faults {"), "{dot}");
    assert!(dot.contains("F1 -> F2") && dot.contains("F1 -> F3"), "{dot}");
    let svg = sandbox.run(&["check", "--format", "svg", "copies.c"]).expect(1).stdout;
    assert!(svg.contains("<svg") && svg.contains("F3 buffer-overread"), "{svg}");
    let json = sandbox.run(&["check", "--format", "json", "copies.c"]).expect(1).json();
    assert_eq!(json.groups[0].roots, ["F1"]);
    assert_eq!(json.groups[0].removes, [["F2", "F3"]]);
}

fn sarif(results: &str) -> String {
    format!(
        r#"{{"runs": [{{"tool": {{"driver": {{"name": "other"}}}}, "results": [{results}]}}]}}"#
    )
}

fn result(file: &str, line: u32) -> String {
    format!(
        r#"{{"ruleId": "ArrayBound", "message": {{"text": "said so"}}, "locations": [
            {{"physicalLocation": {{"artifactLocation": {{"uri": "{file}"}},
              "region": {{"startLine": {line}}}}}}}]}}"#
    )
}

#[test]
fn a_report_of_another_tool_is_correlated_alone_and_the_rest_is_said() {
    let sandbox = Sandbox::new(COPIES);
    let results = [result("file:///far/away/copies.c", 8), result("../outside.c", 3)].join(",");
    sandbox.write("other.sarif", sarif(&results));
    let args = ["correlate", "--import", "other.sarif", "--alone", "copies.c"];
    let run = sandbox.run(&args).expect(1);
    assert!(
        run.stdout.contains("copies.c:8:3: warning: said so (other) [buffer-overflow]"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("fix this first: it causes 2 more faults"), "{run:#?}");
    assert!(run.stdout.contains("../outside.c:3: note: not correlated"), "{run:#?}");
}

#[test]
fn what_is_no_report_is_said_and_the_rest_is_used() {
    let sandbox = Sandbox::new(COPIES);
    let whole = sarif(&result("copies.c", 8));
    sandbox.write("cut.sarif", &whole[..whole.len() / 2]);
    sandbox.write("list.sarif", "[]");
    sandbox.write("empty.sarif", sarif(""));
    sandbox.write("whole.sarif", &whole);
    for (name, said) in [
        ("cut.sarif", "cannot use cut.sarif: it is not JSON"),
        ("list.sarif", "cannot use list.sarif: it is JSON but not SARIF"),
        ("none.sarif", "cannot read none.sarif"),
    ] {
        let run = sandbox.run(&["correlate", "--import", name, "copies.c"]).expect(2);
        assert!(run.first_error().contains(said), "{run:#?}");
        let args = ["correlate", "--import", name, "--import", "whole.sarif", "copies.c"];
        let run = sandbox.run(&args).expect(1);
        assert!(run.stderr.contains(said), "{run:#?}");
    }
    let run = sandbox.run(&["correlate", "--import", "empty.sarif", "copies.c"]).expect(1);
    assert!(run.stderr.contains("empty.sarif has no results"), "{run:#?}");
    let args = ["correlate", "--import", "empty.sarif", "--alone", "copies.c"];
    assert!(sandbox.run(&args).expect(2).stderr.contains("nothing to correlate"));
}

/// One fault of each kind a tool may report, by line.
const KINDS: &str = "\
#include <stdlib.h>
#include <string.h>
int table[8];
int kinds(int n, char *in) {
  char *p = malloc(10);
  int unset;
  if (!p) return 1;
  if (n == 1) { free(p); p[1] = 2; }
  if (n == 2) { free(p); free(p); }
  if (n == 3) return 10 / (n - 3);
  if (n == 4) return unset + 1;
  if (n == 5) { int *q = 0; return *q; }
  if (n == 7) return table[n + 1];
  return 0;
}
";

/// Results as `(rule, message, line)`, in the shape a tool writes them.
fn report(tool: &str, uri: &str, results: &[(&str, &str, u32)]) -> String {
    let results: Vec<serde_json::Value> = results
        .iter()
        .map(|(rule, message, line)| {
            serde_json::json!({
                "ruleId": rule, "level": "warning", "message": {"text": message},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": uri, "uriBaseId": "PWD"},
                    "region": {"startLine": line, "startColumn": 3}}}]})
        })
        .collect();
    serde_json::json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
        "runs": [{"tool": {"driver": {"name": tool, "rules": []}},
            "originalUriBaseIds": {"PWD": {"uri": "file:///somewhere/else/"}},
            "results": results}]})
    .to_string()
}

#[test]
fn rules_of_gcc_cppcheck_and_infer_are_known_by_name() {
    let sandbox = Sandbox::new(&[("kinds.c", KINDS)]);
    let placed: [(&str, [&str; 6]); 3] = [
        (
            "GNU C17",
            [
                "-Wanalyzer-use-after-free",
                "-Wanalyzer-double-free",
                "-Wdiv-by-zero",
                "-Wanalyzer-use-of-uninitialized-value",
                "-Wanalyzer-null-dereference",
                "-Wanalyzer-out-of-bounds",
            ],
        ),
        (
            "Cppcheck",
            [
                "deallocuse",
                "doubleFree",
                "zerodiv",
                "uninitvar",
                "nullPointer",
                "arrayIndexOutOfBounds",
            ],
        ),
        (
            "Infer",
            [
                "USE_AFTER_FREE",
                "USE_AFTER_FREE",
                "DIVIDE_BY_ZERO",
                "PULSE_UNINITIALIZED_VALUE",
                "NULLPTR_DEREFERENCE",
                "BUFFER_OVERRUN_L1",
            ],
        ),
    ];
    for (tool, rules) in placed {
        let lines = [8, 9, 10, 11, 12, 13];
        let mut results: Vec<(&str, &str, u32)> =
            rules.iter().zip(lines).map(|(rule, line)| (*rule, "said so", line)).collect();
        results.push(("unusedVariable", "style only", 6));
        sandbox.write("other.sarif", report(tool, "kinds.c", &results));
        let run = sandbox.run(&["correlate", "--import", "other.sarif", "--alone", "kinds.c"]);
        let run = run.expect(1);
        for line in lines {
            let reported = format!("kinds.c:{line}:");
            let is_placed = |text: &str| text.starts_with(&reported) && !text.contains("not corr");
            assert!(run.stdout.lines().any(is_placed), "{tool} line {line}: {run:#?}");
        }
        assert!(run.stdout.contains("no rule of firstfault is about this"), "{run:#?}");
    }
}

#[test]
fn what_clangs_analyzer_really_writes_is_placed() {
    let sandbox = Sandbox::new(&[("kinds.c", KINDS)]);
    let analysed = std::process::Command::new("clang-19")
        .args(["--analyze", "--analyzer-output", "sarif", "-o", "clang.sarif", "kinds.c"])
        .current_dir(sandbox.path("."))
        .output()
        .expect("clang runs");
    assert!(analysed.status.success(), "{analysed:?}");
    let run = sandbox.run(&["correlate", "--import", "clang.sarif", "--alone", "kinds.c"]);
    let run = run.expect(1);
    for (line, rule) in [
        (8, "use-after-free"),
        (9, "double-free"),
        (10, "divide-by-zero"),
        (11, "uninitialized-read"),
        (12, "null-dereference"),
    ] {
        let start = format!("kinds.c:{line}:");
        let end = format!("(clang) [{rule}]");
        let is_placed = |text: &str| text.starts_with(&start) && text.ends_with(&end);
        assert!(run.stdout.lines().any(is_placed), "line {line}: {run:#?}");
    }
}

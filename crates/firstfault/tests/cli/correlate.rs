//! Which fault causes which: the graph in every format, and reports of other tools.

use crate::support::Sandbox;

const COPIES: &[(&str, &str)] = &[(
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
    assert!(lines[2].starts_with("copies.c:9:3: note: causes: "), "{brief}");
    assert_eq!(lines[4], "found 3 errors");
}

#[test]
fn the_graph_has_a_format_for_everybody() {
    let sandbox = Sandbox::new(COPIES);
    let outline = sandbox.run(&["check", "--graph", "copies.c"]).expect(1).stdout;
    assert_eq!(
        outline,
        "G1: 3 faults; fix first: F1
  F1 copies.c:8:3 buffer-overflow
    -> F2 copies.c:9:3 buffer-overflow
    -> F3 copies.c:9:3 buffer-overread
"
    );
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

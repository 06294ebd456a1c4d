//! `show` in its views and two formats.

use crate::support::{Sandbox, TWO_UNITS};

const VIEWS: [&str; 4] = ["ir", "cfg", "callgraph", "icfg"];

#[test]
fn every_view_names_the_functions() {
    let sandbox = Sandbox::new(TWO_UNITS);
    for view in VIEWS {
        let run = sandbox.run(&["show", view, "main.c", "add.c"]).expect(0);
        assert!(run.stdout.contains("main") && run.stdout.contains("add"), "{view}: {run:#?}");
    }
}

#[test]
fn dot_is_something_graphviz_would_read() {
    let sandbox = Sandbox::new(TWO_UNITS);
    for view in VIEWS {
        let run = sandbox.run(&["show", view, "--format", "dot", "main.c", "add.c"]).expect(0);
        assert!(run.stdout.starts_with("digraph"), "{view}: {run:#?}");
        let opened = run.stdout.matches('{').count();
        assert_eq!(opened, run.stdout.matches('}').count(), "{view}: {run:#?}");
    }
}

#[test]
fn one_function_is_shown_alone() {
    let sandbox = Sandbox::new(TWO_UNITS);
    let run = sandbox.run(&["show", "ir", "-f", "add", "main.c", "add.c"]).expect(0);
    assert!(run.stdout.contains("add"), "{run:#?}");
    assert!(!run.stdout.contains("sum"), "{run:#?}");
}

#[test]
fn an_unknown_function_or_program_is_an_error_with_a_suggestion() {
    let sandbox = Sandbox::new(TWO_UNITS);
    let run = sandbox.run(&["show", "ir", "-f", "ad", "main.c", "add.c"]).expect(2);
    assert!(run.first_error().contains("no function is named ad"), "{run:#?}");
    assert!(run.first_error().contains("add"), "{run:#?}");
    let run = sandbox.run(&["show", "ir", "--program", "x", "main.c", "add.c"]).expect(2);
    assert!(run.first_error().contains("main"), "{run:#?}");
}

#[test]
fn what_facts_settle_is_told_beside_what_stays_open() {
    let text = "static int table[4];\n\
                int at(int i) {\n\
                  table[0] = 1;\n\
                  return table[i];\n\
                }\n\
                int main(int argc, char **argv) { (void)argv; return at(argc); }\n";
    let sandbox = Sandbox::new(&[("a.c", text)]);
    let run = sandbox.run(&["show", "settled", "a.c"]).expect(0);
    let answers = |place: &str, rule: &str| -> Vec<&str> {
        let lines = run.stdout.lines().filter(|line| line.starts_with(place));
        lines.filter_map(|line| line.split_once(&format!(": {rule}: "))).map(|(_, a)| a).collect()
    };
    assert_eq!(answers("a.c:3:", "buffer-overflow"), ["safe"], "{run:#?}");
    assert_eq!(answers("a.c:4:", "buffer-overread"), ["open"], "{run:#?}");
    let run = sandbox.run(&["show", "settled", "--format", "dot", "a.c"]).expect(2);
    assert!(run.first_error().contains("no graph"), "{run:#?}");
}

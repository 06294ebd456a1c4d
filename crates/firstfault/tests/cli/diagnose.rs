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
    assert!(said.contains("no property is violated on any of 1 paths"), "{run:#?}");
}

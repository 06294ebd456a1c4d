//! The text report as a whole, line by line.

use findings::{
    Change, DontKnow, Fault, FaultOrigin, Findings, Incomplete, Notice, Place, Program, Segment,
    Severity, Step, Suggestion, Verdict,
};

use crate::sources::Sources;
use crate::{Format, Options, render};

fn place(line: u32, column: u32) -> Place {
    Place { file: "a.c".to_owned(), line, column, function: "f".to_owned() }
}

fn example() -> Findings {
    let step = |line, note: &str, impact, depth| Step {
        place: place(line, 3),
        note: note.to_owned(),
        impact,
        depth,
    };
    let fault = Fault {
        id: "F1".to_owned(),
        rule: "use-after-free".to_owned(),
        cwe: vec![416],
        severity: Severity::Error,
        verdict: Verdict::Unsafe,
        place: place(3, 4),
        message: "p is used after free\u{1b}[2J".to_owned(),
        input_dependent: false,
        level: findings::Level::Likely,
        witness: None,
        origin: FaultOrigin::Detection,
        segments: vec![Segment {
            steps: vec![
                step(2, "calls release", false, 0),
                step(1, "p is freed", true, 1),
                step(3, "p is read", false, 0),
            ],
        }],
        n_paths: None,
        error_state: String::new(),
        fingerprint: String::new(),
        group: None,
    };
    Findings {
        faults: vec![fault],
        programs: vec![Program { name: "tool".to_owned(), units: 2, functions: 1, calls: 9 }],
        incomplete: vec![Incomplete {
            what: "b.c".to_owned(),
            reason: "does not compile".to_owned(),
            details: Vec::new(),
        }],
        notices: vec![Notice { place: place(1, 0), message: "inline assembler".to_owned() }],
        dont_knows: vec![DontKnow {
            place: place(1, 1),
            rule: "leak".to_owned(),
            reason: "unknown callee".to_owned(),
            at: place(2, 3),
            resolve: String::new(),
        }],
        ..Findings::new()
    }
}

fn rendered(options: Options) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "  free(p);\n  release(p);\n\tx = p->x;\n").unwrap();
    render(&example(), Format::Text, &mut Sources::new(folder.path()), &[], options)
}

#[test]
fn a_fault_is_a_line_a_snippet_and_numbered_steps() {
    assert_eq!(
        rendered(Options::default()),
        "\
a.c:3:4: error: p is used after free\u{fffd}[2J [use-after-free]
     3 |  x = p->x;
       |    ^
a.c:2:3: note: 1. calls release
a.c:1:3: note:   2. p is freed
     1 |   free(p);
       |   ^
a.c:3:3: note: 3. p is read

analysed tool: 2 units, 1 function, 9 calls
a.c:1: note: inline assembler
not analysed: b.c: does not compile
found 1 error
1 question stayed undecided; --dont-knows lists them
"
    );
}

#[test]
fn long_loops_are_told_by_their_first_and_last_iterations() {
    let mut findings = example();
    let turn = findings.faults[0].segments[0].steps[0].clone();
    let turns = (0..7).flat_map(|n| {
        let note = |what: &str| format!("{what} {n}");
        let second = Step { place: place(3, 3), note: note("counts"), ..turn.clone() };
        [Step { note: note("tests"), ..turn.clone() }, second]
    });
    findings.faults[0].segments[0].steps = turns.collect();
    let folder = tempfile::tempdir().unwrap();
    let mut sources = Sources::new(folder.path());
    let text = render(&findings, Format::Text, &mut sources, &[], Options::default());
    let told =
        "note: 4. counts 1\n  ... 3 more iterations of lines 2-3\na.c:2:3: note: 11. tests 5\n";
    assert!(text.contains(told), "{text}");
    let json = render(&findings, Format::Json, &mut sources, &[], Options::default());
    assert!(json.contains("tests 3"), "{json}");
}

#[test]
fn long_paths_and_commands_are_cut_and_say_so() {
    let mut findings = example();
    let step = findings.faults[0].segments[0].steps[0].clone();
    let steps = (1..=60).map(|n| Step {
        place: place(n, 3),
        note: format!("step {n};"),
        impact: false,
        ..step.clone()
    });
    findings.faults[0].segments[0].steps = steps.collect();
    let command = format!("printf '{}' | ./program", "a".repeat(400));
    findings.faults[0].witness = Some(findings::RunInput { command, ..Default::default() });
    let folder = tempfile::tempdir().unwrap();
    let mut sources = Sources::new(folder.path());
    let text = render(&findings, Format::Text, &mut sources, &[], Options::default());
    assert!(text.contains("step 6;\n  ... 36 steps are left out here"), "{text}");
    assert!(text.contains("step 43;") && text.contains("step 60;"), "{text}");
    assert!(!text.contains("step 7;") && !text.contains("step 42;"), "{text}");
    let told = text.lines().find(|line| line.contains("happens with")).unwrap();
    assert!(told.contains("(and 221 more characters"), "{told}");
    assert!(told.contains("`firstfault replay"), "{told}");
    let json = render(&findings, Format::Json, &mut sources, &[], Options::default());
    assert!(json.contains("step 20;") && json.contains(&"a".repeat(400)), "{json}");
}

#[test]
fn brief_is_one_line_per_fault() {
    assert_eq!(
        rendered(Options { brief: true, dont_knows: true, ..Options::default() }),
        "\
a.c:3:4: error: p is used after free\u{fffd}[2J [use-after-free]
a.c:1:1: note: undecided: unknown callee [leak]
a.c:2:3: note: the analysis stopped here
not analysed: b.c: does not compile
found 1 error
"
    );
}

#[test]
fn colours_come_only_when_asked_for() {
    assert!(!rendered(Options::default()).contains('\u{1b}'));
    assert!(rendered(Options { colour: true, ..Options::default() }).contains("\u{1b}[1m"));
}

#[test]
fn silence_says_whether_anybody_looked() {
    let last_line = |findings: &Findings| {
        let text = render(findings, Format::Text, &mut Sources::new("."), &[], Options::default());
        text.lines().last().map(str::to_owned).unwrap_or_default()
    };
    let mut findings = Findings::new();
    assert!(last_line(&findings).starts_with("no faults were looked for"));
    findings.rules.push("leak".to_owned());
    assert_eq!(last_line(&findings), "nothing found");
}

#[test]
fn an_edit_is_shown_once_for_all_suggestions_that_mean_it() {
    let suggestion = |rank, description: &str, because: &str| Suggestion {
        rank,
        place: None,
        description: description.to_owned(),
        confidence: 1.0,
        n_fixes: 1,
        because: vec![because.to_owned()],
        changes: vec![Change { place: place(1, 1), old: "one".to_owned(), new: "1".to_owned() }],
        verified: vec!["passes all 2 tests".to_owned()],
    };
    let suggestions = vec![
        suggestion(1, "off by one", "VAR"),
        suggestion(1, "constant mutation", "VAR"),
        suggestion(2, "compute a smaller value", "CONST"),
    ];
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "one\n").unwrap();
    let findings = Findings { suggestions, ..Findings::new() };
    let mut sources = Sources::new(folder.path());
    let text = render(&findings, Format::Text, &mut sources, &[], Options::default());
    let expected = "\
a.c:1:1: note: suggestion 1 (100 %): off by one [suggestion]
a.c:1:1: note: suggestion 1 (100 %): constant mutation [suggestion]
  VAR
  passes all 2 tests
--- a/a.c
+++ b/a.c
@@ -1,1 +1,1 @@
-one
+1

a.c:1:1: note: suggestion 2 (100 %): compute a smaller value [suggestion]
  CONST
  passes all 2 tests
  by the edit shown above

found 3 suggestions
";
    assert_eq!(text, expected);
}

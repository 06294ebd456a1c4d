//! Generated programs of real idioms: what the tool proves happens natively, and no run of it
//! fails. `cargo xtask bench differential` does the same for hours, and counts what is missed.

use std::path::Path;
use std::time::Duration;

use differential::{Case, Contradiction, Effort, Tool};
use fixture::idioms::{self, Spec};

/// Programs and inputs that take about a minute of processor time with a debug build.
const SEEDS: std::ops::Range<u64> = 1000..1006;
const EFFORT: Effort = Effort { n_rounds: 1, n_inputs: 60 };

/// Far more than an engine needs for one of these programs, without optimisation.
const CPU: Duration = Duration::from_secs(300);

/// Defects that are known today: seed, kind, rule and line. Once one is gone, its row goes, too.
const KNOWN: [(u64, &str, &str, u32); 0] = [];

#[test]
fn what_is_proved_happens_and_no_run_fails() {
    let tool = Tool::new(Path::new(env!("CARGO_BIN_EXE_firstfault")), CPU).unwrap();
    let idioms = idioms::all();
    let (mut n_confirmed, mut n_found, mut known) = (0, 0, Vec::new());
    for seed in SEEDS {
        let spec = Spec::new(&idioms, seed);
        let case = Case::new(&idioms, &spec);
        let inputs = differential::inputs(&idioms, &spec, seed, EFFORT);
        let examined = differential::examine(&tool, &case, &inputs).unwrap();
        assert!(examined.broken.is_empty(), "seed {seed}: {:#?}", examined.broken);
        for defect in examined.contradictions.iter().filter(|c| c.kind.is_defect()) {
            let row = (seed, defect.kind.name(), defect.rule.as_str(), defect.line);
            let row = KNOWN.iter().find(|known| **known == row).copied().unwrap_or_else(|| {
                panic!("{row:?}: {}\n{}", told(defect), case.text());
            });
            known.push(row);
        }
        n_confirmed += examined.proved[0];
        n_found += examined.seeded.iter().filter(|s| s.is_shown && s.is_found()).count();
    }
    assert_eq!(known, KNOWN, "a known defect is gone");
    // Without this, a tool that never says anything would pass.
    assert!(n_confirmed > 0, "nothing was proved and confirmed");
    assert!(n_found > 0, "nothing that was seeded was found");
}

fn told(defect: &Contradiction) -> String {
    let witness = defect.witness.as_ref().map(|witness| witness.command.as_str());
    format!("{}; witness: {}", defect.told, witness.unwrap_or("none"))
}

/// The comparison notices: a tool that proves what does not happen, and one that crashes.
#[test]
fn a_tool_that_is_wrong_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, report: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        let body = format!(
            "#!/bin/sh\ncase \"$*\" in\n*--help*) echo --engine; exit 0 ;;\n\
             *explore*) {report} ;;\nesac\nexit 0\n"
        );
        std::fs::write(&path, body).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Tool::new(&path, Duration::from_secs(20)).unwrap()
    };
    let fault = r#"{"schema": "firstfault/1", "rules": [], "programs": [], "incomplete": [],
        "faults": [{"id": "F1", "rule": "leak", "cwe": [], "severity": "error",
        "verdict": "unsafe", "file": "program.c", "line": 14, "column": 1, "function": "f",
        "message": "m", "level": "proved", "input_dependent": false,
        "witness": {"command": "./program", "arguments": []}, "origin": "detection",
        "segments": [], "fingerprint": ""}], "dont_knows": [], "contracts": [], "stats": {}}"#;
    let liar = script("liar", &format!("cat > report.json <<'END'\n{fault}\nEND\nexit 1"));
    let crasher = script("crasher", "kill -SEGV $$");
    let garbler = script("garbler", "echo nonsense > report.json; exit 1");
    let idioms = idioms::all();
    let spec = Spec::of(&idioms, 0, None, 1);
    let case = Case::new(&idioms, &spec);
    let defects = |tool: &Tool| {
        let examined = differential::examine(tool, &case, &[]).unwrap();
        let defects = examined.contradictions.iter().filter(|c| c.kind.is_defect());
        defects.map(|c| (c.kind.name(), c.line)).collect::<Vec<_>>()
    };
    assert_eq!(defects(&liar), [("unshown", 14)]);
    assert_eq!(defects(&crasher), [("failed", 0)]);
    assert_eq!(defects(&garbler), [("failed", 0)]);

    // The reproducer is smaller, and the line it is about is still there.
    let spec = Spec::new(&idioms, 1);
    let case = Case::new(&idioms, &spec);
    let examined = differential::examine(&liar, &case, &[]).unwrap();
    let defect = &examined.contradictions[0];
    let shrunk = differential::shrink(&liar, &idioms, &spec, defect, 6).unwrap();
    assert_eq!(shrunk.n_asked, 6);
    assert!(shrunk.case.lines.len() < case.lines.len() / 2, "{}", shrunk.case.text());
    assert_eq!(shrunk.case.lines[13].text, case.lines[13].text);
    let written =
        differential::write(folder.path(), "x", &liar, &shrunk.case, &shrunk.contradiction)
            .unwrap();
    assert_eq!(std::fs::read_to_string(written.join("program.c")).unwrap(), shrunk.case.text());
    let readme = std::fs::read_to_string(written.join("README")).unwrap();
    assert!(readme.starts_with("unshown: leak at line 14"), "{readme}");
}

//! The built-in faults and models: correct, documented, and with fixtures that compile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use spec::discover::{self, FAULTS, MODELS};
use spec::parser::parse;
use spec::print::print;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn built_in_specifications_have_no_mistakes() {
    let loaded = discover::builtin();
    let messages: String = loaded.iter().map(|loaded| loaded.render()).collect();
    assert!(messages.is_empty(), "{messages}");
    let rules = discover::rules(&[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rules.faults.len(), FAULTS.len());
    assert!(MODELS.len() >= 8, "models are missing");
}

#[test]
fn printing_and_parsing_again_changes_nothing() {
    for loaded in discover::builtin() {
        let printed = print(&loaded.spec);
        let (again, diagnostics) = parse(&printed);
        assert_eq!(diagnostics, Vec::new(), "{}\n{printed}", loaded.path);
        assert_eq!(print(&again), printed, "{}", loaded.path);
    }
}

#[test]
fn every_rule_of_the_contract_is_there_with_its_documentation() {
    let ids: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.id).collect();
    let expected = [
        "buffer-overflow",
        "buffer-underflow",
        "buffer-overread",
        "integer-overflow",
        "integer-truncation",
        "integer-signedness",
        "divide-by-zero",
        "null-dereference",
        "use-after-free",
        "double-free",
        "invalid-free",
        "leak",
        "uninitialized-read",
        "infinite-loop",
        "write-after-close",
        "lock-pairing",
    ];
    for id in expected {
        assert!(ids.contains(id), "{id} is missing");
    }
    for fault in FAULTS {
        let (spec, _) = parse(fault.text);
        assert_eq!(spec.id, fault.id, "the folder has the name of the rule");
        assert!(!spec.cwe.is_empty(), "{} has no CWE", fault.id);
        for heading in
            ["## What it finds", "## Why it is a fault", "## Example", "## Fix", "## Known limits"]
        {
            assert!(fault.doc.contains(heading), "{}: {heading} is missing", fault.id);
        }
    }
}

fn fixtures(id: &str) -> Vec<PathBuf> {
    let dir = repository().join("faults").join(id).join("fixtures");
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn fixtures_parse_and_expect_both_outcomes() {
    use fixture::Expectation;
    for fault in FAULTS {
        let (mut n_faults, mut n_oks) = (0, 0);
        for path in fixtures(fault.id) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.lines().count() <= 40, "{} is too long", path.display());
            let source = fixture::Source { path: path.clone(), text };
            let parsed = fixture::parse(&path, vec![source]).unwrap_or_else(|e| panic!("{e}"));
            for annotation in &parsed.annotations {
                match &annotation.expectation {
                    Expectation::Fault { rule, .. } if rule == fault.id => n_faults += 1,
                    // What a rule should find and the engine misses today counts, too.
                    Expectation::Missed { rule, .. } if rule == fault.id => n_faults += 1,
                    Expectation::Ok { rule } if rule == fault.id => n_oks += 1,
                    _ => {}
                }
            }
        }
        assert!(n_faults >= 2 && n_oks >= 2, "{}: {n_faults} faults, {n_oks} oks", fault.id);
    }
}

#[test]
fn fixtures_and_examples_compile() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut files = Vec::new();
    for fault in FAULTS {
        files.extend(fixtures(fault.id));
        for (index, example) in fault.doc.split("```c\n").skip(1).enumerate() {
            let path = scratch.join(format!("{}-{index}.c", fault.id));
            std::fs::write(&path, example.split("```").next().unwrap_or("")).unwrap();
            files.push(path);
        }
    }
    let output = Command::new("clang-19")
        .args(["-fsyntax-only", "-std=gnu11", "-w"])
        .args(&files)
        .output()
        .expect("clang-19 is installed by scripts/setup");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

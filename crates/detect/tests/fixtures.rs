//! Runs the fixtures of every built-in fault: annotated C, matched both ways.

mod compiled;

use std::path::{Path, PathBuf};

use findings::Findings;
use fixture::{Fixture, RunError};

/// Compiles a fixture's files and checks the program they make, with the fixture's flags.
fn analyse(fixture: &Fixture, rules: &spec::rules::Rules) -> Result<Findings, RunError> {
    let fail = |what: String| RunError::Analysis { path: fixture.path.clone(), what };
    let mut units = Vec::new();
    for source in
        fixture.sources.iter().filter(|source| source.path.extension().is_some_and(|e| e == "c"))
    {
        units.push(compiled::unit(&source.path).map_err(fail)?);
    }
    let program = program::link::link(units).program;
    let mut settings = detect::Settings::default();
    let mut flags = fixture.flags.iter();
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "--strict" => settings.strict = true,
            "--entry" => {
                let entry = flags.next().map(|entry| entry.parse()).transpose();
                settings.entries.extend(entry.map_err(fail)?);
            }
            "--rule" => settings.rules.extend(flags.next().cloned()),
            other => return Err(fail(format!("this test does not know the flag {other}"))),
        }
    }
    let mut findings = Findings::new();
    let facts = settings.facts(&program);
    detect::check((&program, &facts), rules, &settings, &mut findings);
    findings.finish();
    Ok(findings)
}

#[test]
fn every_fixture_of_every_fault_matches() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../faults");
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("the repository has faults/")
        .map(|entry| entry.expect("faults/ can be read").path().join("fixtures"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    let complaints: Vec<String> = folders
        .iter()
        .filter_map(|folder| fixture::check_all(folder, |f| analyse(f, &rules)).err())
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

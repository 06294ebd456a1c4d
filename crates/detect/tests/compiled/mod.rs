//! C files as units of a program, and fixtures checked, for the tests of this crate.

use std::path::Path;
use std::process::Command;

use capture::provenance;
use findings::Findings;
use fixture::{Fixture, RunError};
use spec::rules::Rules;

/// Compiles and imports one file.
pub fn unit(path: &Path) -> Result<program::Program, String> {
    let output = Command::new("clang-19")
        .args(["-E", "-dD"])
        .arg(path)
        .output()
        .map_err(|error| error.to_string())?;
    let unit = provenance::prepare(&output.stdout, provenance::Extent::Needed, &mut |path| {
        std::fs::read(path).ok()
    });
    let (limits, flags): (_, [&str; 0]) = (base::child::Limits::default(), []);
    let bitcode = llvm::compile(&unit.text, &flags, &unit.map, &limits, &base::Cancel::new())
        .map_err(|error| error.to_string())?;
    llvm::import(&bitcode, &unit.map, &path.to_string_lossy()).map_err(|error| error.to_string())
}

/// Compiles a fixture's files and checks the program they make, with the fixture's flags.
#[allow(dead_code, reason = "not every test runs fixtures")]
pub fn analyse(fixture: &Fixture, rules: &Rules) -> Result<Findings, RunError> {
    let fail = |what: String| RunError::Analysis { path: fixture.path.clone(), what };
    let mut units = Vec::new();
    for source in
        fixture.sources.iter().filter(|source| source.path.extension().is_some_and(|e| e == "c"))
    {
        units.push(unit(&source.path).map_err(fail)?);
    }
    let program = program::link::link(units).program;
    let mut settings = detect::Settings::default();
    let mut flags = fixture.flags.iter();
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "--strict" => settings.strict = true,
            // The rules are made with or without it.
            "--assume-alloc-succeeds" => {}
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

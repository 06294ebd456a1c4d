//! Findings of every kind, about a small project.

use std::path::{Path, PathBuf};

use findings::{Findings, Severity};
use report::rules::Rule;
use report::sources::Sources;
use report::{Format, Options};

/// One finding of every kind at least, with every field.
pub fn everything() -> Findings {
    serde_json::from_str(include_str!("everything.json")).expect("the example is in the contract")
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it")
}

/// The project the findings are about.
pub fn sources() -> Sources {
    Sources::new(folder().join("project"))
}

pub fn rules() -> Vec<Rule> {
    vec![Rule {
        id: "use-after-free".to_owned(),
        title: "memory is used after it was freed".to_owned(),
        severity: Severity::Error,
        cwe: vec![416],
        doc: "# use-after-free\n\n## What it finds\nA read or write of memory\nthat was \
              released before.\n\n## Fix\nUse it before.\n"
            .to_owned(),
    }]
}

pub fn render(findings: &Findings, format: Format) -> String {
    report::render(findings, format, &mut sources(), &rules(), Options::default())
}

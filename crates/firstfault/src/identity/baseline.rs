//! Baselines: findings a project knows of and does not want to hear about again.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use findings::Findings;
use report::output::Target;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "firstfault-baseline/1";

/// The file: one entry a line, so that version control shows what came and went.
#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    #[serde(default)]
    known: Vec<Entry>,
    /// A whole report will do, too.
    #[serde(default, skip_serializing)]
    faults: Vec<Entry>,
    #[serde(default, skip_serializing)]
    deviations: Vec<Entry>,
}

#[derive(Clone, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    file: String,
    #[serde(default)]
    function: String,
    #[serde(default, alias = "template")]
    rule: String,
    message: String,
    fingerprint: String,
}

/// The names of findings in a baseline or a JSON report.
pub fn read(path: &Path) -> Result<BTreeSet<String>> {
    let about = || format!("cannot use the baseline {}", path.display());
    let text = std::fs::read_to_string(path).with_context(about)?;
    let file: File = serde_json::from_str(&text).with_context(about)?;
    if file.schema != SCHEMA && file.schema != findings::SCHEMA {
        bail!("{}: it is neither a baseline nor a report of firstfault", about());
    }
    let all = file.known.into_iter().chain(file.faults).chain(file.deviations);
    Ok(all.map(|entry| entry.fingerprint).filter(|name| !name.is_empty()).collect())
}

/// Writes a baseline of everything that was found.
pub fn save(findings: &Findings, path: &Path) -> Result<()> {
    let faults = findings.faults.iter().map(|fault| Entry {
        file: fault.place.file.clone(),
        function: fault.place.function.clone(),
        rule: fault.rule.clone(),
        message: fault.message.clone(),
        fingerprint: fault.fingerprint.clone(),
    });
    let deviations = findings.deviations.iter().map(|deviation| Entry {
        file: deviation.place.file.clone(),
        function: deviation.place.function.clone(),
        rule: deviation.template.clone(),
        message: deviation.message.clone(),
        fingerprint: deviation.fingerprint.clone(),
    });
    let mut known: Vec<Entry> = faults.chain(deviations).collect();
    known.sort();
    let (faults, deviations) = (Vec::new(), Vec::new());
    let file = File { schema: SCHEMA.to_owned(), known, faults, deviations };
    let json = serde_json::to_string_pretty(&file)? + "\n";
    Ok(Target::File(path.to_owned()).write(json.as_bytes())?)
}

/// Leaves out what is known, and counts it under a name.
pub fn leave_out(findings: &mut Findings, known: &BTreeSet<String>, count_as: &str) {
    let before = findings.faults.len() + findings.deviations.len();
    findings.retain_faults(|fault| !known.contains(&fault.fingerprint));
    findings.retain_deviations(|deviation| !known.contains(&deviation.fingerprint));
    let n_known = before - findings.faults.len() - findings.deviations.len();
    findings.count(count_as, n_known as u64);
}

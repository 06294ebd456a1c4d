//! The same finding in two versions of a program: names that last, comments that silence,
//! baselines, and what changed since a commit.

pub mod base_commit;
pub mod baseline;
pub mod changes;
mod git;
pub mod ignore;
mod outline;

use findings::{Findings, Fingerprints};
use report::sources::Sources;

/// Gives every fault a name that survives edits elsewhere in its file. Imported faults have
/// one of their own if their tool gave them one.
pub fn name(findings: &mut Findings, sources: &mut Sources) {
    let mut names = Fingerprints::new();
    // Findings are in source order.
    for fault in &mut findings.faults {
        let place = &fault.place;
        let line = sources.raw_line(&place.file, place.line);
        let text = line.map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default();
        let name = names.of(&fault.rule, &place.file, &place.function, &text);
        if fault.fingerprint.is_empty() {
            fault.fingerprint = name;
        }
    }
}

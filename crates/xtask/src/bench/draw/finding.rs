//! What a tool reports, in one form for all tools, and the choice of what is judged.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use crate::bench::juliet::hash;
use crate::bench::subject::Report;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub file: String,
    pub line: u32,
    pub rule: String,
    pub message: String,
    /// Empty where the tool has no levels.
    pub level: String,
    pub function: String,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    pub file: String,
    pub line: u32,
    pub note: String,
}

/// Places shown that follow the rule a deviation breaks.
const N_EXAMPLES: usize = 3;

/// Places that follow the rules of a report's deviations.
#[derive(Deserialize)]
struct Followed {
    #[serde(default)]
    deviations: Vec<Examples>,
}

#[derive(Deserialize)]
struct Examples {
    #[serde(default)]
    examples: Vec<Example>,
}

#[derive(Deserialize)]
struct Example {
    file: String,
    line: u32,
    #[serde(default)]
    note: String,
}

impl Example {
    fn step(self) -> Step {
        let note = format!("follows the rule: {}", self.note);
        Step { file: self.file, line: self.line, note: note.trim_end_matches(": ").to_owned() }
    }
}

/// Rules of clang about code without effect. They claim no fault, so they neither count as reports
/// nor are they judged.
const USELESS_CODE: &str = "deadcode.";

/// Reads a report, faults or deviations; each finding once, in the order of the report.
pub fn read(path: &Path) -> Result<Vec<Finding>> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let report: Report = serde_json::from_slice(&text)
        .with_context(|| format!("{} is no report", path.display()))?;
    let faults = report.faults.into_iter().map(|fault| Finding {
        steps: fault
            .segments
            .into_iter()
            .flat_map(|segment| segment.steps)
            .map(|step| Step { file: step.file, line: step.line, note: step.note })
            .collect(),
        file: fault.file,
        line: fault.line,
        rule: fault.rule,
        message: fault.message,
        level: fault.level,
        function: fault.function,
    });
    let followed: Followed = serde_json::from_slice(&text)
        .with_context(|| format!("{} is no report", path.display()))?;
    let deviations = report.deviations.into_iter().zip(followed.deviations);
    let deviations = deviations.map(|(deviation, followed)| Finding {
        steps: followed
            .examples
            .into_iter()
            .filter(|example| (&example.file, example.line) != (&deviation.file, deviation.line))
            .take(N_EXAMPLES)
            .map(Example::step)
            .collect(),
        file: deviation.file,
        line: deviation.line,
        rule: deviation.template,
        message: deviation.message,
        ..Finding::default()
    });
    let mut seen = BTreeSet::new();
    let is_new =
        |f: &Finding| seen.insert((f.file.clone(), f.line, f.rule.clone(), f.message.clone()));
    let is_fault = |f: &Finding| !f.rule.starts_with(USELESS_CODE);
    Ok(faults.chain(deviations).filter(is_fault).filter(is_new).collect())
}

/// The findings of a peer as a report of the same form.
pub fn report(tool: &str, findings: &[Finding]) -> serde_json::Value {
    let faults: Vec<serde_json::Value> = findings
        .iter()
        .map(|finding| {
            let steps: Vec<serde_json::Value> = finding
                .steps
                .iter()
                .map(|step| json!({"file": step.file, "line": step.line, "note": step.note}))
                .collect();
            json!({
                "rule": finding.rule, "file": finding.file, "line": finding.line,
                "function": finding.function, "message": finding.message,
                "segments": [{"steps": steps}],
            })
        })
        .collect();
    json!({"tool": tool, "faults": faults})
}

/// As many findings as wanted, by the seed. Asking for more only adds to the end.
pub fn choose(findings: &[Finding], package: &str, seed: u64, n: usize) -> Vec<Finding> {
    let key = |f: &Finding| {
        hash(seed, &format!("{package} {} {} {} {}", f.file, f.line, f.rule, f.message))
    };
    let mut chosen: Vec<&Finding> = findings.iter().collect();
    chosen.sort_by_key(|finding| (key(finding), *finding));
    chosen.into_iter().take(n).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(line: u32) -> Finding {
        let step = Step { file: "a.c".to_owned(), line: 1, note: "here".to_owned() };
        Finding {
            file: "a.c".to_owned(),
            line,
            rule: "leak".to_owned(),
            message: "p is lost".to_owned(),
            level: String::new(),
            function: "f".to_owned(),
            steps: vec![step],
        }
    }

    #[test]
    fn reports_are_written_and_read_in_one_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        let mut findings = vec![made(3), made(1), made(3), made(4)];
        findings[3].rule = "deadcode.DeadStores".to_owned();
        std::fs::write(&path, report("gcc", &findings).to_string()).unwrap();
        assert_eq!(read(&path).unwrap(), [made(3), made(1)]);
        let deviation = json!({"deviations": [{"rank": 1, "template": "can-fail", "file": "a.c",
            "line": 4, "message": "others test it", 
            "examples": [{"file": "a.c", "line": 4}, {"file": "b.c", "line": 2}]}]});
        std::fs::write(&path, deviation.to_string()).unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found[0].rule, "can-fail");
        let followed = Step { file: "b.c".into(), line: 2, note: "follows the rule".into() };
        assert_eq!(found[0].steps, [followed]);
        std::fs::write(&path, "{\"faults\": 3}").unwrap();
        assert!(read(&path).unwrap_err().to_string().ends_with("is no report"));
    }

    #[test]
    fn more_findings_add_to_the_same_choice() {
        let findings: Vec<Finding> = (0..40).map(made).collect();
        let few = choose(&findings, "p", 1, 5);
        let more = choose(&findings, "p", 1, 9);
        assert_eq!(few, more[..5]);
        assert_eq!(more.len(), 9);
        assert_ne!(few, choose(&findings, "p", 2, 5));
        assert_ne!(few, findings[..5]);
        assert_eq!(choose(&findings[..3], "p", 1, 5).len(), 3);
    }
}

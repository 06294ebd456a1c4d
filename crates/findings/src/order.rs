//! The one order in which findings are printed, and the ids that follow from it.

use std::collections::BTreeMap;

use crate::{Fault, Findings};

impl Findings {
    /// Sorts every section, drops duplicates where two programs share a unit, and names
    /// faults and groups anew in printing order, references included.
    pub fn finish(&mut self) {
        self.rules.sort();
        self.rules.dedup();
        self.programs.sort();
        self.incomplete.sort();
        self.incomplete.dedup();
        self.notices.sort();
        self.notices.dedup();
        self.contracts.sort();
        self.contracts.dedup();
        self.dont_knows.sort();
        self.dont_knows.dedup();
        self.sort_faults();
        self.sort_groups();
        self.correlations.sort_by(|a, b| {
            let key = |c: &crate::Correlation| (number(&c.from), number(&c.to), c.via);
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        self.deviations.sort_by(|a, b| {
            (a.rank, &a.template, &a.place, &a.message).cmp(&(
                b.rank,
                &b.template,
                &b.place,
                &b.message,
            ))
        });
        self.repairs.sort_by(|a, b| (a.rank, &a.changes).cmp(&(b.rank, &b.changes)));
        self.statements.sort_by(|a, b| (a.rank, &a.place).cmp(&(b.rank, &b.place)));
        // Tied ones stay in the order of how much speaks for them.
        self.suggestions.sort_by_key(|suggestion| suggestion.rank);
    }

    fn sort_faults(&mut self) {
        self.faults.sort_by(|a, b| fault_key(a).cmp(&fault_key(b)));
        let mut renamed = BTreeMap::new();
        let mut kept: Vec<Fault> = Vec::with_capacity(self.faults.len());
        for mut fault in std::mem::take(&mut self.faults) {
            // Programs that share a unit have its faults in common: one report is enough.
            let is_known = kept.last().is_some_and(|last| is_same(last, &fault));
            let id = format!("F{}", kept.len() + usize::from(!is_known));
            renamed.insert(std::mem::replace(&mut fault.id, id.clone()), id);
            if !is_known {
                kept.push(fault);
            }
        }
        self.faults = kept;
        let rename = |id: &mut String| {
            if let Some(new) = renamed.get(id) {
                id.clone_from(new);
            }
        };
        for correlation in &mut self.correlations {
            rename(&mut correlation.from);
            rename(&mut correlation.to);
        }
        for group in &mut self.groups {
            group.faults.iter_mut().for_each(rename);
            group.faults.sort_by_key(|id| number(id));
            group.faults.dedup();
            group.roots.iter_mut().for_each(rename);
            for removed in &mut group.removes {
                removed.iter_mut().for_each(rename);
                removed.sort_by_key(|id| number(id));
                removed.dedup();
            }
        }
        self.repairs.iter_mut().filter_map(|r| r.fault.as_mut()).for_each(rename);
    }

    fn sort_groups(&mut self) {
        self.groups.sort_by_key(|g| g.faults.first().map_or(u64::MAX, |id| number(id)));
        let mut renamed = BTreeMap::new();
        for (index, group) in self.groups.iter_mut().enumerate() {
            let id = format!("G{}", index + 1);
            renamed.insert(std::mem::replace(&mut group.id, id.clone()), id);
        }
        for group in self.faults.iter_mut().filter_map(|f| f.group.as_mut()) {
            if let Some(new) = renamed.get(group) {
                group.clone_from(new);
            }
        }
    }
}

fn fault_key(fault: &Fault) -> impl Ord + '_ {
    (&fault.place, &fault.rule, fault.severity, &fault.message, &fault.fingerprint, &fault.id)
}

fn is_same(a: &Fault, b: &Fault) -> bool {
    (&a.place, &a.rule, &a.message, a.origin) == (&b.place, &b.rule, &b.message, b.origin)
}

/// The number in `F12`, so that F2 comes before F10.
fn number(id: &str) -> u64 {
    id.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::{Correlation, Fault, FaultOrigin, Findings, Group, Place, Severity, Verdict, Via};

    fn fault(id: &str, line: u32) -> Fault {
        Fault {
            id: id.to_owned(),
            rule: "leak".to_owned(),
            cwe: vec![401],
            severity: Severity::Error,
            verdict: Verdict::Unsafe,
            place: Place { file: "a.c".to_owned(), line, ..Place::default() },
            message: "lost".to_owned(),
            input_dependent: false,
            level: crate::Level::Likely,
            witness: None,
            origin: FaultOrigin::Detection,
            segments: Vec::new(),
            n_paths: None,
            error_state: String::new(),
            fingerprint: String::new(),
            group: Some("x".to_owned()),
        }
    }

    #[test]
    fn ids_follow_the_source_and_references_follow_the_ids() {
        let mut findings = Findings {
            faults: vec![fault("late", 9), fault("early", 2)],
            correlations: vec![Correlation {
                from: "early".to_owned(),
                to: "late".to_owned(),
                unique: true,
                via: Via::Direct,
                level: crate::Level::Likely,
                witness: None,
                path: Vec::new(),
            }],
            groups: vec![Group {
                id: "x".to_owned(),
                faults: vec!["late".to_owned(), "early".to_owned()],
                roots: vec!["early".to_owned()],
                removes: vec![vec!["late".to_owned()]],
            }],
            ..Findings::new()
        };
        findings.finish();
        assert_eq!(findings.faults[0].place.line, 2);
        assert_eq!(findings.faults[0].id, "F1");
        assert_eq!(findings.correlations[0].from, "F1");
        assert_eq!(findings.correlations[0].to, "F2");
        assert_eq!(findings.groups[0].faults, ["F1", "F2"]);
        assert_eq!(findings.groups[0].roots, ["F1"]);
        assert_eq!(findings.groups[0].removes, [["F2"]]);
        assert_eq!(findings.faults[1].group.as_deref(), Some("G1"));
        let again = findings.clone();
        findings.finish();
        assert_eq!(findings, again);
    }

    #[test]
    fn a_fault_that_two_programs_share_is_reported_once() {
        let mut findings = Findings {
            faults: vec![fault("a", 2), fault("b", 2), fault("c", 9)],
            groups: vec![Group {
                id: "x".to_owned(),
                faults: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
                roots: vec!["b".to_owned()],
                removes: vec![vec!["c".to_owned()]],
            }],
            ..Findings::new()
        };
        findings.finish();
        assert_eq!(findings.faults.len(), 2);
        assert_eq!(findings.groups[0].faults, ["F1", "F2"]);
        assert_eq!(findings.groups[0].roots, ["F1"]);
    }

    #[test]
    fn the_contract_reads_back_what_it_wrote() {
        let findings = Findings { faults: vec![fault("F1", 3)], ..Findings::new() };
        let json = serde_json::to_value(&findings).unwrap();
        assert_eq!(json["schema"], "firstfault/1");
        assert_eq!(json["faults"][0]["file"], "a.c");
        assert_eq!(json["faults"][0]["verdict"], "unsafe");
        assert_eq!(serde_json::from_value::<Findings>(json).unwrap(), findings);
    }
}

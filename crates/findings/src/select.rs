//! Leaving findings out, so that nothing refers to what is gone.

use std::collections::BTreeSet;

use crate::{Deviation, Fault, Findings};

impl Findings {
    /// Keeps the faults the predicate wants, and what is said about them. Call
    /// [`finish`](Self::finish) afterwards.
    pub fn retain_faults(&mut self, mut wants: impl FnMut(&Fault) -> bool) {
        self.faults.retain(|fault| wants(fault));
        let kept: BTreeSet<&String> = self.faults.iter().map(|fault| &fault.id).collect();
        let is_kept = |id: &String| kept.contains(id);
        self.correlations.retain(|edge| is_kept(&edge.from) && is_kept(&edge.to));
        self.repairs.retain(|repair| repair.fault.as_ref().is_none_or(is_kept));
        for group in &mut self.groups {
            group.faults.retain(is_kept);
            let roots = std::mem::take(&mut group.roots);
            let removes = std::mem::take(&mut group.removes);
            let mut removes = removes.into_iter();
            for root in roots {
                let mut removed = removes.next().unwrap_or_default();
                if is_kept(&root) {
                    removed.retain(is_kept);
                    group.roots.push(root);
                    group.removes.push(removed);
                }
            }
        }
        // One fault is no group, nor are several whose cause is known already.
        self.groups.retain(|group| group.faults.len() > 1 && !group.roots.is_empty());
        let groups: BTreeSet<&String> =
            self.groups.iter().flat_map(|group| &group.faults).collect();
        for fault in &mut self.faults {
            if !groups.contains(&fault.id) {
                fault.group = None;
            }
        }
    }

    /// Keeps the deviations the predicate wants.
    pub fn retain_deviations(&mut self, wants: impl FnMut(&Deviation) -> bool) {
        self.deviations.retain(wants);
    }
}

#[cfg(test)]
mod tests {
    use crate::Findings;

    #[test]
    fn what_is_left_out_leaves_no_trace() {
        let fault = |id: &str, line: u32| {
            serde_json::json!({"id": id, "rule": "leak", "severity": "error", "verdict": "unsafe",
                "file": "a.c", "line": line, "message": id, "origin": "detection", "group": "G1"})
        };
        let edge = |from: &str, to: &str| serde_json::json!({"from": from, "to": to, "unique": true, "via": "direct"});
        let all: Findings = serde_json::from_value(serde_json::json!({
            "schema": "firstfault/1",
            "faults": [fault("F1", 1), fault("F2", 2), fault("F3", 3)],
            "correlations": [edge("F1", "F2"), edge("F1", "F3")],
            "groups": [{"id": "G1", "faults": ["F1", "F2", "F3"], "roots": ["F1"],
                        "removes": [["F2", "F3"]]}],
            "repairs": [{"rank": 1, "fault": "F2", "changes": []}],
        }))
        .unwrap();
        let mut some = all.clone();
        some.retain_faults(|fault| fault.id != "F2");
        some.finish();
        assert_eq!(some.faults.len(), 2);
        assert_eq!(some.correlations.len(), 1);
        assert_eq!(some.correlations[0].to, "F2");
        assert_eq!(some.groups[0].removes, [["F2"]]);
        assert!(some.repairs.is_empty());
        let mut without_root = all;
        without_root.retain_faults(|fault| fault.id != "F1");
        without_root.finish();
        assert!(without_root.groups.is_empty() && without_root.correlations.is_empty());
        assert!(without_root.faults.iter().all(|fault| fault.group.is_none()));
    }
}

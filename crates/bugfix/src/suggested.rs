//! The ordered list of suggestions for a situation.

use crate::best_rules::{BestRules, best_rules_without};
use crate::{Database, Ranked, Situation, Thresholds, prioritise};

/// Which rules may be suggested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    pub thresholds: Thresholds,
    /// Where fewer rules are as sure as that, less sure ones follow until there are so many.
    pub at_least: usize,
}

/// Suggestions, the best first, and whether a better one may have been missed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggested {
    pub list: Vec<Ranked>,
    pub is_cut: bool,
}

pub fn suggested(database: &Database, situation: &Situation, wanted: Wanted) -> Suggested {
    suggested_without(database, situation, wanted, |_| false)
}

/// The same, as if some scenarios had not been learned.
pub(crate) fn suggested_without(
    database: &Database,
    situation: &Situation,
    wanted: Wanted,
    is_left_out: impl Fn(usize) -> bool,
) -> Suggested {
    // Of each fix the surest rule counts, whatever is asked for: what is sure enough stands first.
    let any = Thresholds { confidence: 0.0, ..wanted.thresholds };
    let BestRules { rules, is_cut } = best_rules_without(database, situation, any, is_left_out);
    let mut list = prioritise(rules, situation);
    let is_sure =
        |ranked: &Ranked| wanted.thresholds.admit(ranked.rule.n_both, ranked.rule.n_situations);
    let n_sure = list.partition_point(is_sure);
    list.truncate(n_sure.max(wanted.at_least));
    Suggested { list, is_cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn scenario(situation: &[&str], fix: &str) -> Scenario {
        Scenario {
            origin: String::new(),
            situation: situation.iter().map(|d| (*d).to_owned()).collect(),
            fixes: [fix.to_owned()].into(),
        }
    }

    #[test]
    fn less_sure_rules_only_make_up_the_number() {
        let scenarios =
            [("x", 1), ("y", 3), ("z", 1)].map(|(fix, n)| vec![scenario(&["A"], fix); n]).concat();
        let sure = [scenario(&["A", "B"], "sure")];
        let database: Database = scenarios.iter().chain(&sure).collect();
        let situation: Situation = ["A", "B"].map(str::to_owned).into();
        let fixes = |at_least| -> Vec<String> {
            let thresholds = Thresholds { support: 1, confidence: 0.8 };
            let wanted = Wanted { thresholds, at_least };
            let found = suggested(&database, &situation, wanted).list;
            found.into_iter().map(|ranked| ranked.rule.fix).collect()
        };
        assert_eq!(fixes(0), ["sure"]);
        assert_eq!(fixes(2), ["sure", "y"]);
        assert_eq!(fixes(9).len(), 4);
    }
}

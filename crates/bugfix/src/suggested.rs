//! The ordered list of suggestions for a situation.

use crate::best_rules::{BestRules, best_rules_without};
use crate::likely::Likely;
use crate::rules::count_ranks;
use crate::{Database, Ranked, Situation, Thresholds, prioritise};

/// Which rules may be suggested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    pub thresholds: Thresholds,
    /// Where fewer rules are as sure as that, less sure ones follow until there are so many: those
    /// that are likely from all situations that are alike.
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
    let BestRules { rules, is_cut } = best_rules_without(database, situation, any, &is_left_out);
    let mut list = prioritise(rules, situation);
    let is_sure =
        |ranked: &Ranked| wanted.thresholds.admit(ranked.rule.n_both, ranked.rule.n_situations);
    let n_sure = list.partition_point(is_sure);
    let less_sure = list.split_off(n_sure);
    if list.len() < wanted.at_least {
        let likely = Likely::new(database, situation, is_left_out);
        let number = |ranked: &Ranked| database.fixes.known(&ranked.rule.fix);
        let mut named: Vec<u32> = list.iter().filter_map(number).collect();
        let possible = less_sure.iter().filter(|r| is_possible(&r.rule.fix, situation));
        let mut open: Vec<u32> = possible.filter_map(number).collect();
        while named.len() < wanted.at_least {
            let Some(next) = likely.next(&named, &open) else { break };
            open.retain(|fix| *fix != next);
            named.push(next);
        }
        let is_named = |r: &Ranked| number(r).is_some_and(|fix| named.contains(&fix));
        list.extend(less_sure.into_iter().filter(is_named));
    }
    count_ranks(&mut list);
    Suggested { list, is_cut }
}

/// Descriptions of a change, and what a statement has at least one of to be changed so.
const CHANGED: [(&str, &[&str]); 13] = [
    ("comparison operator mutation", &["<", "<=", ">", ">=", "==", "!="]),
    ("exclude equality from the comparison", &["<=", ">="]),
    ("include equality in the comparison", &["<", ">"]),
    ("logical operator mutation", &["&&", "||"]),
    ("increment operator mutation", &["++", "--"]),
    ("constant mutation", &["CONST"]),
    ("increase constant value", &["CONST"]),
    ("increase constant value by 1", &["CONST"]),
    ("decrease constant value", &["CONST"]),
    ("decrease constant value by 1", &["CONST"]),
    ("use another named constant", &["CONST"]),
    ("use another variable", &["VAR"]),
    ("swap arguments", &["FUNC_CALL"]),
];

/// Whether what a description changes is there: ``change `<` into `<=` `` needs a `<`.
fn is_possible(fix: &str, situation: &Situation) -> bool {
    let token = fix.strip_prefix("change `").and_then(|rest| rest.split_once('`'));
    let changed = CHANGED.iter().find(|(description, _)| *description == fix);
    token.is_none_or(|(token, _)| situation.contains(token))
        && changed.is_none_or(|(_, any)| any.iter().any(|d| situation.contains(*d)))
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

    #[test]
    fn what_is_not_there_is_not_changed() {
        let known = [
            vec![scenario(&["A", "<"], "change `<` into `<=`"); 3],
            vec![scenario(&["A", "=="], "x"); 3],
        ];
        let database: Database = known.concat().iter().collect();
        let wanted = Wanted { thresholds: Thresholds::default(), at_least: 3 };
        let fixes = |descriptors: [&str; 2]| -> Vec<String> {
            let situation: Situation = descriptors.map(str::to_owned).into();
            let found = suggested(&database, &situation, wanted).list;
            found.into_iter().map(|ranked| ranked.rule.fix).collect()
        };
        assert_eq!(fixes(["A", "=="]), ["x"]);
        assert_eq!(fixes(["A", "<"]), ["change `<` into `<=`", "x"]);
    }

    #[test]
    fn a_constant_is_changed_where_there_is_one() {
        let known = [
            vec![scenario(&["A", "CONST"], "constant mutation"); 3],
            vec![scenario(&["A", "VAR"], "x"); 3],
        ];
        let database: Database = known.concat().iter().collect();
        let wanted = Wanted { thresholds: Thresholds::default(), at_least: 3 };
        let situation: Situation = ["A", "VAR"].map(str::to_owned).into();
        let found = suggested(&database, &situation, wanted).list;
        assert!(found.iter().all(|ranked| ranked.rule.fix == "x"), "{found:?}");
    }

    /// General and specific words for the same fix do not take all places.
    #[test]
    fn less_sure_rules_say_different_things() {
        let with = |n: usize, fixes: &[&str]| {
            let situation = ["A"].map(str::to_owned).into();
            let fixes = fixes.iter().map(|fix| (*fix).to_owned()).collect();
            vec![Scenario { origin: String::new(), situation, fixes }; n]
        };
        let known = [with(5, &["x", "x in detail"]), with(4, &["y"]), with(3, &["z"])].concat();
        let database: Database = known.iter().collect();
        let wanted = Wanted { thresholds: Thresholds::default(), at_least: 3 };
        let situation: Situation = ["A"].map(str::to_owned).into();
        let found = suggested(&database, &situation, wanted).list;
        let fixes: Vec<&str> = found.iter().map(|ranked| ranked.rule.fix.as_str()).collect();
        assert_eq!(fixes, ["x", "y", "z"]);
    }
}

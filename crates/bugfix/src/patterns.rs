//! Situation descriptors from values: patterns in the IVMPs of a statement, and in the values
//! it had in failing and in passing runs.
//!
//! A statement has a value it defines (`Def`) and values it uses (`Use1`, `Use2`, ...). A
//! pattern is a comparison that comes out alike every time. A statement with several places
//! where a value takes effect has the patterns of each.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use findings::values::{Number, SiteValues, ValueSet};

use crate::Situation;

/// Values used by a place beyond this many are not compared.
const MAX_VALUES: usize = 6;

/// The descriptors of all places of a statement.
pub fn value_descriptors(sites: &[SiteValues]) -> Situation {
    let mut found = Situation::new();
    for site in sites {
        ivmp_patterns(site, &mut found);
        run_patterns(site, &mut found);
    }
    // A rule can only say what is there: that nothing was found has to be said.
    if sites.iter().all(|site| site.ivmps.is_empty()) && !sites.is_empty() {
        found.insert("NO-IVMP".to_owned());
    }
    let is_run_by = |of: fn(&SiteValues) -> &Vec<ValueSet>| sites.iter().any(|s| !of(s).is_empty());
    if is_run_by(|site| &site.failing) && !is_run_by(|site| &site.passing) {
        found.insert("ONLY-FAILING-RUNS".to_owned());
    }
    found
}

fn ivmp_patterns(site: &SiteValues, found: &mut Situation) {
    let originals: Vec<&ValueSet> = site.ivmps.iter().map(|ivmp| &ivmp.original).collect();
    let alternates: Vec<&ValueSet> = site.ivmps.iter().map(|ivmp| &ivmp.alternate).collect();
    compare_within("orig", &originals, found);
    compare_within("alt", &alternates, found);
    for position in 0..width(&originals) {
        let pairs: Vec<(Number, Number)> = site
            .ivmps
            .iter()
            .filter_map(|ivmp| {
                Some((at(&ivmp.original, position)?, at(&ivmp.alternate, position)?))
            })
            .collect();
        if let Some(sign) = common_sign(pairs.iter().map(|(a, b)| a.compare(*b))) {
            let name = name(position);
            found.insert(format!("orig{name} {sign} alt{name}"));
        }
        if let (Some(difference @ (1 | -1)), false) = (common_difference(&pairs), site.is_branch) {
            let (name, sign) = (name(position), if difference > 0 { '+' } else { '-' });
            found.insert(format!("alt{name} = orig{name} {sign} 1"));
        }
        special_ivmp_patterns(site, position, &pairs, found);
    }
}

fn special_ivmp_patterns(
    site: &SiteValues,
    position: usize,
    pairs: &[(Number, Number)],
    found: &mut Situation,
) {
    let is_changed = |(a, b): &(Number, Number)| a.compare(*b) != Some(Ordering::Equal);
    // Every IVMP has to say something of this value, and to change it.
    if pairs.is_empty() || pairs.len() < site.ivmps.len() || !pairs.iter().all(is_changed) {
        return;
    }
    if site.is_branch && position == 0 {
        found.insert("OTHER-BRANCH".to_owned());
        found.insert(direction_of_branches(pairs).to_owned());
        return;
    }
    if is_one(pairs.iter().map(|(original, _)| *original)) {
        found.insert("ONE-TO-ANY".to_owned());
    }
    if is_one(pairs.iter().map(|(_, alternate)| *alternate)) {
        found.insert("ANY-TO-ONE".to_owned());
    }
}

/// Which way a branch should have gone instead. Not the sign of `Def` alone: a condition that is
/// wrong both ways has none.
fn direction_of_branches(pairs: &[(Number, Number)]) -> &'static str {
    let outcomes = pairs.iter().map(|(original, _)| original.compare(Number::Integer(0)));
    let (mut to_true, mut to_false) = (false, false);
    outcomes.for_each(|sign| {
        let held = sign != Some(Ordering::Equal);
        (to_true, to_false) = (to_true || !held, to_false || held);
    });
    match (to_true, to_false) {
        (true, true) => "OTHER-BRANCH both ways",
        (true, false) => "OTHER-BRANCH to true",
        _ => "OTHER-BRANCH to false",
    }
}

/// How much larger the alternate is, where that is the same number in every pair.
fn common_difference(pairs: &[(Number, Number)]) -> Option<i128> {
    let mut differences = pairs.iter().map(|(original, alternate)| match (original, alternate) {
        (Number::Integer(original), Number::Integer(alternate)) => alternate.checked_sub(*original),
        _ => None,
    });
    let first = differences.next()??;
    differences.all(|difference| difference == Some(first)).then_some(first)
}

fn run_patterns(site: &SiteValues, found: &mut Situation) {
    let failing: Vec<&ValueSet> = site.failing.iter().collect();
    let passing: Vec<&ValueSet> = site.passing.iter().collect();
    compare_within("fail", &failing, found);
    compare_within("pass", &passing, found);
    for position in 0..width(&failing).max(width(&passing)) {
        let of = |sets: &[&ValueSet]| -> Vec<Number> {
            sets.iter().filter_map(|set| at(set, position)).collect()
        };
        let (failing, passing) = (of(&failing), of(&passing));
        let signs = failing.iter().flat_map(|f| passing.iter().map(|p| f.compare(*p)));
        match common_sign(signs) {
            Some('<') => found.insert("ALL-FAIL-SMALLER".to_owned()),
            Some('>') => found.insert("ALL-FAIL-LARGER".to_owned()),
            _ => false,
        };
        if is_one(failing.into_iter()) {
            found.insert("ONE-FAIL-VALUE".to_owned());
        }
        if is_one(passing.into_iter()) {
            found.insert("ONE-PASS-VALUE".to_owned());
        }
    }
}

/// Pairs of values of the same set that compare alike in all sets.
fn compare_within(prefix: &str, sets: &[&ValueSet], found: &mut Situation) {
    let width = width(sets);
    for (a, b) in (0..width).flat_map(|a| (a + 1..width).map(move |b| (a, b))) {
        let pairs = sets.iter().filter_map(|set| Some((at(set, a)?, at(set, b)?)));
        if let Some(sign) = common_sign(pairs.map(|(a, b)| a.compare(b))) {
            found.insert(format!("{prefix}{} {sign} {prefix}{}", name(a), name(b)));
        }
    }
}

fn width(sets: &[&ValueSet]) -> usize {
    sets.iter().map(|set| set.len()).max().unwrap_or(0).min(MAX_VALUES)
}

fn at(set: &ValueSet, position: usize) -> Option<Number> {
    set.get(position).copied().flatten()
}

fn name(position: usize) -> String {
    if position == 0 { "Def".to_owned() } else { format!("Use{position}") }
}

fn common_sign(mut signs: impl Iterator<Item = Option<Ordering>>) -> Option<char> {
    let first = signs.next()??;
    signs.all(|sign| sign == Some(first)).then_some(match first {
        Ordering::Less => '<',
        Ordering::Equal => '=',
        Ordering::Greater => '>',
    })
}

fn is_one(mut values: impl Iterator<Item = Number>) -> bool {
    let Some(first) = values.next() else { return false };
    values.all(|value| value.compare(first) == Some(Ordering::Equal))
}

/// The alternate values of what a statement defines: hints for constants.
pub fn alternates(sites: &[SiteValues]) -> BTreeSet<i64> {
    let ivmps = sites.iter().filter(|site| !site.is_branch).flat_map(|site| &site.ivmps);
    ivmps
        .filter_map(|ivmp| match at(&ivmp.alternate, 0)? {
            Number::Integer(number) => i64::try_from(number).ok(),
            Number::Float(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::values::Ivmp;

    fn set<const N: usize>(values: [i128; N]) -> ValueSet {
        values.iter().map(|value| Some(Number::Integer(*value))).collect()
    }

    fn ivmp<const N: usize>(original: [i128; N], alternate: [i128; N]) -> Ivmp {
        Ivmp { original: set(original), alternate: set(alternate) }
    }

    fn descriptors(site: SiteValues) -> Vec<String> {
        value_descriptors(&[site]).into_iter().collect()
    }

    #[test]
    fn figure_8_4() {
        let ivmps = vec![
            ivmp([5, 4, 1], [8, 5, 3]),
            ivmp([10, 3, 7], [11, 10, 1]),
            ivmp([1, 0, 1], [3, 0, 3]),
        ];
        let found = descriptors(SiteValues { ivmps, ..SiteValues::default() });
        assert_eq!(found, ["altDef > altUse1", "origDef < altDef", "origDef > origUse1"]);
    }

    #[test]
    fn figure_8_5() {
        let failing = vec![set([0, 0, 2]), set([1, 8, 2]), set([1, 7, 2])];
        let passing = vec![set([1, 4, 4]), set([1, 13, 2]), set([0, 0, 0]), set([0, 7, 5])];
        let found = descriptors(SiteValues { failing, passing, ..SiteValues::default() });
        assert_eq!(found, ["NO-IVMP", "ONE-FAIL-VALUE", "failDef < failUse2"]);
    }

    /// Figure 2.1: the operands are equal where the wrong branch is taken.
    #[test]
    fn a_wrong_branch() {
        let ivmps = vec![ivmp([0, 1, 1], [1, 3, 5]), ivmp([0, 8, 8], [1, 1, 2])];
        let found = descriptors(SiteValues { is_branch: true, ivmps, ..SiteValues::default() });
        assert!(found.contains(&"OTHER-BRANCH".to_owned()), "{found:?}");
        assert!(found.contains(&"origUse1 = origUse2".to_owned()), "{found:?}");
        assert!(found.contains(&"altUse1 < altUse2".to_owned()), "{found:?}");
    }

    #[test]
    fn special_patterns_need_every_ivmp() {
        let one_to_any = vec![ivmp([7], [1]), ivmp([7], [2])];
        let found = descriptors(SiteValues { ivmps: one_to_any, ..SiteValues::default() });
        assert_eq!(found, ["ONE-TO-ANY", "origDef > altDef"]);
        let any_to_one = vec![ivmp([7], [9]), ivmp([8], [9])];
        let found = descriptors(SiteValues { ivmps: any_to_one, ..SiteValues::default() });
        assert_eq!(found, ["ANY-TO-ONE", "origDef < altDef"]);
        let unknown =
            Ivmp { original: set([7, 1]), alternate: vec![Some(Number::Integer(1)), None] };
        let mixed = vec![unknown, ivmp([8, 2], [1, 2])];
        let found = descriptors(SiteValues { ivmps: mixed, ..SiteValues::default() });
        assert!(!found.contains(&"ONE-TO-ANY".to_owned()), "{found:?}");
    }

    #[test]
    fn by_one_and_which_way() {
        let by_one = vec![ivmp([7], [8]), ivmp([3], [4])];
        let found = descriptors(SiteValues { ivmps: by_one, ..SiteValues::default() });
        assert_eq!(found, ["altDef = origDef + 1", "origDef < altDef"]);
        let way = |ivmps: Vec<Ivmp>| {
            let site = SiteValues { is_branch: true, ivmps, ..SiteValues::default() };
            let found = descriptors(site);
            found.into_iter().find(|d| d.starts_with("OTHER-BRANCH ")).unwrap_or_default()
        };
        assert_eq!(way(vec![ivmp([0], [1])]), "OTHER-BRANCH to true");
        assert_eq!(way(vec![ivmp([1], [0])]), "OTHER-BRANCH to false");
        assert_eq!(way(vec![ivmp([1], [0]), ivmp([0], [1])]), "OTHER-BRANCH both ways");
    }

    #[test]
    fn what_is_not_there_is_said() {
        let failing = vec![set([1]), set([2])];
        let found = descriptors(SiteValues { failing, ..SiteValues::default() });
        assert_eq!(found, ["NO-IVMP", "ONLY-FAILING-RUNS"]);
        assert!(value_descriptors(&[]).is_empty());
    }

    #[test]
    fn failing_values_beside_passing_ones() {
        let site = |failing: [i128; 2], passing: [i128; 2]| SiteValues {
            failing: failing.iter().map(|v| set([*v])).collect(),
            passing: passing.iter().map(|v| set([*v])).collect(),
            ..SiteValues::default()
        };
        assert_eq!(descriptors(site([1, 2], [3, 4])), ["ALL-FAIL-SMALLER", "NO-IVMP"]);
        assert_eq!(
            descriptors(site([5, 6], [3, 3])),
            ["ALL-FAIL-LARGER", "NO-IVMP", "ONE-PASS-VALUE"]
        );
        assert_eq!(descriptors(site([1, 4], [3, 5])), ["NO-IVMP"]);
    }
}

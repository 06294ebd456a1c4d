//! The mutators, a file for each kind or two. Each says what must hold in the text so that the
//! change can be a fault; what the compiler shows to mean nothing is dropped later.
//!
//! The token mutators of the other benchmarks change whatever stands there, and tests tell what
//! was a fault. Here a change must be a fault without a test, so trees are needed.
//! Bodies of macros and other directives are no part of the trees and stay as they are.

mod allocation;
mod bound;
mod initialisation;
mod length_test;
mod narrower;
mod null_test;
mod release;

use super::code::{Function, Unit};
use super::facts::Facts;
use super::kind::Injection;

/// Everything that can be put into a function.
pub fn all(unit: &Unit, function: &Function, facts: &Facts) -> Vec<Injection> {
    let mut found = null_test::find(unit, function, facts);
    found.extend(allocation::find(unit, function));
    found.extend(bound::find(unit, function, facts));
    found.extend(length_test::find(unit, function, facts));
    found.extend(release::dropped(unit, function));
    found.extend(release::twice(unit, function, facts));
    found.extend(release::use_after(unit, function, facts));
    found.extend(initialisation::find(unit, function));
    found.extend(narrower::find(unit, function));
    found
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// What the changed lines of the last function become, by a mutator.
    pub fn changed(
        text: &str,
        find: impl Fn(&Unit, &Function, &Facts) -> Vec<Injection>,
    ) -> Vec<String> {
        let units = vec![Unit::parse(text.to_owned())];
        let facts = Facts::collect(&units);
        let unit = &units[0];
        let function = unit.functions.last().expect("the text has a function");
        let found = find(unit, function, &facts);
        let texts = found.iter().filter_map(|injection| injection.apply(text));
        texts
            .map(|changed| {
                assert_eq!(changed.lines().count(), text.lines().count());
                let lines = changed.lines().zip(text.lines());
                let differ = lines.filter(|(new, old)| new != old).map(|(new, _)| new.trim());
                differ.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("|")
            })
            .collect()
    }
}

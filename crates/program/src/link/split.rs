//! Telling apart the programs in a bag of units.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::symbols::{defines, defines_object, main_of};
use crate::Program;

/// Which units make which programs, by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// In the order of the units that define `main`; each in the order of the units.
    pub programs: Vec<Vec<usize>>,
    /// Units that no program needs.
    pub unused: Vec<usize>,
}

/// With at most one `main` all units are one program. Otherwise each unit with a `main`
/// makes a program with those others that define what it needs.
pub fn split(units: &[Program]) -> Split {
    let mains: Vec<usize> =
        (0..units.len()).filter(|&unit| main_of(&units[unit]).is_some()).collect();
    if mains.len() < 2 {
        let all: Vec<usize> = (0..units.len()).collect();
        let programs = if all.is_empty() { Vec::new() } else { vec![all] };
        return Split { programs, unused: Vec::new() };
    }
    let mut definers: FxHashMap<&str, usize> = FxHashMap::default();
    for (index, unit) in units.iter().enumerate().filter(|(index, _)| !mains.contains(index)) {
        for name in defined_names(unit) {
            definers.entry(name).or_insert(index);
        }
    }
    let programs: Vec<Vec<usize>> =
        mains.iter().map(|&main| needed_by(main, units, &definers)).collect();
    let used: BTreeSet<usize> = programs.iter().flatten().copied().collect();
    let unused = (0..units.len()).filter(|unit| !used.contains(unit)).collect();
    Split { programs, unused }
}

fn defined_names(unit: &Program) -> impl Iterator<Item = &str> {
    let functions = unit.functions.iter().filter(|f| defines(f)).map(|f| &*f.name);
    let globals = unit.globals.iter().filter(|g| defines_object(g)).map(|g| &*g.name);
    functions.chain(globals)
}

fn needed_by(main: usize, units: &[Program], definers: &FxHashMap<&str, usize>) -> Vec<usize> {
    let mut needed = BTreeSet::from([main]);
    let mut provided: BTreeSet<&str> = defined_names(&units[main]).collect();
    let mut worklist = vec![main];
    while let Some(index) = worklist.pop() {
        let unit = &units[index];
        let functions = unit.functions.iter().filter(|f| !defines(f)).map(|f| &*f.name);
        let globals = unit.globals.iter().filter(|g| !defines_object(g)).map(|g| &*g.name);
        for name in functions.chain(globals) {
            if let Some(&definer) = definers.get(name)
                && !provided.contains(name)
                && needed.insert(definer)
            {
                provided.extend(defined_names(&units[definer]));
                worklist.push(definer);
            }
        }
    }
    needed.into_iter().collect()
}

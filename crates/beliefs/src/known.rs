//! What is known about functions over the whole input before events are extracted: which
//! never return, which dereference, keep or free what they are handed.
//!
//! Each unit is summarised on its own; closing the summaries over calls needs only the
//! summaries. Functions go by name: `static` ones by name and unit.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use program::{Callee, FunctionId, Linkage, Op, Program};
use rustc_hash::FxHashMap;

/// What stands between the name of a static function and its unit.
const UNIT_MARK: char = '@';

/// The name to show of a key.
pub fn shown(key: &str) -> &str {
    key.split(UNIT_MARK).next().unwrap_or(key)
}

/// The key of each function of a unit.
pub struct Keys {
    keys: Vec<Box<str>>,
    /// Routines of other units whose name says that they end the program.
    crashes: Vec<bool>,
}

impl Keys {
    pub fn new(program: &Program) -> Self {
        let unit = program.units.iter().next().map_or("", |unit| unit.path.as_str());
        let key = |function: &program::Function| match function.linkage {
            Linkage::Internal => format!("{}{UNIT_MARK}{unit}", function.name).into(),
            _ => function.name.clone(),
        };
        let crashes = |function: &program::Function| {
            function.body.is_none() && crate::latent::is_crash_routine(&function.name)
        };
        Self {
            keys: program.functions.iter().map(key).collect(),
            crashes: program.functions.iter().map(crashes).collect(),
        }
    }

    pub fn is_named_like_a_crash(&self, id: FunctionId) -> bool {
        self.crashes[id.0 as usize]
    }

    pub fn function(&self, id: FunctionId) -> &str {
        &self.keys[id.0 as usize]
    }
}

/// A parameter of a function, by the function's key.
pub type Slot = (Box<str>, u32);

/// A parameter handed on: (parameter, callee, argument).
pub type Handed = (u32, Box<str>, u32);

/// What one function does, before its callees are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Has a body in the unit.
    pub is_defined: bool,
    /// Control never comes back, as far as the unit alone can tell.
    pub never_returns: bool,
    /// Called whenever the function returns: one that never returns makes this one so.
    pub always_calls: BTreeSet<Box<str>>,
    /// Parameters dereferenced before any test of them.
    pub dereferences: BTreeSet<u32>,
    /// Parameters handed on before any test of them: (parameter, callee, argument).
    pub hands_on: BTreeSet<Handed>,
    /// Parameters stored where they outlive the call, or returned.
    pub keeps: BTreeSet<u32>,
    /// Parameters handed on at all.
    pub passes: BTreeSet<Handed>,
    pub parameter_names: Vec<Box<str>>,
}

/// The summaries of one unit, by key.
pub type Summaries = BTreeMap<Box<str>, Summary>;

/// Summaries closed over calls.
#[derive(Clone, Debug, Default)]
pub struct Known {
    functions: FxHashMap<Box<str>, Traits>,
}

/// What is known about one function. Parameters beyond the 64th are not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Traits {
    never_returns: bool,
    is_defined: bool,
    dereferences: u64,
    keeps: u64,
    frees: u64,
    parameter_names: Vec<Box<str>>,
}

impl Known {
    pub fn never_returns(&self, key: &str) -> bool {
        self.functions.get(key).is_some_and(|traits| traits.never_returns)
    }

    pub fn dereferences(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.dereferences)
    }

    /// Whether the function keeps what it is handed where it outlives the call.
    pub fn keeps(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.keeps)
    }

    pub fn frees(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.frees)
    }

    pub fn is_defined(&self, key: &str) -> bool {
        self.functions.get(key).is_some_and(|traits| traits.is_defined)
    }

    pub fn parameter_names(&self, key: &str) -> &[Box<str>] {
        self.functions.get(key).map_or(&[], |traits| &traits.parameter_names)
    }

    fn has(&self, key: &str, argument: u32, of: fn(&Traits) -> u64) -> bool {
        let bits = self.functions.get(key).map_or(0, of);
        argument < 64 && bits >> argument & 1 == 1
    }

    fn mark(&mut self, slots: BTreeSet<Slot>, of: fn(&mut Traits) -> &mut u64) {
        for (key, argument) in slots {
            if argument < 64 {
                *of(self.functions.entry(key).or_default()) |= 1 << argument;
            }
        }
    }

    /// Closes the summaries of all units over calls.
    pub fn close(units: impl IntoIterator<Item = Summaries>) -> Self {
        let mut all = Summaries::new();
        for unit in units {
            for (key, summary) in unit {
                match all.entry(key) {
                    Entry::Vacant(free) => drop(free.insert(summary)),
                    Entry::Occupied(mut known) => {
                        let never_returns = known.get().never_returns | summary.never_returns;
                        if summary.is_defined && !known.get().is_defined {
                            known.insert(summary);
                        }
                        known.get_mut().never_returns = never_returns;
                    }
                }
            }
        }
        let mut known = Known::default();
        for (key, summary) in &all {
            let traits = known.functions.entry(key.clone()).or_default();
            traits.is_defined = summary.is_defined;
            traits.parameter_names.clone_from(&summary.parameter_names);
        }
        known.close_never_returns(&all);
        let derefs = direct(&all, |s| &s.dereferences);
        let derefs = closed(
            &all,
            |s| &s.hands_on,
            derefs,
            |callee, argument| {
                external(callee, argument, |e| &e.reads)
                    || external(callee, argument, |e| &e.writes)
            },
        );
        known.mark(derefs, |traits| &mut traits.dereferences);
        let keeps = direct(&all, |s| &s.keeps);
        let keeps = closed(
            &all,
            |s| &s.passes,
            keeps,
            |callee, argument| external(callee, argument, |e| &e.keeps),
        );
        known.mark(keeps, |traits| &mut traits.keeps);
        let frees = closed(
            &all,
            |s| &s.passes,
            BTreeSet::new(),
            |callee, argument| external(callee, argument, |e| &e.frees),
        );
        known.mark(frees, |traits| &mut traits.frees);
        known
    }

    fn close_never_returns(&mut self, all: &Summaries) {
        let mut callers: BTreeMap<&str, Vec<&Box<str>>> = BTreeMap::new();
        for (key, summary) in all {
            for callee in &summary.always_calls {
                callers.entry(callee).or_default().push(key);
            }
        }
        let is_crash = |name: &str| {
            facts::externals::never_returns(name)
                || (!all.get(name).is_some_and(|s| s.is_defined)
                    && crate::latent::is_crash_routine(name))
        };
        let mut work: Vec<Box<str>> = all
            .iter()
            .filter(|(_, summary)| summary.never_returns)
            .map(|(key, _)| key.clone())
            .chain(callers.keys().filter(|name| is_crash(name)).map(|name| (*name).into()))
            .collect();
        while let Some(key) = work.pop() {
            if let Some(above) = callers.get(&*key) {
                let new = above.iter().filter(|caller| !self.never_returns(caller));
                let new: Vec<Box<str>> = new.map(|caller| (*caller).clone()).collect();
                work.extend(new);
            }
            self.functions.entry(key).or_default().never_returns = true;
        }
    }
}

fn external(
    function: &str,
    argument: u32,
    table: fn(&facts::externals::External) -> &[u8],
) -> bool {
    facts::externals::lookup(function)
        .is_some_and(|external| table(external).iter().any(|&a| u32::from(a) == argument))
}

fn direct(all: &Summaries, of: fn(&Summary) -> &BTreeSet<u32>) -> BTreeSet<Slot> {
    let mut slots = BTreeSet::new();
    for (key, summary) in all {
        slots.extend(of(summary).iter().map(|&param| (key.clone(), param)));
    }
    slots
}

/// Adds to `slots` every parameter that is handed on to one of them.
fn closed(
    all: &Summaries,
    edges: fn(&Summary) -> &BTreeSet<Handed>,
    mut slots: BTreeSet<Slot>,
    is_external: impl Fn(&str, u32) -> bool,
) -> BTreeSet<Slot> {
    let mut sources: BTreeMap<(&str, u32), Vec<Slot>> = BTreeMap::new();
    let mut external = BTreeSet::new();
    for (key, summary) in all {
        for (param, callee, argument) in edges(summary) {
            sources.entry((callee, *argument)).or_default().push((key.clone(), *param));
            if !all.get(callee).is_some_and(|s| s.is_defined) && is_external(callee, *argument) {
                external.insert((callee.clone(), *argument));
            }
        }
    }
    let mut work: Vec<Slot> = slots.iter().cloned().chain(external).collect();
    while let Some(slot) = work.pop() {
        if let Some(above) = sources.get(&(&*slot.0, slot.1)) {
            work.extend(above.iter().filter(|slot| !slots.contains(*slot)).cloned());
        }
        slots.insert(slot);
    }
    slots
}

/// Summarises the functions of one unit.
pub fn summarise(program: &Program) -> Summaries {
    let keys = Keys::new(program);
    let nothing = Known::default();
    let local = facts::NoReturn::compute(program);
    let mut summaries = Summaries::new();
    for (id, function) in program.functions.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        let mut summary = crate::extract::summarise(program, &keys, &nothing, function, body);
        summary.is_defined = true;
        summary.never_returns = local.function(id);
        summary.parameter_names = body
            .variables
            .iter()
            .filter(|variable| variable.parameter.is_some())
            .map(|variable| variable.name.clone())
            .collect();
        summaries.insert(keys.function(id).into(), summary);
    }
    // Crash routines of other units that are declared so here.
    for (id, function) in program.functions.iter_enumerated() {
        if function.body.is_none() && local.function(id) {
            let key = keys.function(id).into();
            summaries.entry(key).or_insert(Summary { never_returns: true, ..Summary::default() });
        }
    }
    summaries
}

/// Names of the functions a unit calls: what its events depend on beyond itself.
pub fn callees<'a>(program: &'a Program, keys: &'a Keys) -> BTreeSet<&'a str> {
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    let insts = bodies.flat_map(|body| body.insts.iter());
    let ids = insts.filter_map(|inst| match &inst.op {
        Op::Call(call) => match call.callee {
            Callee::Function(id) => Some(id),
            _ => None,
        },
        _ => None,
    });
    ids.map(|id| keys.function(id)).collect()
}

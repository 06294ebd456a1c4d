//! What is known about functions over the whole input before events are extracted: which
//! never return, which dereference, keep or free what they are handed.
//!
//! Each unit is summarised on its own; closing the summaries over calls needs only the
//! summaries. Functions go by name: `static` ones by name and unit.

mod locks;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use program::{FunctionId, Linkage, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::latent::{self, LockAction};

/// Implementations that make an interface worth comparing them.
const MIN_IMPLEMENTATIONS: usize = 3;
/// What stands between the name of a static function and its unit.
const UNIT_MARK: char = '@';

/// The name to show of a key.
pub fn shown(key: &str) -> &str {
    key.split(UNIT_MARK).next().unwrap_or(key)
}

/// The key of each function of a unit.
pub struct Keys {
    keys: Vec<Box<str>>,
    lock_actions: Vec<Option<LockAction>>,
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
            function.body.is_none() && latent::is_crash_routine(&function.name)
        };
        Self {
            keys: program.functions.iter().map(key).collect(),
            crashes: program.functions.iter().map(crashes).collect(),
            lock_actions: program.functions.iter().map(|f| latent::lock_action(&f.name)).collect(),
        }
    }

    /// What a function's name says it does to a lock.
    pub fn lock_action(&self, id: FunctionId) -> Option<LockAction> {
        self.lock_actions[id.0 as usize]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Parameters that may be null: nothing is done with them before a test.
    pub tests: BTreeSet<u32>,
    /// Parameters with which nothing is done but to hand them on: whoever gets them may test them.
    pub leaves_to: BTreeSet<Handed>,
    /// Parameters stored where they outlive the call, or returned.
    pub keeps: BTreeSet<u32>,
    /// Parameters handed on at all.
    pub passes: BTreeSet<Handed>,
    pub parameter_names: Vec<Box<str>>,
    /// Locks it has taken and may still hold when it returns.
    pub takes: BTreeSet<Box<str>>,
    /// Locks it releases without having taken them.
    pub gives_back: BTreeSet<Box<str>>,
    /// Locks it takes anywhere, and locks it releases anywhere.
    pub acquires: BTreeSet<Box<str>>,
    pub releases: BTreeSet<Box<str>>,
    /// Numbers it branches on, and numbers it hands on.
    pub decides: BTreeSet<u32>,
    pub hands_on_numbers: BTreeSet<Handed>,
}

/// Summaries by key.
type Summaries = BTreeMap<Box<str>, Summary>;

/// A call and the locks held there: (caller, callee, locks).
pub type LockedCall = (Box<str>, Box<str>, Vec<Box<str>>);

/// What one unit tells about its functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitSummary {
    /// Every function the unit defines or calls.
    pub mentioned: Vec<Box<str>>,
    /// The files it was compiled from, without those of the system.
    pub files: Vec<Box<str>>,
    pub n_functions: u64,
    pub n_calls: u64,
    pub functions: Summaries,
    /// Variables accessed under a lock, and functions called under one (`f()`).
    pub locked: BTreeSet<Box<str>>,
    /// Functions called only after a check (by the check's name or not).
    pub guarded: BTreeSet<Box<str>>,
    /// Who calls whom under which locks.
    pub calls: BTreeSet<LockedCall>,
    /// Which functions are assigned to which member: implementations of one interface.
    pub assigned: BTreeSet<(Box<str>, Box<str>)>,
}

/// What the project says about itself, for templates that need to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Routines made for pointers from outside, and which argument that is.
    pub paranoid: Vec<(String, u32)>,
    /// Routines whose dereferences do not count.
    pub ignored: Vec<String>,
    /// Parts of names of flags that are true where a pointer comes from outside.
    pub backdoors: Vec<String>,
}

impl Settings {
    pub fn extend(&mut self, more: Settings) {
        self.paranoid.extend(more.paranoid);
        self.ignored.extend(more.ignored);
        self.backdoors.extend(more.backdoors);
    }
}

/// Summaries closed over calls.
#[derive(Clone, Debug, Default)]
pub struct Known {
    functions: FxHashMap<Box<str>, Traits>,
    locked: FxHashSet<Box<str>>,
    guarded: FxHashSet<Box<str>>,
    /// By function and parameter, another implementation that treats it as from outside.
    by_class: FxHashMap<Slot, Box<str>>,
    pub settings: Settings,
    /// Stands for the settings and all names in `locked`.
    common: u64,
}

/// What is known about one function. Parameters beyond the 64th are not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Traits {
    never_returns: bool,
    is_defined: bool,
    dereferences: u64,
    tests: u64,
    keeps: u64,
    frees: u64,
    taints: u64,
    decides: u64,
    /// Locks every caller holds.
    entry_locks: Vec<Box<str>>,
    parameter_names: Vec<Box<str>>,
    /// Members and parameters the function is assigned to, others being assigned to them too.
    interfaces: Vec<Box<str>>,
    /// Locks it returns with, and locks it releases for its callers, by itself or through others.
    takes: Vec<Box<str>>,
    gives_back: Vec<Box<str>>,
    /// Locks that a caller takes by another call, and locks that a caller releases for it.
    taken_before: Vec<Box<str>>,
    given_back_after: Vec<Box<str>>,
}

impl Known {
    pub fn never_returns(&self, key: &str) -> bool {
        self.functions.get(key).is_some_and(|traits| traits.never_returns)
    }

    pub fn dereferences(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.dereferences)
    }

    /// Whether the function may be handed null there, and asks first.
    pub fn tests(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.tests)
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

    /// Whether the function treats the parameter as a pointer from outside.
    pub fn taints(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.taints)
    }

    /// An implementation of the same interface that treats the parameter so.
    pub fn tainted_by_class(&self, key: &str, parameter: u32) -> Option<&str> {
        if self.by_class.is_empty() {
            return None;
        }
        self.by_class.get(&(key.into(), parameter)).map(|other| &**other)
    }

    /// What the function is an implementation of, beside others.
    pub fn interfaces(&self, key: &str) -> &[Box<str>] {
        self.functions.get(key).map_or(&[], |traits| &traits.interfaces)
    }

    /// Whether the function may return with the lock taken.
    pub fn takes(&self, key: &str, lock: &str) -> bool {
        let traits = self.functions.get(key);
        traits.is_some_and(|traits| traits.takes.iter().any(|taken| **taken == *lock))
    }

    /// Whether the function releases the lock for its callers.
    pub fn gives_back(&self, key: &str, lock: &str) -> bool {
        let traits = self.functions.get(key);
        traits.is_some_and(|traits| traits.gives_back.iter().any(|given| **given == *lock))
    }

    /// Whether a caller of the function has the lock from another call.
    pub fn is_taken_before(&self, key: &str, lock: &str) -> bool {
        let traits = self.functions.get(key);
        traits.is_some_and(|traits| traits.taken_before.iter().any(|taken| **taken == *lock))
    }

    /// Whether a caller of the function releases the lock that it did not take itself.
    pub fn is_given_back_after(&self, key: &str, lock: &str) -> bool {
        let traits = self.functions.get(key);
        traits.is_some_and(|traits| traits.given_back_after.iter().any(|given| **given == *lock))
    }

    /// Whether a number handed over there decides what the function does.
    pub fn decides(&self, key: &str, argument: u32) -> bool {
        self.has(key, argument, |traits| traits.decides)
    }

    pub fn entry_locks(&self, key: &str) -> &[Box<str>] {
        self.functions.get(key).map_or(&[], |traits| &traits.entry_locks)
    }

    pub fn is_locked_somewhere(&self, name: &str) -> bool {
        self.locked.contains(name)
    }

    pub fn is_guarded_somewhere(&self, key: &str) -> bool {
        self.guarded.contains(key)
    }

    /// A number that changes when anything changes that a unit with these functions could learn
    /// from here. Events of a unit stay what they are while it does.
    pub fn digest(&self, mentioned: &[Box<str>]) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.common.hash(&mut hasher);
        for key in mentioned {
            let traits = self.functions.get(key);
            (key, traits, self.guarded.contains(key)).hash(&mut hasher);
            for parameter in (0..64).filter(|_| !self.by_class.is_empty()) {
                self.tainted_by_class(key, parameter).hash(&mut hasher);
            }
        }
        hasher.finish()
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
    pub fn close(units: impl IntoIterator<Item = UnitSummary>, settings: Settings) -> Self {
        let mut all = Summaries::new();
        let mut rest = UnitSummary::default();
        let mut known = Known { settings, ..Known::default() };
        for unit in units {
            for (key, summary) in unit.functions {
                merge(&mut all, key, summary);
            }
            known.locked.extend(unit.locked);
            known.guarded.extend(unit.guarded);
            rest.calls.extend(unit.calls);
            rest.assigned.extend(unit.assigned);
        }
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
        let tests = direct(&all, |s| &s.tests);
        let mut tests = closed(&all, |s| &s.leaves_to, tests, |_, _| false);
        tests.retain(|slot| !derefs.contains(slot));
        known.mark(tests, |traits| &mut traits.tests);
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
        let decides = direct(&all, |s| &s.decides);
        let decides = closed(&all, |s| &s.hands_on_numbers, decides, |_, _| false);
        known.mark(decides, |traits| &mut traits.decides);
        known.close_taints(&all, &rest.assigned);
        known.close_entry_locks(&rest.calls);
        known.close_locks(&all, &rest.calls);
        let locked: BTreeSet<&Box<str>> = known.locked.iter().collect();
        let mut hasher = DefaultHasher::new();
        (&known.settings, locked).hash(&mut hasher);
        known.common = hasher.finish();
        known
    }

    fn close_taints(&mut self, all: &Summaries, assigned: &BTreeSet<(Box<str>, Box<str>)>) {
        let seeds: BTreeSet<Slot> =
            self.settings.paranoid.iter().map(|(name, arg)| (name.as_str().into(), *arg)).collect();
        let ignored = self.settings.ignored.clone();
        let is_ignored = |key: &str| ignored.iter().any(|name| name == shown(key));
        let taints = closed(all, |s| &s.passes, seeds, |_, _| false);
        let taints = taints.into_iter().filter(|(key, _)| !is_ignored(key)).collect();
        self.mark(taints, |traits| &mut traits.taints);
        for (key, traits) in &mut self.functions {
            if is_ignored(key) {
                traits.dereferences = 0;
            }
        }
        let mut classes: BTreeMap<&str, Vec<&Box<str>>> = BTreeMap::new();
        for (member, function) in assigned {
            classes.entry(member).or_default().push(function);
        }
        for (member, functions) in &classes {
            if functions.len() >= MIN_IMPLEMENTATIONS {
                for function in functions {
                    let traits = self.functions.entry((*function).clone()).or_default();
                    traits.interfaces.push((*member).into());
                }
            }
            for other in functions {
                let bits = self.functions.get(*other).map_or(0, |traits| traits.taints);
                for parameter in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                    for function in functions {
                        if self.taints(function, parameter) {
                            continue;
                        }
                        let slot = ((*function).clone(), parameter);
                        self.by_class.entry(slot).or_insert_with(|| (*other).clone());
                    }
                }
            }
        }
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
                || (!all.get(name).is_some_and(|s| s.is_defined) && latent::is_crash_routine(name))
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

/// A definition counts before a declaration.
fn merge(all: &mut Summaries, key: Box<str>, summary: Summary) {
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

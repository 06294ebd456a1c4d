//! Locks that functions take and release for each other.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, LockedCall, Summaries, Summary};

/// Names of locks by function.
type ByFunction<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

impl Known {
    /// The locks that every known caller holds, callers' callers included.
    pub(super) fn close_entry_locks(&mut self, calls: &BTreeSet<LockedCall>) {
        type Sites<'a> = Vec<(&'a str, &'a [Box<str>])>;
        let mut sites: BTreeMap<&str, Sites> = BTreeMap::new();
        for (caller, callee, held) in calls {
            sites.entry(callee).or_default().push((caller, held));
        }
        // From everything downwards: what no caller contradicts stays.
        let mut entry: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (callee, sites) in &sites {
            let all = sites.iter().flat_map(|(_, held)| held.iter().map(|name| &**name));
            entry.insert(callee, all.collect());
        }
        for _round in 0..8 {
            let mut changed = false;
            for (callee, sites) in &sites {
                let holds = |name: &str| {
                    sites.iter().all(|(caller, held)| {
                        held.iter().any(|held| **held == *name)
                            || entry.get(caller).is_some_and(|above| above.contains(name))
                    })
                };
                let kept: BTreeSet<&str> =
                    entry[callee].iter().copied().filter(|name| holds(name)).collect();
                changed |= kept.len() != entry[callee].len();
                entry.insert(callee, kept);
            }
            if !changed {
                break;
            }
        }
        for (callee, held) in entry {
            if !held.is_empty() {
                let traits = self.functions.entry(callee.into()).or_default();
                traits.entry_locks = held.into_iter().map(Into::into).collect();
            }
        }
    }

    /// Which functions return with a lock, which release one for their callers, and for whom.
    pub(super) fn close_locks(&mut self, all: &Summaries, calls: &BTreeSet<LockedCall>) {
        let mut callees = ByFunction::new();
        for (caller, callee, _) in calls {
            callees.entry(caller).or_default().insert(callee);
        }
        // Who takes the lock himself releases it for himself.
        let given = closed(all, &callees, |s| &s.gives_back, |s| &s.acquires);
        let mut taken = closed(all, &callees, |s| &s.takes, |s| &s.releases);
        for (function, locks) in &mut taken {
            let of_callees = callees.get(function).into_iter().flatten();
            let returned: BTreeSet<&str> =
                of_callees.filter_map(|callee| given.get(callee)).flatten().copied().collect();
            locks.retain(|lock| !returned.contains(lock));
        }
        let (mut before, mut after) = (ByFunction::new(), ByFunction::new());
        for (caller, called) in &callees {
            for callee in called {
                let others = called.iter().filter(|other| *other != callee);
                before
                    .entry(callee)
                    .or_default()
                    .extend(others.flat_map(|o| taken.get(o)).flatten());
                after.entry(callee).or_default().extend(given.get(caller).into_iter().flatten());
            }
        }
        let owned = |locks: BTreeSet<&str>| locks.into_iter().map(Into::into).collect();
        for (function, locks) in taken {
            self.functions.entry(function.into()).or_default().takes = owned(locks);
        }
        for (function, locks) in given {
            self.functions.entry(function.into()).or_default().gives_back = owned(locks);
        }
        for (function, locks) in before {
            if !locks.is_empty() {
                self.functions.entry(function.into()).or_default().taken_before = owned(locks);
            }
        }
        for (function, locks) in after {
            if !locks.is_empty() {
                self.functions.entry(function.into()).or_default().given_back_after = owned(locks);
            }
        }
    }
}

/// What functions do to locks by themselves or through the functions they call, unless they do the
/// opposite themselves.
fn closed<'a>(
    all: &'a Summaries,
    callees: &ByFunction<'a>,
    what: fn(&Summary) -> &BTreeSet<Box<str>>,
    opposite: fn(&Summary) -> &BTreeSet<Box<str>>,
) -> ByFunction<'a> {
    let mut done = ByFunction::new();
    for (key, summary) in all {
        if !what(summary).is_empty() {
            done.insert(key, what(summary).iter().map(|lock| &**lock).collect());
        }
    }
    let mut callers = ByFunction::new();
    for (caller, called) in callees {
        for callee in called {
            callers.entry(callee).or_default().insert(caller);
        }
    }
    let mut work: Vec<(&str, &str)> =
        done.iter().flat_map(|(key, locks)| locks.iter().map(|lock| (*key, *lock))).collect();
    while let Some((function, lock)) = work.pop() {
        for &caller in callers.get(function).into_iter().flatten() {
            let undoes = all.get(caller).is_some_and(|summary| opposite(summary).contains(lock));
            if !undoes && done.entry(caller).or_default().insert(lock) {
                work.push((caller, lock));
            }
        }
    }
    done
}

//! Runs a program with its variables in other orders until one of them fails.

use std::io;
use std::path::PathBuf;

use base::Cancel;
use llvm::suppress::Global;
use run::suppressed::{Plan, Run, SuppressedProgram, SuppressedRunner};

use crate::choose::choose;
use crate::isolate::{Isolated, unusable};
use crate::reorder::{describe, frame_order, n_orders, pairs};

/// An order that makes the run fail.
pub(crate) struct Exposed {
    pub plan: Plan,
    pub executable: PathBuf,
    pub run: Run,
    /// In words.
    pub order: Vec<String>,
}

/// Orders of one space that are tried.
const MOST_ORDERS: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Global,
    Stack,
    Heap,
}

/// Tries space after space; returns how often the program was run, too.
pub(crate) fn expose(
    runner: &SuppressedRunner<'_>,
    found: &Isolated,
    cancel: &Cancel,
) -> io::Result<(Option<Exposed>, u64)> {
    let mut executions = 0;
    let mut variables = Variables::of(runner.program, &found.touched);
    for space in in_order(runner.program, found) {
        for k in 0..variables.n_runs(space) {
            let Some(candidate) = variables.candidate(&found.plan, space, k, cancel) else {
                continue;
            };
            let (plan, executable, order) = candidate;
            let run = runner.run(&executable, &plan)?;
            executions += 1;
            if is_earlier(&run, &plan, found) {
                return Ok((Some(Exposed { plan, executable, run, order }), executions));
            }
        }
    }
    Ok((None, executions))
}

/// Whether the run fails by something defined before what is already found: what comes
/// after it is no first corruption.
fn is_earlier(run: &Run, plan: &Plan, found: &Isolated) -> bool {
    if run.failure.is_none() || unusable(run.failure).is_some() {
        return false;
    }
    match (choose(run, plan), found.identified()) {
        (Some(culprit), Some(identified)) => culprit.order < identified.order,
        (culprit, None) => culprit.is_some(),
        (None, Some(_)) => false,
    }
}

/// Spaces known to hold corruption first, then those with fewer variables.
fn in_order(program: &SuppressedProgram, found: &Isolated) -> Vec<Space> {
    let is_known = |letter: char| {
        found.rounds.iter().any(|round| {
            let suspect = round.suspect.as_ref().map_or("", |suspect| suspect.object.as_str());
            round.object.starts_with(letter) || suspect.starts_with(letter)
        })
    };
    let n_locals = program.frames.iter().map(|frame| frame.variables.len()).sum();
    let mut spaces = [
        (Space::Global, !is_known('G'), program.globals.len()),
        (Space::Stack, !is_known('F'), n_locals),
        (Space::Heap, !is_known('H'), 0),
    ];
    spaces.sort_by_key(|(_, is_clean, n_variables)| (*is_clean, *n_variables));
    spaces.map(|(space, _, _)| space).to_vec()
}

/// What can be put in another order.
struct Variables<'a> {
    program: &'a SuppressedProgram,
    /// Numbers of globals that are buffers, and of those that addresses are computed from:
    /// of those the run has touched.
    buffers: Vec<usize>,
    addresses: Vec<usize>,
    /// Executables with globals in the first so many orders.
    linked: Vec<Option<PathBuf>>,
}

impl<'a> Variables<'a> {
    fn of(program: &'a SuppressedProgram, touched: &[bool]) -> Self {
        let is_touched = |index: &usize| {
            !program.has_all_units() || touched.get(*index).copied().unwrap_or(true)
        };
        let of = |keep: fn(&Global) -> bool| -> Vec<usize> {
            let all = 0..program.globals.len();
            all.filter(is_touched).filter(|index| keep(&program.globals[*index].1)).collect()
        };
        let buffers = of(|global| global.is_buffer);
        let addresses = of(|global| global.is_address && !global.is_buffer);
        Self { program, buffers, addresses, linked: Vec::new() }
    }

    fn n_runs(&self, space: Space) -> usize {
        let n = match space {
            Space::Global if self.buffers.is_empty() || self.addresses.is_empty() => 0,
            Space::Global => self.buffers.len().max(self.addresses.len()),
            Space::Stack => self.program.frames.iter().map(n_orders).max().unwrap_or(0),
            // Blocks are not moved: what lies between them is looked at when the run ends.
            Space::Heap => 1,
        };
        n.min(MOST_ORDERS)
    }

    /// Which global lies behind which in the k-th order.
    fn global_pairs(&self, k: usize) -> Vec<(usize, usize)> {
        let pairs = pairs(self.buffers.len(), self.addresses.len(), k).into_iter();
        pairs.map(|(b, v)| (self.buffers[b], self.addresses[v])).collect()
    }

    /// The executable of the k-th order of globals; others that will be asked for next are
    /// linked at the same time.
    fn executable(&mut self, k: usize, cancel: &Cancel) -> Option<PathBuf> {
        if k >= self.linked.len() {
            let end = (k + self.program.n_jobs()).min(self.n_runs(Space::Global));
            let orders: Vec<_> = (k..end).map(|order| self.global_pairs(order)).collect();
            // A linker that cannot do it leaves the variables where they are.
            self.linked.extend(self.program.with_pairs(&orders, k, cancel).ok()?);
        }
        self.linked.get(k)?.clone()
    }

    fn candidate(
        &mut self,
        plan: &Plan,
        space: Space,
        k: usize,
        cancel: &Cancel,
    ) -> Option<(Plan, PathBuf, Vec<String>)> {
        let (mut plan, program) = (plan.clone(), self.program);
        match space {
            Space::Heap => {
                plan.check_heap_at_exit = true;
                let order = vec!["heap: looked at when the run ends".to_string()];
                Some((plan, program.tracking.clone(), order))
            }
            Space::Stack => {
                plan.layouts.clear();
                let mut order = Vec::new();
                for (id, frame) in program.frames.iter().enumerate() {
                    if let Some(layout) = frame_order(id as u32, frame, k % n_orders(frame).max(1))
                    {
                        order.push(describe(frame, &layout));
                        plan.layouts.push(layout);
                    }
                }
                (!order.is_empty()).then(|| (plan, program.tracking.clone(), order))
            }
            Space::Global => {
                let pairs = self.global_pairs(k);
                let executable = self.executable(k, cancel)?;
                let name = |global: usize| program.globals[global].1.name.as_str();
                let order =
                    pairs.iter().map(|(b, v)| format!("{}, {}", name(*b), name(*v))).collect();
                Some((plan, executable, order))
            }
        }
    }
}

//! Fig 5: all ways to leave the error trace, few changes before many.
//!
//! The paper asks a solver for the selectors. Which of them are changed is tried here set by
//! set instead: with the selectors known most of the repair program folds away, and what is
//! left to ask is small.

use std::collections::{BTreeMap, BTreeSet};

use interpret::{Machine, Shared};
use logic::words::{Answer, UnknownId, Values};
use rustc_hash::FxHashMap;

use super::budget::Budget;
use super::formula::{Formula, Projection};
use super::sets::{Sets, smaller};
use super::sites::Site;
use super::solution::Solution;
use super::walk::{Exit, Walk, Walker};
use super::{Config, Settings, maxsat};
use crate::Request;
use crate::trust::Mined;

/// Branches of one set that the solver gave up on before no more of them are asked for.
const MAX_GIVEN_UP: usize = 1;

/// The solutions of one trace.
pub struct Solved {
    pub solutions: Vec<Solution>,
    /// What limited the search.
    pub notes: Vec<String>,
    /// What it took, in z3's resource units.
    pub work: u64,
}

/// All solutions of one trace, within limits.
pub fn solve(
    machine: Machine,
    sites: &[Site],
    settings: Settings,
    mined: &Mined,
    request: &Request,
) -> Solved {
    let (formula, mut shared) = Formula::of(machine, sites);
    let projections = match settings.config >= Config::Projection {
        true => formula.projections(&mut shared.words, mined, request),
        false => Default::default(),
    };
    match settings.maxsat {
        true => maxsat::solve(&formula, shared.words, &projections, settings),
        false => search(&formula, shared, projections, settings),
    }
}

/// Tries the sets of selectors.
pub fn search(
    formula: &Formula,
    shared: Shared,
    projections: BTreeMap<UnknownId, Projection>,
    settings: Settings,
) -> Solved {
    let resources = settings.resources_of_a_question();
    let walker = Walker::new(formula, shared, projections, resources);
    Search::new(walker, settings).run()
}

struct Search<'f, 's> {
    walker: Walker<'f, 's>,
    settings: Settings,
    budget: Budget,
    /// Pairs of selectors that are not changed together.
    apart: BTreeSet<(usize, usize)>,
    /// Sets that were tried, where larger ones may contain them.
    walks: FxHashMap<Vec<usize>, Walk>,
    /// Whether such a set leaves the trace at some step.
    known: FxHashMap<(Vec<usize>, usize), bool>,
    found: Vec<Solution>,
    /// How many by number of changes and exit.
    n_here: FxHashMap<(usize, usize), usize>,
}

impl<'f, 's> Search<'f, 's> {
    fn new(walker: Walker<'f, 's>, settings: Settings) -> Self {
        let apart = match settings.config {
            Config::Basic => BTreeSet::new(),
            _ => walker.cone.use_def(walker.formula),
        };
        Self {
            walker,
            settings,
            budget: Budget::new(settings),
            apart,
            walks: FxHashMap::default(),
            known: FxHashMap::default(),
            found: Vec::new(),
            n_here: FxHashMap::default(),
        }
    }

    fn run(mut self) -> Solved {
        let n = self.walker.formula.selectors.len();
        let most = n.min(self.settings.max_changes as usize);
        for size in 1..=most {
            if !self.try_all((n, size), size < most) {
                break;
            }
        }
        let (solutions, notes) = (self.found, self.budget.notes());
        Solved { solutions, notes, work: self.walker.work() }
    }

    /// Tries all sets of so many of the selectors; whether there was work left for them.
    fn try_all(&mut self, (n, size): (usize, usize), has_more: bool) -> bool {
        for (n_tried, mut set) in (0..).zip(Sets::new(n, size)) {
            if !self.is_left() {
                self.budget.left_out(size, Sets::count(n, size) - n_tried, has_more);
                return false;
            }
            // What is evaluated last comes first: it leaves the trace last.
            set.iter_mut().for_each(|number| *number = n - 1 - *number);
            if self.is_allowed(&set) {
                self.try_set(set, has_more);
            }
        }
        true
    }

    fn is_left(&mut self) -> bool {
        self.budget.is_left(self.found.len(), self.walker.work())
    }

    fn is_allowed(&self, set: &[usize]) -> bool {
        let mut pairs = set.iter().flat_map(|a| set.iter().map(move |b| (*a, *b)));
        self.apart.is_empty() || !pairs.any(|pair| self.apart.contains(&pair))
    }

    /// Where a set leaves the trace: past the failing check, or else as late as it can.
    fn try_set(&mut self, set: Vec<usize>, is_part_of_more: bool) {
        let walk = self.walker.walk(&set);
        if let Some(why) = &walk.gave_up {
            self.budget.gave_up(why.clone());
        }
        let mut n_given_up = 0;
        for exit in walk.exits.iter().rev() {
            if !self.is_left() || n_given_up > MAX_GIVEN_UP {
                break;
            }
            if !self.is_wanted(&set, &walk, exit) {
                continue;
            }
            match self.walker.leave(&walk, exit) {
                Answer::Unsat => {}
                Answer::Unknown(why) => {
                    n_given_up += 1;
                    self.budget.gave_up(why);
                }
                Answer::Sat(values) => {
                    self.found(&set, &values, exit.step);
                    break;
                }
            }
        }
        if is_part_of_more && self.settings.config > Config::Basic {
            self.walks.insert(set, walk);
        }
    }

    fn found(&mut self, set: &[usize], values: &Values, step: usize) {
        let changed: Vec<_> = set.iter().map(|selector| (*selector, 1)).collect();
        let Walker { formula, memo, .. } = &self.walker;
        self.found.push(formula.solution(&memo.shared.words, &changed, values, step));
        *self.n_here.entry((set.len(), step)).or_default() += 1;
    }

    /// Whether leaving the trace there with a set is looked for: there are not enough sets like
    /// it, and fewer of the changes do not do.
    fn is_wanted(&mut self, set: &[usize], walk: &Walk, exit: &Exit) -> bool {
        let n_here = self.n_here.get(&(set.len(), exit.step)).copied().unwrap_or_default();
        self.budget.is_left_here(n_here)
            && (self.settings.config == Config::Basic
                || self.walker.takes_all(walk, exit, set)
                    && !smaller(set).any(|part| self.leaves(part, exit.step)))
    }

    /// Whether a set that was tried leaves the trace there, or some of its changes do.
    fn leaves(&mut self, set: Vec<usize>, step: usize) -> bool {
        let Some(walk) = self.walks.get(&set) else { return false };
        let known = self.known.get(&(set.clone(), step)).copied();
        let leaves = known.unwrap_or_else(|| {
            let exit = walk.exits.iter().find(|exit| exit.step == step);
            exit.is_some_and(|exit| matches!(self.walker.leave(walk, exit), Answer::Sat(_)))
        });
        let leaves = leaves || smaller(&set).any(|part| self.leaves(part, step));
        self.known.insert((set, step), leaves);
        leaves
    }
}

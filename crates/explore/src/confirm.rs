//! Second opinions: whether what another engine says of a function happens in runs of it.
//!
//! A path that was found without running may be one that no run takes: a wrapper that exits, a
//! number that was read with a width, a byte that was tested. So the function where the path
//! begins is run, with whatever was there before made up, and runs are led to the line. That a
//! run does what was said is no proof, as callers may never call like this. That runs come there
//! and never do it, however they are asked to, speaks against it.

use std::collections::{BTreeMap, BTreeSet};

use base::Cancel;
use interpret::{FaultKind, Room};
use program::{Callee, Const, FunctionId, GlobalId, InstId, Op, Operand, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::campaign::{LIMITS, MAX_STEPS, RESOURCES};
use crate::dictionary::Dictionary;
use crate::distance::distances;
use crate::ending::{Property, loc_of};
use crate::memo::Memo;
use crate::options::Rules;
use crate::search::{Covered, Explored, Plan, Search, Violation};
use crate::target::{Line, Target};
use crate::watching::Watching;

/// Work for each thing that is asked, for all of one function, and for all of a program.
const WORK: u64 = 3_000_000;
const MOST: u64 = 12_000_000;
const ALL: u64 = 200_000_000;

/// What somebody says happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The function where the path begins.
    pub entry: FunctionId,
    /// The function of the place where it happens.
    pub function: FunctionId,
    /// The rule it is reported under.
    pub rule: String,
    /// Where it happens, and the other places of its path.
    pub lines: Vec<Line>,
}

/// What runs say to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// A run of the function does it.
    Happens,
    /// Runs come there, and none does it.
    ComesThere,
    /// No run came there.
    NotReached,
    /// The function cannot be run, or the rule is not watched.
    None,
}

/// The opinions on claims, in their order.
pub fn confirm(
    program: &Program,
    specifications: &spec::Rules,
    claims: &[Claim],
    cancel: &Cancel,
) -> Vec<Opinion> {
    let mut opinions = vec![Opinion::None; claims.len()];
    let mut by_entry: BTreeMap<FunctionId, Vec<usize>> = BTreeMap::new();
    for (number, claim) in claims.iter().enumerate() {
        if kinds(&claim.rule).is_some() {
            by_entry.entry(claim.entry).or_default().push(number);
        }
    }
    if by_entry.is_empty() {
        return opinions;
    }
    let rules: BTreeSet<String> = claims.iter().map(|claim| claim.rule.clone()).collect();
    let mut watching =
        Watching::new(program, specifications, &Rules { only: rules, is_strict: true });
    watching.watch.leaks = false;
    watching.watch.written = written(program);
    let n_asked: usize = by_entry.values().map(Vec::len).sum();
    let work = WORK.min(ALL / n_asked as u64);
    let confirming = Confirming { program, watching: &watching, work, cancel };
    for (entry, numbers) in by_entry {
        let own: Vec<&Claim> = numbers.iter().map(|number| &claims[*number]).collect();
        for (number, opinion) in numbers.iter().zip(confirming.function(entry, &own)) {
            opinions[*number] = opinion;
        }
    }
    opinions
}

struct Confirming<'a> {
    program: &'a Program,
    watching: &'a Watching,
    /// For each claim.
    work: u64,
    cancel: &'a Cancel,
}

impl Confirming<'_> {
    fn function(&self, entry: FunctionId, claims: &[&Claim]) -> Vec<Opinion> {
        let mut opinions = vec![Opinion::NotReached; claims.len()];
        for room in [Room::Ample, Room::Exact] {
            let is_open = |number: &usize| {
                let matters = room == Room::Ample || claims[*number].rule.starts_with("buffer");
                matters && opinions[*number] != Opinion::Happens
            };
            let left: Vec<usize> = (0..claims.len()).filter(is_open).collect();
            if left.is_empty() || self.cancel.is_cancelled() {
                break;
            }
            let asked: Vec<&Claim> = left.iter().map(|number| claims[*number]).collect();
            let (explored, covered) = self.run(entry, room, &asked);
            for number in left {
                let claim = claims[number];
                if explored.violations.iter().any(|v| self.is_it(claim, v.property, v.at)) {
                    opinions[number] = Opinion::Happens;
                } else if self.is_reached(claim, &covered) {
                    opinions[number] = Opinion::ComesThere;
                }
            }
        }
        opinions
    }

    fn run(&self, entry: FunctionId, room: Room, claims: &[&Claim]) -> (Explored, Covered) {
        let program = self.program;
        let mut memo = Memo::new(RESOURCES, false);
        let places = claims.iter().filter_map(|claim| claim.lines.first().cloned()).collect();
        let target = Target { places, rule: None };
        memo.distances = distances(program, &|loc| target.is_at(program, loc));
        let safe = FxHashSet::default();
        let search = Search {
            program,
            entry: &program.functions[entry].name,
            safe: &safe,
            selected: None,
            unset_is_input: false,
            watch: Some(&self.watching.watch),
            seed: None,
            max_runs: u32::MAX,
            max_steps: MAX_STEPS / 4,
            max_all_steps: u64::MAX,
            runs_after: 0,
            questions_after: 0,
            max_questions: u64::MAX,
            max_unknown: 3,
        };
        let is_main = *program.functions[entry].name == *"main";
        let limits = interpret::Limits { harness: (!is_main).then_some(room), ..LIMITS };
        let work = (self.work * claims.len() as u64).min(MOST);
        let dictionary = Dictionary::of(program);
        let is_found = |claim: &Claim, found: &[Violation]| {
            found.iter().any(|v| self.is_it(claim, v.property, v.at))
        };
        let is_enough = |found: &[Violation]| claims.iter().all(|claim| is_found(claim, found));
        let (seeds, known) = (Vec::new(), Vec::new());
        let is_enough = Some::<&dyn Fn(&[Violation]) -> bool>(&is_enough);
        let plan = Plan { limits, work, seed: 0, dictionary, is_enough, seeds, known };
        let (explored, covered, _) = search.campaign(&mut memo, plan, self.cancel);
        (explored, covered)
    }

    /// Whether a violation is what was claimed.
    fn is_it(&self, claim: &Claim, property: Property, at: (FunctionId, interpret::Point)) -> bool {
        let Property::Fault(kind) = property else { return false };
        let is_kind = kinds(&claim.rule).is_some_and(|kinds| kinds.contains(&kind));
        let target = Target { places: claim.lines.clone(), rule: None };
        is_kind
            && (target.is_at(self.program, loc_of(self.program, at))
                || self.called(claim, &target).contains(&at.0))
    }

    /// The functions that are called there: what goes wrong in them goes wrong there.
    fn called(&self, claim: &Claim, target: &Target) -> BTreeSet<FunctionId> {
        let program = self.program;
        let callees = |function: FunctionId, is_wanted: &dyn Fn(&program::Inst) -> bool| {
            let insts = program.functions[function].body.iter().flat_map(|body| &body.insts);
            let called = insts.filter(|inst| is_wanted(inst)).filter_map(|inst| match &inst.op {
                Op::Call(call) => match &call.callee {
                    Callee::Function(id) => Some(*id),
                    _ => None,
                },
                _ => None,
            });
            called.collect::<Vec<_>>()
        };
        let mut open = callees(claim.function, &|inst| target.is_at(program, inst.loc));
        let mut all = BTreeSet::new();
        while let Some(function) = open.pop() {
            if all.insert(function) {
                open.extend(callees(function, &|_| true));
            }
        }
        all
    }

    /// Whether runs came to the line.
    fn is_reached(&self, claim: &Claim, covered: &Covered) -> bool {
        let places = claim.lines.first().cloned().into_iter().collect();
        let target = Target { places, rule: None };
        covered.iter().any(|(function, block)| {
            let body = self.program.functions[*function].body.as_ref();
            body.is_some_and(|body| {
                let mut insts = body.blocks[*block].inst_ids();
                insts.any(|inst| target.is_at(self.program, body.insts[inst].loc))
            })
        })
    }
}

/// What in a run is a violation of a rule, as far as runs watch it.
fn kinds(rule: &str) -> Option<&'static [FaultKind]> {
    use FaultKind::*;
    const NUMBERS: &[FaultKind] = &[SignedOverflow, Shift, Wrap, Truncation, SignChange];
    Some(match rule {
        "buffer-overflow" | "buffer-overread" | "buffer-underflow" => {
            &[OutOfBounds, WriteToConstant]
        }
        "null-dereference" => &[Null],
        "use-after-free" => &[UseAfterEnd],
        "double-free" => &[DoubleFree, UseAfterEnd],
        "invalid-free" => &[InvalidFree],
        "uninitialized-read" => &[Uninitialised],
        "divide-by-zero" => &[DivideByZero],
        "integer-overflow" | "integer-truncation" | "integer-signedness" => NUMBERS,
        _ => return None,
    })
}

/// Objects that somebody may write: they are used otherwise than to read what they hold.
fn written(program: &Program) -> Vec<GlobalId> {
    let mut written = BTreeSet::new();
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        // Addresses within an object are looked at where they are used.
        let mut inside: FxHashMap<InstId, GlobalId> = FxHashMap::default();
        for (id, inst) in body.insts.iter_enumerated() {
            let object = |operand: Operand| match operand {
                Operand::Const(id) => match program.constants[id] {
                    Const::Global { global, .. } => Some(global),
                    _ => None,
                },
                Operand::Inst(inst) => inside.get(&inst).copied(),
                Operand::Param(_) => None,
            };
            let (read, within) = match &inst.op {
                Op::Load(access) => (Some(access.ptr), None),
                Op::Address(address) => (Some(address.base), object(address.base)),
                _ => (None, None),
            };
            inst.op.for_each_operand(|operand| {
                written.extend(object(operand).filter(|_| read != Some(operand)));
            });
            if let Some(global) = within {
                inside.insert(id, global);
            }
        }
    }
    let is_known = |id: &GlobalId| {
        let global = &program.globals[*id];
        global.init.is_some() && !global.is_constant && !global.is_string_literal
    };
    written.into_iter().filter(is_known).collect()
}

//! What proofs of properties say about the program: which checks need no search, and partial
//! specifications (4.1).
//!
//! Intervals, octagons and disjunctions prove checks of every function; what callers pass bounds
//! parameters. From each proved bound of an index come the statements it rests on and the values
//! its variables may take.

use std::collections::{BTreeMap, BTreeSet};

use facts::checks::{CheckKind, Checks, Proved, Stage, parameters, prove};
use facts::octagon::{Edge, Proofs};
use facts::{Facts, Options};
use interpret::FaultKind;
use program::{FunctionId, InstId, LocId, Op, Operand, Program};
use rustc_hash::FxHashSet;

/// Mined from properties that abstract interpretation proves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mined {
    /// How many checks each stage proved; none proved the others.
    pub n_proved: BTreeMap<Option<Stage>, usize>,
    /// What no input violates: the search need not ask.
    pub safe: FxHashSet<(FunctionId, InstId, FaultKind)>,
    /// Statements that proofs rest on: file, line, and whether it is the condition there.
    pub trusted: BTreeSet<(String, u32, bool)>,
    /// Values of variables from which no proved property can be violated: by file, function
    /// and variable.
    pub projections: BTreeMap<(String, String, String), (i64, i64)>,
}

/// Proves what can be proved of every function, and mines the proofs. The program starts in
/// `entry`, with anything for its parameters.
pub fn mine(program: &Program, entry: &str) -> Mined {
    let is_entry = |id: &FunctionId| *program.functions[*id].name == *entry;
    let entries = program.functions.ids().filter(is_entry).collect();
    let facts = Facts::compute(program, &Options { entries, memory: false, ..Options::default() });
    let mut mined = Mined::default();
    for (id, function) in program.functions.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        let checks = Checks::of(program, body);
        let proofs = Proofs::new(program, function, body, &parameters(&facts, id));
        let proved = prove((program, &facts), id, &checks, &proofs);
        for stage in proved.by.values() {
            *mined.n_proved.entry(*stage).or_default() += 1;
        }
        mined.set_aside(id, &checks, &proved);
        for bound in checks.all.iter().filter(|check| proofs.is_bound_proved(check)) {
            for edge in proofs.relevant_edges(bound) {
                mined.trust(program, id, &proofs, edge);
            }
            let safe = proofs.projection(bound, true);
            for (join, low, high) in proofs.ranges(&safe) {
                mined.project(program, id, join, low, high);
            }
        }
    }
    mined
}

impl Mined {
    fn set_aside(&mut self, id: FunctionId, checks: &Checks, proved: &Proved) {
        for check in checks.all.iter().filter(|check| proved.is_proved(check)) {
            let kind = match check.kind {
                CheckKind::NotZero { .. } => FaultKind::DivideByZero,
                CheckKind::Fits => FaultKind::SignedOverflow,
                _ => continue,
            };
            self.safe.insert((id, check.inst, kind));
        }
        for access in &checks.accesses {
            if access.checks.iter().all(|check| proved.is_proved(check)) {
                self.safe.insert((id, access.inst, FaultKind::OutOfBounds));
            }
        }
    }

    /// An edge is a decision, or assigns the variables of its joins.
    fn trust(&mut self, program: &Program, id: FunctionId, proofs: &Proofs, edge: Edge) {
        let Some(body) = &program.functions[id].body else { return };
        let mut assigned = false;
        for (join, value) in proofs.decided(edge) {
            for inst in &body.insts {
                let Op::Bind { variable, value: bound } = &inst.op else { continue };
                let is_joined = body.insts.iter().any(|other| {
                    matches!(&other.op, Op::Bind { variable: of, value: Operand::Inst(phi) }
                        if of == variable && *phi == join)
                });
                if *bound == value && is_joined && inst.loc.is_known() {
                    assigned = true;
                    self.trusted.extend(line(program, inst.loc).map(|(f, l)| (f, l, false)));
                }
            }
        }
        if !assigned && proofs.is_decision(edge) {
            let loc = body.blocks[edge.from].loc;
            self.trusted.extend(line(program, loc).map(|(file, line)| (file, line, true)));
        }
    }

    fn project(
        &mut self,
        program: &Program,
        id: FunctionId,
        join: InstId,
        low: Option<i64>,
        high: Option<i64>,
    ) {
        let function = &program.functions[id];
        let Some(body) = &function.body else { return };
        let Some((file, _)) = line(program, function.loc) else { return };
        let bound = body.insts.iter().find_map(|inst| match inst.op {
            Op::Bind { variable, value: Operand::Inst(phi) } if phi == join => Some(variable),
            _ => None,
        });
        let Some(variable) = bound else { return };
        let name = body.variables[variable].name.to_string();
        let range = (low.unwrap_or(i64::from(i32::MIN)), high.unwrap_or(i64::from(i32::MAX)));
        let key = (file, function.name.to_string(), name);
        let known = self.projections.entry(key).or_insert(range);
        *known = (known.0.max(range.0), known.1.min(range.1));
    }
}

fn line(program: &Program, loc: LocId) -> Option<(String, u32)> {
    let known = program.locs.get(loc).filter(|known| loc.is_known() && known.line > 0)?;
    Some((program.files.get(known.file)?.path.clone(), known.line))
}

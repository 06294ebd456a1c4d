//! What proofs of other properties say about the program: partial specifications (4.1).
//!
//! Octagons prove array bounds of every function; callers' constants bound parameters. From
//! each proof come the statements it rests on and the values its variables may take.

use std::collections::{BTreeMap, BTreeSet};

use facts::octagon::{Edge, Proofs};
use program::{Callee, Const, FunctionId, LocId, Op, Operand, Program};

/// Mined from properties that abstract interpretation proves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mined {
    /// How many properties are proved, and how many are not.
    pub n_proved: usize,
    pub n_open: usize,
    /// Statements that proofs rest on: file, line, and whether it is the condition there.
    pub trusted: BTreeSet<(String, u32, bool)>,
    /// Values of variables from which no proved property can be violated: by file, function
    /// and variable.
    pub projections: BTreeMap<(String, String, String), (i64, i64)>,
}

/// Proves what can be proved of every function, and mines the proofs.
pub fn mine(program: &Program) -> Mined {
    let mut mined = Mined::default();
    for (id, function) in program.functions.iter_enumerated() {
        let parameters = bounds_from_callers(program, id);
        let Some(proofs) = Proofs::new(program, function, &parameters) else { continue };
        for property in &proofs.properties {
            if !property.is_proved {
                mined.n_open += 1;
                continue;
            }
            mined.n_proved += 1;
            for edge in proofs.relevant_edges(property) {
                mined.trust(program, id, &proofs, edge);
            }
            let safe = proofs.projection(property, true);
            for (join, low, high) in proofs.ranges(&safe) {
                mined.project(program, id, join, low, high);
            }
        }
    }
    mined
}

impl Mined {
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
        join: program::InstId,
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

/// Constants that every call passes.
fn bounds_from_callers(program: &Program, id: FunctionId) -> BTreeMap<u32, (i64, i64)> {
    let mut found: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    let is_address_taken = program.constants.iter().any(|c| *c == Const::Function(id));
    let mut n_calls = 0;
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        for inst in &body.insts {
            let Op::Call(call) = &inst.op else { continue };
            if !matches!(call.callee, Callee::Function(callee) if callee == id) {
                continue;
            }
            n_calls += 1;
            for (index, argument) in (0..).zip(&call.args) {
                let number = match argument {
                    Operand::Const(id) => match program.constants[*id] {
                        Const::Int { value, .. } => i64::try_from(value).ok(),
                        _ => None,
                    },
                    _ => None,
                };
                match number {
                    Some(number) => {
                        let range = found.entry(index).or_insert((number, number));
                        *range = (range.0.min(number), range.1.max(number));
                    }
                    None => drop(unknown.insert(index)),
                }
            }
        }
    }
    // Code outside may call what is not static; programs with a main are whole.
    let is_whole = program.functions.iter().any(|f| &*f.name == "main" && f.body.is_some());
    if is_address_taken || n_calls == 0 || !is_whole {
        return BTreeMap::new();
    }
    found.retain(|index, _| !unknown.contains(index));
    found
}

fn line(program: &Program, loc: LocId) -> Option<(String, u32)> {
    let known = program.locs.get(loc).filter(|known| loc.is_known() && known.line > 0)?;
    Some((program.files.get(known.file)?.path.clone(), known.line))
}

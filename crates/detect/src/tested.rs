//! Which values a function decides by: that it tests what a call answers is the program's own
//! word that the call has more than one answer for it.

use program::{BinaryOp, Body, FunctionId, InstId, Op, Operand, Origin, Program, Terminator};
use rustc_hash::FxHashSet;

use facts::reaches::Uses;

/// Calls by whose results their callers decide.
pub struct Tested {
    calls: FxHashSet<(FunctionId, InstId)>,
}

impl Tested {
    pub fn new(program: &Program, uses: &Uses) -> Self {
        let mut calls = FxHashSet::default();
        for (function, info) in program.functions.iter_enumerated() {
            let Some(body) = &info.body else { continue };
            let scan = Scan { program, uses, function, body, decides: deciding(body) };
            for (id, inst) in body.insts.iter_enumerated() {
                if matches!(inst.op, Op::Call(_)) && scan.tests(id) {
                    calls.insert((function, id));
                }
            }
        }
        Self { calls }
    }

    pub fn contains(&self, function: FunctionId, call: InstId) -> bool {
        self.calls.contains(&(function, call))
    }
}

/// For each instruction, whether a branch hangs on it.
fn deciding(body: &Body) -> Vec<bool> {
    let mut decides = vec![false; body.insts.len()];
    for block in &body.blocks {
        if let Terminator::Branch { condition: Operand::Inst(inst), .. }
        | Terminator::Switch { value: Operand::Inst(inst), .. } = block.terminator
        {
            decides[inst.0 as usize] = true;
        }
    }
    decides
}

/// One function, looked through for what it decides by.
struct Scan<'a> {
    program: &'a Program,
    uses: &'a Uses,
    function: FunctionId,
    body: &'a Body,
    decides: Vec<bool>,
}

impl Scan<'_> {
    /// Whether the function decides by the value, kept in a variable or in memory meanwhile.
    fn tests(&self, value: InstId) -> bool {
        let (body, function) = (self.body, self.function);
        let mut seen = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) || seen.len() > 64 {
                continue;
            }
            if self.decides[value.0 as usize] {
                return true;
            }
            for user in self.uses.users(function, value) {
                match &body.insts[*user].op {
                    Op::Convert(_)
                    | Op::Binary { op: BinaryOp::And, .. }
                    | Op::Phi(_)
                    | Op::Select { .. } => waiting.push(*user),
                    // What is computed with, or compared with another value, is an amount;
                    // compared with a constant, it is told apart from other answers.
                    Op::Compare { lhs, rhs, .. }
                        if (is_constant(*lhs) || is_constant(*rhs)) && !self.is_of_macro(*user) =>
                    {
                        waiting.push(*user);
                    }
                    Op::Store { access, value: stored } if *stored == Operand::Inst(value) => {
                        waiting.extend(self.loads_of(access.ptr));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// A macro asks the same of whatever it is given.
    fn is_of_macro(&self, inst: InstId) -> bool {
        let loc = self.body.insts[inst].loc;
        matches!(self.program.locs[loc].origin, Origin::Body(_))
    }

    /// Instructions that read the place an address leads to.
    fn loads_of(&self, ptr: Operand) -> Vec<InstId> {
        let (body, function) = (self.body, self.function);
        let Operand::Inst(place) = ptr else { return Vec::new() };
        let (base, offset) = match &body.insts[place].op {
            Op::Address(address) if address.terms.is_empty() => (address.base, address.offset),
            _ => (ptr, 0),
        };
        let is_load = |id: &InstId| matches!(&body.insts[*id].op, Op::Load(_));
        let mut loads: Vec<InstId> =
            self.uses.users(function, place).iter().filter(|id| is_load(id)).copied().collect();
        // The address is computed anew for each access.
        if let Operand::Inst(base_inst) = base {
            for same in self.uses.users(function, base_inst) {
                if let Op::Address(address) = &body.insts[*same].op
                    && address.offset == offset
                    && address.terms.is_empty()
                {
                    let found = self.uses.users(function, *same).iter().filter(|id| is_load(id));
                    loads.extend(found.copied());
                }
            }
        }
        loads
    }
}

fn is_constant(operand: Operand) -> bool {
    matches!(operand, Operand::Const(_))
}

//! What each step of a failing run says: the user's own words where the place tells them, else
//! what the program model has, as far as anybody can read it.

use interpret::{Executed, Point, Record};
use program::render::Renderer;
use program::{
    BlockId, Body, Callee, Const, ConstId, InstId, LocId, Op, Operand, Origin, PathStep, Predicate,
    Program, Terminator, TypeId, VarId,
};
use rustc_hash::FxHashSet;

use super::texts::Texts;
use super::values::{bits, result_type, shown};
use super::words::{assignment, names, readable, sign};
use crate::ending::loc_of;

/// How far behind a call its result is assigned.
const MAX_BEHIND: usize = 6;

pub struct Notes<'a> {
    pub program: &'a Program,
    pub record: &'a Record,
    pub texts: &'a Texts,
    /// Steps the property depends on.
    pub kept: FxHashSet<usize>,
}

impl<'a> Notes<'a> {
    /// What a step does, where it is an assignment, a decision or a call that matters.
    pub fn note(&self, index: usize) -> Option<String> {
        let step = &self.record.steps[index];
        let body = self.program.functions[step.function].body.as_ref()?;
        if !loc_of(self.program, (step.function, step.at)).is_known() {
            return None;
        }
        match step.at {
            Point::End(block) => self.end(index, body, block),
            Point::Inst(inst) => match &body.insts[inst].op {
                Op::Bind { variable, value } => self.bind(index, body, (*variable, *value)),
                Op::Store { access, value } => self.store(index, inst, access.ctype, *value),
                Op::Call(call) => match &call.callee {
                    Callee::Function(id) => {
                        self.call(index, body, inst, self.program.functions[*id].name.as_ref())
                    }
                    _ => self.call(index, body, inst, ""),
                },
                _ => None,
            },
        }
    }

    fn step(&self, index: usize) -> (&'a Executed, LocId) {
        let step = &self.record.steps[index];
        (step, loc_of(self.program, (step.function, step.at)))
    }

    fn renderer(&self, index: usize) -> Renderer<'a> {
        Renderer::new(self.program, self.record.steps[index].function)
    }

    fn known(&self, index: usize, value: Operand, ctype: TypeId) -> Option<String> {
        shown(self.program, ctype, bits(self.program, self.record, index, value)?)
    }

    fn end(&self, index: usize, body: &Body, block: BlockId) -> Option<String> {
        let (step, loc) = self.step(index);
        match &body.blocks[block].terminator {
            Terminator::Branch { condition, then, .. } => {
                let holds = if step.to == Some(*then) { "true" } else { "false" };
                let condition = self.joined(index, body, *condition)?;
                let text = self.decided(index, body, loc, condition)?;
                Some(format!("condition ({text}) is {holds}"))
            }
            Terminator::Switch { value, cases, default } => {
                let chosen = self.switched(index, loc, (*value, cases, *default))?;
                let text = self.texts.switched(self.program, loc);
                let text = text.or_else(|| readable(&self.renderer(index).expr(*value)))?;
                Some(format!("switch ({text}) {chosen}"))
            }
            Terminator::Return(Some(value)) => match value {
                Operand::Inst(phi) if returns_here(body, block, *phi) => None,
                _ => self.returned(index, loc, *value),
            },
            // `return x;` goes to where the function returns.
            Terminator::Jump(to) => match body.blocks[*to].terminator {
                Terminator::Return(Some(Operand::Inst(phi))) if returns_here(body, *to, phi) => {
                    let Op::Phi(edges) = &body.insts[phi].op else { return None };
                    let (_, value) = edges.iter().find(|(from, _)| *from == block)?;
                    self.returned(index, loc, *value)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn returned(&self, index: usize, loc: LocId, value: Operand) -> Option<String> {
        let result = result_type(self.program, self.record.steps[index].function);
        let known = self.known(index, value, result);
        let text = self.texts.returned(self.program, loc);
        let text = text.or_else(|| {
            let text = readable(&self.renderer(index).expr(value))?;
            Some(format!("return {text}"))
        });
        match (text, known) {
            (Some(text), Some(known)) if text != format!("return {known}") => {
                Some(format!("{text}, which is {known}"))
            }
            (Some(text), _) => Some(text),
            (None, Some(known)) => Some(format!("return {known}")),
            (None, None) => None,
        }
    }

    /// The source's words for a decision, where they say the same as the program does.
    fn decided(&self, index: usize, body: &Body, loc: LocId, value: Operand) -> Option<String> {
        let rendered = self.renderer(index).expr(value);
        let decided = self.texts.decided(self.program, loc).filter(|decided| {
            let predicate = match value {
                Operand::Inst(inst) => match &body.insts[inst].op {
                    Op::Compare { predicate, .. } => Some(*predicate),
                    _ => None,
                },
                _ => None,
            };
            match (&decided.comparison, predicate) {
                (Some(operator), Some(predicate)) => sign(predicate) == operator.as_str(),
                (None, Some(predicate)) => predicate == Predicate::Ne,
                (None, None) => !rendered.starts_with('!'),
                (Some(_), None) => false,
            }
        });
        self.preferred(loc, rendered, decided.map(|decided| decided.text))
    }

    /// The user's words, unless they stand for something else, as the name of a macro does for
    /// what is decided inside of it.
    fn preferred(&self, loc: LocId, rendered: String, written: Option<String>) -> Option<String> {
        let rendered = readable(&rendered);
        let origin = self.program.locs.get(loc).map(|loc| loc.origin);
        let is_body = matches!(origin, Some(Origin::Body(_)));
        match (rendered, written) {
            (Some(rendered), Some(written)) => {
                let is_same = !is_body && names(&rendered).is_subset(&names(&written));
                Some(if is_same { written } else { rendered })
            }
            (rendered, written) => rendered.or(written),
        }
    }

    fn switched(
        &self,
        index: usize,
        loc: LocId,
        (value, cases, default): (Operand, &[(ConstId, BlockId)], BlockId),
    ) -> Option<String> {
        let to = self.record.steps[index].to?;
        let ctype = self.renderer(index).ctype(value);
        let number = |id: &ConstId| match &self.program.constants[*id] {
            Const::Int { value, .. } => Some(*value),
            _ => None,
        };
        let here = cases.iter().filter(|(_, target)| *target == to);
        let mut numbers: Vec<i128> = here.filter_map(|(id, _)| number(id)).collect();
        let value = bits(self.program, self.record, index, value);
        numbers.retain(|number| value.is_none_or(|value| value as u32 == *number as u32));
        let labels: Vec<String> = numbers
            .iter()
            .map(|number| {
                let written = self.texts.character_case(self.program, loc, *number);
                let typed = || shown(self.program, ctype, *number as u128);
                written.or_else(typed).unwrap_or_else(|| number.to_string())
            })
            .collect();
        match labels.is_empty() {
            true if to == default => Some("goes to no case but the default".to_owned()),
            true => None,
            false => Some(format!("goes to case {}", labels.join(" or "))),
        }
    }

    fn bind(
        &self,
        index: usize,
        body: &Body,
        (variable, value): (VarId, Operand),
    ) -> Option<String> {
        let (_, loc) = self.step(index);
        let name = body.variables[variable].name.as_ref();
        // What is passed is told where it is passed.
        if name.is_empty() || matches!(value, Operand::Param(_)) && !is_written(self, loc, name) {
            return None;
        }
        let ctype = body.variables[variable].ctype;
        let known = self.known(index, value, ctype).filter(|known| known != "not null");
        let rendered = self.assigned(index, body, value).filter(|text| text != name);
        let written = self.texts.assigned(self.program, loc, name);
        let text = match (rendered, written) {
            (Some(rendered), written) => self.preferred(loc, rendered, written),
            (None, written) => written,
        };
        Some(assignment(name, text, known))
    }

    fn store(&self, index: usize, inst: InstId, ctype: TypeId, value: Operand) -> Option<String> {
        let (step, loc) = self.step(index);
        let body = self.program.functions[step.function].body.as_ref()?;
        if let Operand::Inst(stored) = value
            && matches!(body.insts[stored].op, Op::Uninit { .. })
        {
            return None;
        }
        let renderer = self.renderer(index);
        let place = renderer.accessed_by(inst).unwrap_or_default();
        let place = self.preferred(loc, place, self.texts.accessed(self.program, loc))?;
        let known = self.known(index, value, ctype).filter(|known| known != "not null");
        let written = self.texts.assigned(self.program, loc, &place);
        let text = self.preferred(loc, renderer.expr(value), written);
        Some(assignment(&place, text, known))
    }

    fn call(&self, index: usize, body: &Body, inst: InstId, callee: &str) -> Option<String> {
        let (step, loc) = self.step(index);
        // How the C library knows a digit.
        if callee.starts_with("__ctype_") || self.is_assigned(index, body, inst) {
            return None;
        }
        let renderer = self.renderer(index);
        let rendered = match renderer.variable_of(Operand::Inst(inst)) {
            // By its name it would be told as the variable.
            Some(_) => format!("{callee}(...)"),
            None => renderer.expr(Operand::Inst(inst)),
        };
        let text = self.preferred(loc, rendered, self.texts.call(self.program, loc))?;
        let ctype = body.insts[inst].ctype;
        let result = step.value.and_then(|value| shown(self.program, ctype, value));
        Some(match result {
            Some(result) if result == "not null" => format!("{text} is not null"),
            Some(result) => format!("{text} gives {result}"),
            None => format!("calls {text}"),
        })
    }

    /// A step soon after tells what the result is assigned to.
    fn is_assigned(&self, index: usize, body: &Body, inst: InstId) -> bool {
        let frame = self.record.steps[index].frame;
        let behind = index + 1..self.record.steps.len().min(index + 1 + MAX_BEHIND);
        behind.filter(|later| self.kept.contains(later)).any(|later| {
            let step = &self.record.steps[later];
            // Other calls may be of other functions.
            let own = step.at.inst().filter(|_| step.frame == frame);
            let bound = own.map(|inst| &body.insts[inst].op);
            matches!(bound, Some(Op::Bind { value: Operand::Inst(bound), .. }) if *bound == inst)
        })
    }

    /// The part of `a && b` that a run decided by; `None` where a step before tells it.
    fn joined(&self, index: usize, body: &Body, value: Operand) -> Option<Operand> {
        let step = &self.record.steps[index];
        let Operand::Inst(inst) = value else { return Some(value) };
        let Op::Phi(edges) = &body.insts[inst].op else { return Some(value) };
        let came = self.record.steps[..index].iter().rev().find(|before| {
            before.frame == step.frame && before.to == Some(body.insts[inst].block)
        })?;
        let (_, part) = edges.iter().find(|(from, _)| *from == came.block)?;
        matches!(part, Operand::Inst(_)).then_some(*part)
    }

    /// What a variable is assigned; `None` where only the compiler's own values say.
    fn assigned(&self, index: usize, body: &Body, value: Operand) -> Option<String> {
        let renderer = self.renderer(index);
        let Operand::Inst(inst) = value else { return Some(renderer.expr(value)) };
        match &body.insts[inst].op {
            Op::Phi(_) | Op::Uninit { .. } => None,
            // A variable's own value would be shown by its name.
            Op::Binary { op, lhs, rhs, .. } => {
                let sign = match op {
                    program::BinaryOp::Add => "+",
                    program::BinaryOp::Sub => "-",
                    program::BinaryOp::Mul => "*",
                    _ => return Some(renderer.expr(value)),
                };
                Some(format!("{} {sign} {}", renderer.expr(*lhs), renderer.expr(*rhs)))
            }
            // `p++`, which would be shown as the pointer it starts from.
            Op::Address(address) => match &address.path[..] {
                [PathStep::Index { term: None, constant }] if *constant != 0 => {
                    let sign = if *constant < 0 { '-' } else { '+' };
                    let base = renderer.expr(address.base);
                    Some(format!("{base} {sign} {}", constant.unsigned_abs()))
                }
                [PathStep::Index { term: Some(term), .. }] => {
                    let index = address.terms.get(*term as usize)?.index;
                    Some(format!("{} + {}", renderer.expr(address.base), renderer.expr(index)))
                }
                _ => Some(renderer.expr(value)),
            },
            _ => Some(renderer.expr(value)),
        }
    }

    /// What an instruction reads or writes, as the source calls it.
    pub fn accessed(&self, function: program::FunctionId, point: Point) -> Option<String> {
        let inst = point.inst()?;
        let loc = loc_of(self.program, (function, point));
        let rendered = Renderer::new(self.program, function).accessed_by(inst)?;
        self.preferred(loc, rendered, self.texts.accessed(self.program, loc))
    }
}

fn is_written(notes: &Notes, loc: LocId, name: &str) -> bool {
    notes.texts.assigned(notes.program, loc, name).is_some()
}

/// The block only returns what joins in it.
fn returns_here(body: &Body, block: BlockId, phi: InstId) -> bool {
    let is_phi = matches!(body.insts[phi].op, Op::Phi(_)) && body.insts[phi].block == block;
    let others = body.blocks[block].inst_ids().filter(|inst| *inst != phi).count();
    is_phi && others == 0
}

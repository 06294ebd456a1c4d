//! What each step of a failing run says: the user's own words where the place tells them, else
//! what the program model has, as far as anybody can read it.

use interpret::{Executed, Point};
use program::render::Renderer;
use program::{
    BlockId, Body, CType, Callee, Const, ConstId, InstId, LocId, Op, Operand, Origin, PathStep,
    Predicate, Terminator, TypeId, VarId,
};
use rustc_hash::FxHashSet;

use super::texts::Texts;
use super::values::{Values, literal, result_type, shown};
use super::words::{assignment, names, readable, sign};
use crate::ending::loc_of;
use crate::objects::Objects;

pub struct Notes<'a> {
    pub values: Values<'a>,
    pub texts: &'a Texts,
    /// Steps the property depends on.
    pub kept: FxHashSet<usize>,
    pub objects: &'a Objects<'a>,
    /// The step that ended the life of what the failing one uses.
    pub end: Option<usize>,
}

impl<'a> Notes<'a> {
    /// What a step does, where it is an assignment, a decision or a call that matters.
    pub fn note(&self, index: usize) -> Option<String> {
        let step = &self.values.record.steps[index];
        let body = self.values.program.functions[step.function].body.as_ref()?;
        if !loc_of(self.values.program, (step.function, step.at)).is_known() {
            return None;
        }
        if self.end == Some(index) {
            return self.ended(index, body);
        }
        match step.at {
            Point::End(block) => self.end(index, body, block),
            Point::Inst(inst) => match &body.insts[inst].op {
                Op::Bind { variable, value } => self.bind(index, body, (*variable, *value)),
                Op::Store { access, value } => self.store(index, inst, access.ctype, *value),
                Op::Call(call) => match &call.callee {
                    Callee::Function(id) => self.call(
                        index,
                        body,
                        inst,
                        self.values.program.functions[*id].name.as_ref(),
                    ),
                    _ => self.call(index, body, inst, ""),
                },
                _ => None,
            },
        }
    }

    pub fn step(&self, index: usize) -> (&'a Executed, LocId) {
        let step = &self.values.record.steps[index];
        (step, loc_of(self.values.program, (step.function, step.at)))
    }

    pub fn renderer(&self, index: usize) -> Renderer<'a> {
        Renderer::new(self.values.program, self.values.record.steps[index].function)
    }

    pub fn known(&self, index: usize, value: Operand, ctype: TypeId) -> Option<String> {
        shown(self.values.program, ctype, self.values.bits(index, value)?)
    }

    /// A number without regard to what it stands for.
    pub fn known_number(&self, index: usize, value: Operand) -> Option<String> {
        let ctype = self.renderer(index).ctype(value);
        let bits = self.values.bits(index, value)?;
        match self.values.program.resolved_type(ctype) {
            CType::Int { bits: width, signed: true, .. } => {
                Some(interpret::signed(bits, *width).to_string())
            }
            CType::Int { bits: width, .. } => Some((bits & interpret::mask(*width)).to_string()),
            _ => match value {
                Operand::Const(_) => Some((bits as i128).to_string()),
                _ => shown(self.values.program, ctype, bits),
            },
        }
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
                let text = self.texts.switched(self.values.program, loc);
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
        let result = result_type(self.values.program, self.values.record.steps[index].function);
        let known = self.known(index, value, result);
        let text = self.texts.returned(self.values.program, loc);
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
        let decided = self.texts.decided(self.values.program, loc).filter(|decided| {
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
    pub fn preferred(
        &self,
        loc: LocId,
        rendered: String,
        written: Option<String>,
    ) -> Option<String> {
        let rendered = readable(&rendered);
        let origin = self.values.program.locs.get(loc).map(|loc| loc.origin);
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
        let to = self.values.record.steps[index].to?;
        let ctype = self.renderer(index).ctype(value);
        let number = |id: &ConstId| match &self.values.program.constants[*id] {
            Const::Int { value, .. } => Some(*value),
            _ => None,
        };
        let here = cases.iter().filter(|(_, target)| *target == to);
        let mut numbers: Vec<i128> = here.filter_map(|(id, _)| number(id)).collect();
        let value = self.values.bits(index, value);
        numbers.retain(|number| value.is_none_or(|value| value as u32 == *number as u32));
        let labels: Vec<String> = numbers
            .iter()
            .map(|number| {
                let written = self.texts.character_case(self.values.program, loc, *number);
                let typed = || shown(self.values.program, ctype, *number as u128);
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
        let known = self.character(index, value);
        let known = known.or_else(|| self.known(index, value, ctype));
        let known = known.filter(|known| known != "not null");
        let rendered = self.assigned(index, body, value).filter(|text| text != name);
        let written = self.texts.assigned(self.values.program, loc, name);
        let text = match (rendered, written) {
            (Some(rendered), written) => self.preferred(loc, rendered, written),
            (None, written) => written,
        };
        Some(assignment(name, text, known))
    }

    /// A character that an `int` holds: one that was read, or converted.
    fn character(&self, index: usize, value: Operand) -> Option<String> {
        let (at, Operand::Inst(inst)) = self.values.source(index, value)? else { return None };
        let function = self.values.record.steps[at].function;
        let body = self.values.program.functions[function].body.as_ref()?;
        let is_character = match &body.insts[inst].op {
            Op::Convert(conversion) => {
                let from = self.values.program.resolved_type(conversion.from);
                matches!(from, CType::Int { name, .. } if name.ends_with("char"))
            }
            Op::Call(call) => match &call.callee {
                Callee::Function(id) => matches!(
                    &*self.values.program.functions[*id].name,
                    "getchar" | "getc" | "fgetc" | "toupper" | "tolower"
                ),
                _ => false,
            },
            _ => false,
        };
        let bits = self.values.bits(index, value).filter(|_| is_character)?;
        u8::try_from(bits).ok().and_then(literal)
    }

    fn store(&self, index: usize, inst: InstId, ctype: TypeId, value: Operand) -> Option<String> {
        let (step, loc) = self.step(index);
        let body = self.values.program.functions[step.function].body.as_ref()?;
        if let Operand::Inst(stored) = value
            && matches!(body.insts[stored].op, Op::Uninit { .. })
        {
            return None;
        }
        let renderer = self.renderer(index);
        let place = renderer.accessed_by(inst).unwrap_or_default();
        let place = self.preferred(loc, place, self.texts.accessed(self.values.program, loc))?;
        let known = self.known(index, value, ctype).filter(|known| known != "not null");
        let written = self.texts.assigned(self.values.program, loc, &place);
        let text = self.preferred(loc, renderer.expr(value), written);
        Some(assignment(&place, text, known))
    }

    /// The part of `a && b` that a run decided by; `None` where a step before tells it.
    fn joined(&self, index: usize, body: &Body, value: Operand) -> Option<Operand> {
        let step = &self.values.record.steps[index];
        let Operand::Inst(inst) = value else { return Some(value) };
        let Op::Phi(edges) = &body.insts[inst].op else { return Some(value) };
        let came = self.values.record.steps[..index].iter().rev().find(|before| {
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
        let loc = loc_of(self.values.program, (function, point));
        let rendered = Renderer::new(self.values.program, function).accessed_by(inst)?;
        self.preferred(loc, rendered, self.texts.accessed(self.values.program, loc))
    }
}

fn is_written(notes: &Notes, loc: LocId, name: &str) -> bool {
    notes.texts.assigned(notes.values.program, loc, name).is_some()
}

/// The block only returns what joins in it.
fn returns_here(body: &Body, block: BlockId, phi: InstId) -> bool {
    let is_phi = matches!(body.insts[phi].op, Op::Phi(_)) && body.insts[phi].block == block;
    let others = body.blocks[block].inst_ids().filter(|inst| *inst != phi).count();
    is_phi && others == 0
}

//! Error traces as the paper's Fig 3 shows them: assignments and decisions with their values,
//! and the check that fails at the end.

use std::collections::BTreeSet;

use findings::{Place, Step};
use interpret::Record;
use program::render::Renderer;
use program::{FunctionId, InstId, LocId, Op, Operand, PathStep, Program, Terminator};

use crate::ending::{Property, loc_of};
use crate::slice::{Slice, slice};

/// A failing run, told step by step.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Assignments, decisions, and the failing check last.
    pub steps: Vec<Step>,
    /// Lines the property depends on, by file of the program.
    pub sliced: BTreeSet<(String, u32)>,
    /// All lines the run came to.
    pub executed: BTreeSet<(String, u32)>,
    /// How many steps the run took.
    pub n_executed: usize,
    pub violated: Option<Property>,
}

pub fn trace(program: &Program, record: &Record, property: Property, message: &str) -> Trace {
    let (n_executed, violated) = (record.steps.len(), Some(property));
    let mut trace = Trace { n_executed, violated, ..Trace::default() };
    for step in &record.steps {
        trace.executed.extend(line(program, loc_of(program, (step.function, step.inst))));
    }
    let Some(slice) = slice(program, record) else { return trace };
    for index in &slice.steps {
        let step = &record.steps[*index];
        trace.sliced.extend(line(program, loc_of(program, (step.function, step.inst))));
    }
    trace.steps = steps(program, record, &slice, property, message);
    trace
}

fn steps(
    program: &Program,
    record: &Record,
    slice: &Slice,
    property: Property,
    message: &str,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let outermost = record.steps.iter().map(|step| step.depth).min().unwrap_or(0);
    for &index in &slice.steps {
        let note = if index == slice.failing {
            let word = if property == Property::Assertion { "" } else { "check fails: " };
            Some(format!("{word}{message}"))
        } else {
            note(program, record, index)
        };
        let Some(note) = note else { continue };
        let step = &record.steps[index];
        let loc = loc_of(program, (step.function, step.inst));
        let place = place(program, loc, step.function);
        let depth = step.depth - outermost;
        let impact = index == slice.failing;
        let next = Step { place, note, impact, depth };
        if steps.last() != Some(&next) {
            steps.push(next);
        }
    }
    steps
}

/// What a step does, where it is an assignment, a decision or a call that matters.
fn note(program: &Program, record: &Record, index: usize) -> Option<String> {
    let step = &record.steps[index];
    let body = program.functions[step.function].body.as_ref()?;
    let mut renderer = Renderer::new(program, step.function);
    let block = &body.blocks[step.block];
    if step.inst == block.end {
        return match &block.terminator {
            Terminator::Branch { condition, then, .. } => {
                let holds = if step.to == Some(*then) { "true" } else { "false" };
                let condition = joined(program, record, index, *condition)?;
                Some(format!("condition ({}) is {holds}", renderer.expr(condition)))
            }
            Terminator::Switch { value, .. } => {
                let known = value_of(record, index, *value);
                Some(format!("switch ({}) is {}", renderer.expr(*value), known?))
            }
            Terminator::Return(Some(value)) => {
                let known = value_of(record, index, *value).map(|v| format!(", which is {v}"));
                Some(format!("return {}{}", renderer.expr(*value), known.unwrap_or_default()))
            }
            _ => None,
        };
    }
    let loc = body.insts[step.inst].loc;
    match &body.insts[step.inst].op {
        Op::Bind { variable, value } if loc.is_known() => {
            let name = &body.variables[*variable].name;
            if name.is_empty() {
                return None;
            }
            let known = match (value, constant(program, *value)) {
                (_, Some(number)) => Some(number),
                _ => shown(
                    program,
                    body.variables[*variable].ctype,
                    value_bits(record, index, *value),
                ),
            };
            let text = assigned(program, step.function, *value, &mut renderer);
            Some(match (text, known) {
                (Some(text), Some(known)) if text != known => {
                    format!("{name} = {text}: {name} is {known}")
                }
                (_, Some(known)) => format!("{name} = {known}"),
                (Some(text), None) => format!("{name} = {text}"),
                (None, None) => format!("{name} is assigned"),
            })
        }
        Op::Store { access, value } => {
            let place = renderer.accessed_by(step.inst).unwrap_or_default();
            if let Operand::Inst(inst) = value
                && matches!(body.insts[*inst].op, Op::Uninit { .. })
            {
                return None;
            }
            let known = constant(program, *value)
                .or_else(|| shown(program, access.ctype, value_bits(record, index, *value)));
            let text = renderer.expr(*value);
            Some(match known {
                Some(known) if known != text => format!("{place} = {text}: {place} is {known}"),
                _ => format!("{place} = {text}"),
            })
        }
        Op::Call(_) => {
            let text = renderer.expr(Operand::Inst(step.inst));
            let result = shown(program, body.insts[step.inst].ctype, step.value);
            Some(match result {
                Some(result) => format!("{text} gives {result}"),
                None => format!("calls {text}"),
            })
        }
        _ => None,
    }
}

/// The part of `a && b` that a run decided by; `None` where a step before tells it.
fn joined(program: &Program, record: &Record, index: usize, value: Operand) -> Option<Operand> {
    let step = &record.steps[index];
    let body = program.functions[step.function].body.as_ref()?;
    let Operand::Inst(inst) = value else { return Some(value) };
    let Op::Phi(edges) = &body.insts[inst].op else { return Some(value) };
    let came = record.steps[..index]
        .iter()
        .rev()
        .find(|before| before.frame == step.frame && before.to == Some(body.insts[inst].block))?;
    let (_, part) = edges.iter().find(|(from, _)| *from == came.block)?;
    matches!(part, Operand::Inst(_)).then_some(*part)
}

/// What a variable is assigned; `None` where only the compiler's own values say.
fn assigned(
    program: &Program,
    function: FunctionId,
    value: Operand,
    renderer: &mut Renderer,
) -> Option<String> {
    let Operand::Inst(inst) = value else { return Some(renderer.expr(value)) };
    let body = program.functions[function].body.as_ref()?;
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
                Some(format!("{} {sign} {}", renderer.expr(address.base), constant.unsigned_abs()))
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
pub fn accessed(program: &Program, (function, inst): (FunctionId, InstId)) -> Option<String> {
    program.functions.get(function)?.body.as_ref()?.insts.get(inst)?;
    Renderer::new(program, function).accessed_by(inst)
}

fn constant(program: &Program, value: Operand) -> Option<String> {
    let Operand::Const(id) = value else { return None };
    match &program.constants[id] {
        program::Const::Int { value, .. } => Some(value.to_string()),
        program::Const::Null => Some("NULL".to_owned()),
        _ => None,
    }
}

/// The bits an operand had last before a step of its frame.
fn value_bits(record: &Record, index: usize, value: Operand) -> Option<u128> {
    let Operand::Inst(inst) = value else { return None };
    let frame = record.steps[index].frame;
    let earlier = record.steps[..index].iter().rev().take(20_000);
    earlier.filter(|step| step.frame == frame).find(|step| step.inst == inst)?.value
}

fn value_of(record: &Record, index: usize, value: Operand) -> Option<String> {
    value_bits(record, index, value).map(|bits| (bits as u32 as i32).to_string())
}

/// A number as its type shows it; pointers only where they are null.
fn shown(program: &Program, ctype: program::TypeId, bits: Option<u128>) -> Option<String> {
    let bits = bits?;
    match program.resolved_type(ctype) {
        program::CType::Int { bits: width, signed, .. }
        | program::CType::Enum { bits: width, signed, .. } => {
            let unused = 128 - (*width).clamp(1, 128);
            let number = (bits << unused) as i128 >> unused;
            let unsigned = (bits << unused) >> unused;
            Some(if *signed { number.to_string() } else { unsigned.to_string() })
        }
        program::CType::Pointer(_) if bits == 0 => Some("NULL".to_owned()),
        program::CType::Bool => Some((bits & 1).to_string()),
        _ => None,
    }
}

pub fn place(program: &Program, loc: LocId, function: FunctionId) -> Place {
    let name = program.functions[function].name.to_string();
    match program.locs.get(loc).filter(|_| loc.is_known()) {
        Some(loc) => Place {
            file: program.files.get(loc.file).map(|f| f.path.clone()).unwrap_or_default(),
            line: loc.line,
            column: loc.column,
            function: name,
        },
        None => Place { function: name, ..Place::default() },
    }
}

fn line(program: &Program, loc: LocId) -> Option<(String, u32)> {
    let loc = program.locs.get(loc).filter(|l| loc.is_known() && l.line > 0)?;
    Some((program.files.get(loc.file)?.path.clone(), loc.line))
}

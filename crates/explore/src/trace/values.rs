//! Values of a run as people read them. Addresses of the interpreter mean nothing to anybody.

use interpret::{Executed, Point, Record};
use program::{CType, Const, Op, Operand, Program, TypeId};
use rustc_hash::FxHashMap;

/// How many steps back a value is looked for.
const MAX_BACK: usize = 20_000;

/// How many joins a value is followed through.
const MAX_JOINS: u32 = 8;

/// The values of a run.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    pub program: &'a Program,
    pub record: &'a Record,
    /// The step that called each frame.
    pub callers: &'a FxHashMap<u32, usize>,
}

impl Values<'_> {
    /// The bits an operand had last before a step of its frame.
    pub fn bits(&self, index: usize, value: Operand) -> Option<u128> {
        let Values { program, record, .. } = *self;
        match self.source(index, value)? {
            (_, Operand::Const(id)) => match &program.constants[id] {
                Const::Global { global, offset } => {
                    let (base, _) = record.globals.iter().find(|(_, id)| id == global)?;
                    Some(u128::from(base.wrapping_add_signed(*offset)))
                }
                constant => constant_bits(constant),
            },
            (index, Operand::Inst(inst)) => {
                let frame = record.steps[index].frame;
                let before = record.steps[..index].iter().rev().take(MAX_BACK);
                let mut own = before.filter(|before| before.frame == frame);
                own.find(|before| before.at == Point::Inst(inst))?.value
            }
            (_, Operand::Param(at)) => record.arguments.get(at as usize).copied().flatten(),
        }
    }

    /// Where a value comes from that was passed on and joined on the way: an operand, and a step
    /// that uses it.
    pub fn source(&self, index: usize, value: Operand) -> Option<(usize, Operand)> {
        let Values { program, record, callers } = *self;
        let (mut index, mut value) = (index, value);
        for _ in 0..MAX_JOINS {
            let step = &record.steps[index];
            let inst = match value {
                Operand::Inst(inst) => inst,
                Operand::Const(_) => return Some((index, value)),
                Operand::Param(at) => {
                    let Some(&call) = callers.get(&step.frame) else {
                        return Some((index, value));
                    };
                    value = *call_args(program, &record.steps[call])?.get(at as usize)?;
                    index = call;
                    continue;
                }
            };
            let body = program.functions[step.function].body.as_ref()?;
            let Op::Phi(edges) = &body.insts[inst].op else { return Some((index, value)) };
            // What joined is what it was where the run came from.
            let to = body.insts[inst].block;
            let came = record.steps[..index]
                .iter()
                .rposition(|before| before.frame == step.frame && before.to == Some(to))?;
            let (_, joined) = edges.iter().find(|(from, _)| *from == record.steps[came].block)?;
            (index, value) = (came, *joined);
        }
        None
    }
}

fn call_args<'a>(program: &'a Program, step: &Executed) -> Option<&'a [Operand]> {
    let body = program.functions[step.function].body.as_ref()?;
    match &body.insts[step.at.inst()?].op {
        Op::Call(call) => Some(&call.args),
        _ => None,
    }
}

fn constant_bits(constant: &Const) -> Option<u128> {
    match constant {
        Const::Int { value, .. } => Some(*value as u128),
        Const::Null => Some(0),
        Const::Float { bits: 64, as_f64_bits, .. } => Some(u128::from(*as_f64_bits)),
        Const::Float { bits: 32, as_f64_bits, .. } => {
            Some(u128::from((f64::from_bits(*as_f64_bits) as f32).to_bits()))
        }
        _ => None,
    }
}

/// A value as its type shows it: enumerators and characters by name; of pointers only whether
/// they are null.
pub fn shown(program: &Program, ctype: TypeId, bits: u128) -> Option<String> {
    let number = |width: u32, signed: bool| -> i128 {
        let unused = 128 - width.clamp(1, 127);
        if signed {
            (bits << unused) as i128 >> unused
        } else {
            ((bits << unused) >> unused) as i128
        }
    };
    match program.resolved_type(ctype) {
        CType::Enum { bits, signed, enumerators, .. } => {
            let number = number(*bits, *signed);
            let known = enumerators.iter().find(|(_, value)| i128::from(*value) == number);
            Some(known.map_or_else(|| number.to_string(), |(name, _)| name.to_string()))
        }
        CType::Int { name, bits, signed } => {
            let number = number(*bits, *signed);
            let character = u8::try_from(number).ok().filter(|_| name.ends_with("char"));
            Some(character.and_then(literal).unwrap_or_else(|| number.to_string()))
        }
        CType::Pointer(_) if bits == 0 => Some("NULL".to_owned()),
        CType::Pointer(_) => Some("not null".to_owned()),
        CType::Bool => Some((bits & 1).to_string()),
        CType::Float { bits: width, .. } => {
            interpret::decode_float(bits, *width).map(|number| number.to_string())
        }
        _ => None,
    }
}

/// A character as C writes it, where it has a picture.
pub fn literal(byte: u8) -> Option<String> {
    match byte {
        0 => Some("'\\0'".to_owned()),
        b'\n' => Some("'\\n'".to_owned()),
        b'\t' => Some("'\\t'".to_owned()),
        b'\'' | b'\\' => Some(format!("'\\{}'", byte as char)),
        b' '..=b'~' => Some(format!("'{}'", byte as char)),
        _ => None,
    }
}

/// The type a function returns.
pub fn result_type(program: &Program, function: program::FunctionId) -> TypeId {
    match program.resolved_type(program.functions[function].ctype) {
        CType::Function { result, .. } => *result,
        _ => TypeId::UNKNOWN,
    }
}

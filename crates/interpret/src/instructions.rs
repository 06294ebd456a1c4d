//! What each instruction does.

use program::{Access, Conversion, ConversionKind, InstId, Op, Operand, Ty};

use crate::arithmetic::{binary, compare, width};
use crate::exec::{Frame, Machine};
use crate::value::{Bits, Value, mask, signed};
use crate::{FaultKind, Stop, float};

impl<'p> Machine<'p> {
    pub(crate) fn step(&mut self, frame: &mut Frame<'p>, id: InstId) -> Result<(), Stop> {
        self.steps = self.steps.checked_sub(1).ok_or(Stop::OutOfSteps)?;
        let inst = &frame.body.insts[id];
        let value = match &inst.op {
            Op::Alloca { size, count, .. } => {
                let count = match count {
                    Some(count) => Some(self.decided(frame, *count)?),
                    None => None,
                };
                self.alloca(frame, id, *size, count)?
            }
            Op::Uninit { .. } => self.unset_variable(inst.ty)?.into(),
            Op::UninitMemory { ptr, size, .. } => {
                let pointer = self.pointer(frame, *ptr)?;
                self.memory.forget(pointer, *size)?;
                return Ok(());
            }
            Op::Load(access) => self.load(frame, access, inst.ty)?,
            Op::Store { access, value } => {
                let value = self.operand(frame, *value)?;
                self.store(frame, access, &value)?;
                return Ok(());
            }
            Op::Address(address) => self.address_of(frame, address)?.into(),
            Op::Binary { op, lhs, rhs, no_signed_wrap, .. } => {
                let operands = (self.bits(frame, *lhs)?, self.bits(frame, *rhs)?);
                match binary(*op, inst.ty, operands, *no_signed_wrap) {
                    Ok(result) => {
                        self.shadow_binary(*op, inst.ty, operands, *no_signed_wrap, result).into()
                    }
                    Err(stop) => self.wraps(frame, id, &stop).ok_or(stop)?.into(),
                }
            }
            Op::Negate(value) => {
                let (bits, width) = (self.bits(frame, *value)?, width(inst.ty)?);
                Bits {
                    bits: bits.bits ^ 1 << (width - 1) & !bits.unset,
                    unset: bits.unset,
                    word: None,
                }
                .into()
            }
            Op::Compare { predicate, lhs, rhs } => {
                let (left, right) = (self.bits(frame, *lhs)?, self.bits(frame, *rhs)?);
                // A null pointer constant may stand on either side.
                let ty = self.ty(frame, *lhs);
                let result = compare(*predicate, ty, left, right)?;
                self.shadow_compare(*predicate, ty, (left, right), result).into()
            }
            Op::Convert(conversion) => self.convert(frame, conversion, inst.ty)?.into(),
            Op::Select { condition, then, otherwise } => {
                let condition = self.settled(frame, *condition)?;
                let sides = (self.operand(frame, *then)?, self.operand(frame, *otherwise)?);
                self.select(condition, sides, inst.ty)
            }
            // The entry block has no predecessors and other blocks set theirs on entry.
            Op::Phi(_) | Op::Bind { .. } | Op::Fence => return Ok(()),
            Op::Call(call) => self.call(frame, id, call)?,
            Op::MemCopy { to, from, size, .. } => {
                let (to, from) = (self.settled(frame, *to)?, self.settled(frame, *from)?);
                let size = self.settled(frame, *size)?;
                self.copy_bytes(to, from, size)?;
                return Ok(());
            }
            Op::MemSet { to, byte, size, .. } => {
                let (to, byte) = (self.settled(frame, *to)?, self.settled(frame, *byte)?);
                let size = self.settled(frame, *size)?;
                self.fill_bytes(to, size, byte)?;
                return Ok(());
            }
            Op::AtomicUpdate { access, op, value } => {
                let old = self.load(frame, access, inst.ty)?;
                let operands = (self.scalar(&old)?, self.bits(frame, *value)?);
                let new = update(op, inst.ty, operands)?;
                self.store(frame, access, &new.into())?;
                old
            }
            Op::CompareExchange { access, expected, new } => {
                self.compare_exchange(frame, access, *expected, *new)?
            }
            Op::Extract { aggregate, indices } => {
                let mut value = self.operand(frame, *aggregate)?;
                for index in indices {
                    value = part(value, *index);
                }
                match value {
                    Value::Bits(bits) => self.low(bits, width(inst.ty)?).into(),
                    parts => parts,
                }
            }
            Op::Insert { aggregate, element, indices } => {
                let element = self.operand(frame, *element)?;
                insert(self.operand(frame, *aggregate)?, element, indices)
            }
            Op::Asm { .. } => return Err(Stop::Unsupported("inline assembler".into())),
            Op::Opaque { name, .. } => return Err(Stop::Unsupported(format!("operation {name}"))),
        };
        frame.values[id] = value;
        Ok(())
    }

    fn alloca(
        &mut self,
        frame: &mut Frame<'p>,
        id: InstId,
        size: u64,
        count: Option<u128>,
    ) -> Result<Value, Stop> {
        let address = match (count, frame.storage.get(&id)) {
            (None, Some(address)) => *address,
            _ => {
                let count = u64::try_from(count.unwrap_or(1)).map_err(|_| Stop::OutOfSteps)?;
                let size = size.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                self.memory.allocate(size, false)?
            }
        };
        frame.storage.insert(id, address);
        frame.locals.push(address);
        Ok(Value::known(u128::from(address)))
    }

    pub(crate) fn pointer(&self, frame: &Frame<'p>, pointer: Operand) -> Result<u64, Stop> {
        self.address(&self.operand(frame, pointer)?)
    }

    pub(crate) fn scalar(&self, value: &Value) -> Result<Bits, Stop> {
        value.bits().ok_or_else(|| Stop::Unsupported("an aggregate in an operation".into()))
    }

    fn compare_exchange(
        &mut self,
        frame: &Frame<'p>,
        access: &Access,
        expected: Operand,
        new: Operand,
    ) -> Result<Value, Stop> {
        let ty = self.ty(frame, new);
        let old = self.load(frame, access, ty)?;
        let expected = self.decided(frame, expected)?;
        let old_bits = self.scalar(&old)?;
        let is_equal = old_bits.with_word(None) == Bits::known(expected);
        if is_equal {
            let new = self.operand(frame, new)?;
            self.store(frame, access, &new)?;
        }
        Ok(Value::Parts(vec![old, Value::known(u128::from(is_equal))]))
    }

    fn convert(&mut self, frame: &Frame<'p>, c: &Conversion, ty: Ty) -> Result<Bits, Stop> {
        let value = self.bits(frame, c.value)?;
        let result = self.converted(frame, c, ty, value)?;
        Ok(self.shadow_convert(c, width(ty)?, value, result))
    }

    fn converted(
        &self,
        frame: &Frame<'p>,
        c: &Conversion,
        ty: Ty,
        value: Bits,
    ) -> Result<Bits, Stop> {
        use ConversionKind::*;
        let (from, to) = (width(self.ty(frame, c.value))?, width(ty)?);
        if let Some(kept) = c.bit_field_width {
            let is_signed = self.program.is_signed(c.to) == Some(true);
            let low = value.low(kept);
            return Ok(if is_signed { low.sign_extended(kept, to) } else { low });
        }
        match c.kind {
            SignChange | Bits | ZeroExtend | Truncate | PointerToInt | IntToPointer => {
                return Ok(value.low(to));
            }
            SignExtend => return Ok(value.sign_extended(from, to)),
            _ if !value.is_known() => return Ok(crate::Bits::unset(to)),
            _ => {}
        }
        let number = || float::decode(value.bits, from);
        let bits = match c.kind {
            FloatToUnsigned => number().map(|number| number as u128),
            FloatToSigned => number().map(|number| number as i128 as u128),
            UnsignedToFloat => unsigned_to_float(value.bits, to),
            SignedToFloat => signed_to_float(signed(value.bits, from), to),
            _ => number().and_then(|number| float::encode(number, to)),
        };
        let bits = bits.ok_or_else(|| Stop::Unsupported(format!("{:?} to {ty:?}", c.kind)))?;
        Ok(crate::Bits::known(bits & mask(to)))
    }
}

/// Rounded once, to the format it ends in.
fn unsigned_to_float(number: u128, width: u32) -> Option<u128> {
    match width {
        32 => Some(u128::from((number as f32).to_bits())),
        _ => float::encode(number as f64, width),
    }
}

fn signed_to_float(number: i128, width: u32) -> Option<u128> {
    match width {
        32 => Some(u128::from((number as f32).to_bits())),
        _ => float::encode(number as f64, width),
    }
}

/// Parts of an aggregate in registers are what one register holds each: eight bytes, or an
/// extended number.
pub(crate) fn part_bytes(bytes: u64) -> u64 {
    if bytes > 16 { 16 } else { 8 }
}

fn part(value: Value, index: u32) -> Value {
    match value {
        Value::Parts(mut parts) if (index as usize) < parts.len() => {
            parts.swap_remove(index as usize)
        }
        _ => Bits::unset(128).into(),
    }
}

fn insert(aggregate: Value, element: Value, indices: &[u32]) -> Value {
    let Some((first, rest)) = indices.split_first() else { return element };
    let mut parts = match aggregate {
        Value::Parts(parts) => parts,
        Value::Bits(_) => Vec::new(),
    };
    while parts.len() <= *first as usize {
        parts.push(Bits::unset(128).into());
    }
    let old = std::mem::replace(&mut parts[*first as usize], Value::Parts(Vec::new()));
    parts[*first as usize] = insert(old, element, rest);
    Value::Parts(parts)
}

/// The new value of an atomic update.
fn update(op: &str, ty: Ty, (old, value): (Bits, Bits)) -> Result<Bits, Stop> {
    use program::BinaryOp::*;
    let operator = match op {
        "xchg" => return Ok(value),
        "add" => Add,
        "sub" => Sub,
        "and" => And,
        "or" => Or,
        "xor" => Xor,
        "nand" => {
            let both = binary(And, ty, (old, value), false)?;
            return binary(Xor, ty, (both, Bits::known(mask(width(ty)?))), false);
        }
        "fadd" => FloatAdd,
        "fsub" => FloatSub,
        "max" | "min" | "umax" | "umin" => return extreme(op, ty, old, value),
        _ => return Err(Stop::Unsupported(format!("atomic {op}"))),
    };
    binary(operator, ty, (old, value), false)
}

fn extreme(op: &str, ty: Ty, old: Bits, value: Bits) -> Result<Bits, Stop> {
    if !old.is_known() || !value.is_known() {
        return Err(Stop::Fault(FaultKind::Uninitialised));
    }
    let width = width(ty)?;
    let key = |side: Bits| match op {
        "max" | "min" => signed(side.bits, width),
        _ => side.bits as i128,
    };
    let is_greater = key(value) > key(old);
    Ok(if is_greater == op.ends_with("max") { value } else { old })
}

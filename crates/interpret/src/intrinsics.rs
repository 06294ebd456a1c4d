//! Builtins of the compiler, by LLVM's names.

use program::{BinaryOp, InstId, Ty};

use crate::arithmetic::{binary, width};
use crate::exec::{Frame, Machine};
use crate::value::{Bits, Value, mask, signed};
use crate::varargs::LIST_BYTES;
use crate::{FaultKind, Stop, float};

impl<'p> Machine<'p> {
    pub(crate) fn intrinsic(
        &mut self,
        frame: &Frame<'p>,
        inst: InstId,
        name: &str,
        arguments: &[Value],
        tys: &[Ty],
    ) -> Result<Value, Stop> {
        let unknown = || Stop::Unsupported(format!("the builtin {name}"));
        let bits = |index: usize| match arguments.get(index).and_then(Value::bits) {
            Some(bits) if bits.is_known() => Ok(bits.bits),
            Some(_) => Err(Stop::Fault(FaultKind::Uninitialised)),
            None => Err(unknown()),
        };
        let nothing = Value::Bits(Bits::unset(128));
        let stem = name.split('.').next().unwrap_or(name);
        match stem {
            "va_start" => {
                self.start_list(bits(0)? as u64, frame.variable_arguments)?;
                return Ok(nothing);
            }
            "va_copy" => {
                self.memory.copy(bits(0)? as u64, bits(1)? as u64, LIST_BYTES)?;
                return Ok(nothing);
            }
            "va_end" | "assume" | "prefetch" => return Ok(nothing),
            "trap" | "debugtrap" | "ubsantrap" => return Err(Stop::Abort),
            _ => {}
        }
        let width = width(tys.first().copied().ok_or_else(unknown)?)?;
        if name.contains(".with.overflow.") {
            return with_overflow(stem, width, bits(0)?, bits(1)?).ok_or_else(unknown);
        }
        if let Some(Ty::Float(_)) = tys.first() {
            let number = |index: usize| float::decode(bits(index)?, width).ok_or_else(unknown);
            let result = match stem {
                "fabs" => number(0)?.abs(),
                "sqrt" => number(0)?.sqrt(),
                "floor" => number(0)?.floor(),
                "ceil" => number(0)?.ceil(),
                "trunc" => number(0)?.trunc(),
                "copysign" => number(0)?.copysign(number(1)?),
                "fmuladd" => number(0)? * number(1)? + number(2)?,
                _ => return Err(unknown()),
            };
            return Ok(Value::known(float::encode(result, width).ok_or_else(unknown)?));
        }
        let result_width = crate::arithmetic::width(frame.body.insts[inst].ty)?;
        let result = integer(stem, width, bits).transpose().ok_or_else(unknown)??;
        Ok(Value::known(result & mask(result_width)))
    }
}

/// A builtin of integers; `None` where it is not known.
fn integer(
    stem: &str,
    width: u32,
    bits: impl Fn(usize) -> Result<u128, Stop>,
) -> Result<Option<u128>, Stop> {
    let a = bits(0)?;
    Ok(Some(match stem {
        "ptrmask" => a & bits(1)?,
        "bswap" => a.swap_bytes() >> (128 - width),
        "bitreverse" => a.reverse_bits() >> (128 - width),
        "ctpop" => u128::from(a.count_ones()),
        "ctlz" => u128::from(a.leading_zeros() - (128 - width)),
        "cttz" => u128::from(a.trailing_zeros().min(width)),
        "abs" => signed(a, width).unsigned_abs(),
        "smax" => signed(a, width).max(signed(bits(1)?, width)) as u128,
        "smin" => signed(a, width).min(signed(bits(1)?, width)) as u128,
        "umax" => a.max(bits(1)?),
        "umin" => a.min(bits(1)?),
        "fshl" | "fshr" => rotate(stem, width, a, bits(1)?, bits(2)?),
        _ => return Ok(None),
    }))
}

/// A shift of two words as one.
fn rotate(stem: &str, width: u32, high: u128, low: u128, by: u128) -> u128 {
    let by = (by % u128::from(width)) as u32;
    match (stem, by) {
        ("fshl", 0) => high,
        (_, 0) => low,
        ("fshl", _) => high << by | low >> (width - by),
        _ => low >> by | high << (width - by),
    }
}

/// The wrapped result, and whether it wrapped.
fn with_overflow(stem: &str, width: u32, a: u128, b: u128) -> Option<Value> {
    let op = match &stem[1..] {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "mul" => BinaryOp::Mul,
        _ => return None,
    };
    let operands = (Bits::known(a), Bits::known(b));
    let wrapped = binary(op, Ty::Int(width), operands, false).ok()?;
    let overflows = if stem.starts_with('s') {
        binary(op, Ty::Int(width), operands, true).is_err()
    } else {
        match op {
            BinaryOp::Add => wrapped.bits < a,
            BinaryOp::Sub => a < b,
            _ => a.checked_mul(b).is_none_or(|product| product > mask(width)),
        }
    };
    Some(Value::Parts(vec![wrapped.into(), Value::known(u128::from(overflows))]))
}

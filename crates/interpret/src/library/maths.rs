//! `math.h`, on numbers that are what they are on this run.

use super::{Given, Known, int};
use crate::exec::Machine;
use crate::value::{Bits, Value};
use crate::{Stop, float};

impl Machine<'_> {
    pub(crate) fn call_math(&mut self, name: &str, given: &Given) -> Known {
        let plain = name.trim_start_matches('_');
        let stems = [
            Some((plain, 64)),
            plain.strip_suffix('f').map(|stem| (stem, 32)),
            plain.strip_suffix('l').map(|stem| (stem, 80)),
        ];
        for (stem, width) in stems.into_iter().flatten() {
            let result = self.math(stem, width, given)?;
            if result.is_some() {
                return Ok(result);
            }
        }
        Ok(None)
    }

    fn math(&mut self, stem: &str, width: u32, given: &Given) -> Known {
        if stem == "difftime" {
            let (end, start) = (given.bits(0)?, given.bits(1)?);
            let (end, start) = (self.pinned(end) as i64, self.pinned(start) as i64);
            return encoded(end.wrapping_sub(start) as f64, width);
        }
        if let Some(function) = unary(stem) {
            return encoded(function(self.number(given, 0, width)?), width);
        }
        if let Some(function) = binary(stem) {
            let (a, b) = (self.number(given, 0, width)?, self.number(given, 1, width)?);
            return encoded(function(a, b), width);
        }
        if let Some(result) = self.math_integer(stem, width, given)? {
            return Ok(Some(result));
        }
        match stem {
            "fma" => {
                let (a, b) = (self.number(given, 0, width)?, self.number(given, 1, width)?);
                encoded(a.mul_add(b, self.number(given, 2, width)?), width)
            }
            "ldexp" | "scalbn" | "scalbln" => {
                let (number, by) = (self.number(given, 0, width)?, given.bits(1)?);
                let by = crate::value::signed(self.pinned(by), 32).clamp(-2200, 2200) as i32;
                // In steps, since the power alone may lie outside what a double can hold.
                let scaled = number * 2f64.powi(by / 3) * 2f64.powi(by / 3);
                encoded(scaled * 2f64.powi(by - by / 3 * 2), width)
            }
            "frexp" => {
                let (number, to) = (self.number(given, 0, width)?, self.place(given, 1)?);
                let (fraction, exponent) = split(number);
                self.memory.store(to, 4, Bits::known(u128::from(exponent as u32)))?;
                encoded(fraction, width)
            }
            "modf" => {
                let (number, to) = (self.number(given, 0, width)?, self.place(given, 1)?);
                let size = if width == 80 { 10 } else { u64::from(width / 8) };
                let whole = float::encode(number.trunc(), width).unwrap_or(0);
                self.memory.store(to, size, Bits::known(whole))?;
                let rest = if number.is_infinite() { 0.0 } else { number.fract() };
                encoded(rest.copysign(number), width)
            }
            _ => Ok(None),
        }
    }

    /// Functions of a number whose result is an integer.
    fn math_integer(
        &mut self,
        stem: &str,
        width: u32,
        given: &Given,
    ) -> Result<Option<Option<Value>>, Stop> {
        let rounded: fn(f64) -> f64 = match stem {
            "lround" | "llround" => f64::round,
            "lrint" | "llrint" => f64::round_ties_even,
            "isnan" | "isinf" | "finite" | "signbit" | "fpclassify" | "ilogb" => f64::abs,
            _ => return Ok(None),
        };
        let number = self.number(given, 0, width)?;
        match stem {
            "isnan" => int(number.is_nan().into()),
            "isinf" if number.is_infinite() => int(if number > 0.0 { 1 } else { -1 }),
            "isinf" => int(0),
            "finite" => int(number.is_finite().into()),
            "signbit" => int(number.is_sign_negative().into()),
            "fpclassify" => int(match number.classify() {
                std::num::FpCategory::Nan => 0,
                std::num::FpCategory::Infinite => 1,
                std::num::FpCategory::Zero => 2,
                std::num::FpCategory::Subnormal => 3,
                std::num::FpCategory::Normal => 4,
            }),
            "ilogb" if number.is_finite() && number != 0.0 => int(split(number).1 - 1),
            "ilogb" => Err(Stop::Unsupported("ilogb of no number".to_owned())),
            _ => Ok(Some(Some(Value::known(u128::from(rounded(number) as i64 as u64))))),
        }
    }

    /// An argument that is a floating-point number.
    fn number(&mut self, given: &Given, index: usize, width: u32) -> Result<f64, Stop> {
        let value = given.bits(index)?;
        let bits = self.pinned(value);
        float::decode(bits, width)
            .ok_or_else(|| Stop::Unsupported(format!("a number of {width} bits")))
    }
}

fn encoded(number: f64, width: u32) -> Known {
    let bits = float::encode(number, width);
    let bits = bits.ok_or_else(|| Stop::Unsupported(format!("a number of {width} bits")))?;
    Ok(Some(Some(Value::known(bits))))
}

/// A number from 0.5 to 1, and the power of two that makes it the given one.
fn split(number: f64) -> (f64, i32) {
    if number == 0.0 || !number.is_finite() {
        return (number, 0);
    }
    let (normal, by) =
        if number.abs() < f64::MIN_POSITIVE { (number * 2f64.powi(64), -64) } else { (number, 0) };
    let exponent = (normal.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    let fraction = f64::from_bits(normal.to_bits() & !(0x7ff << 52) | 1022 << 52);
    (fraction, exponent + by)
}

/// Also what builtins of these names compute.
pub(crate) fn unary(stem: &str) -> Option<fn(f64) -> f64> {
    Some(match stem {
        "fabs" => f64::abs,
        "sqrt" => f64::sqrt,
        "cbrt" => f64::cbrt,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "trunc" => f64::trunc,
        "round" => f64::round,
        "rint" | "nearbyint" | "roundeven" => f64::round_ties_even,
        "exp" => f64::exp,
        "exp2" => f64::exp2,
        "exp10" => |x| 10f64.powf(x),
        "expm1" => f64::exp_m1,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "asinh" => f64::asinh,
        "acosh" => f64::acosh,
        "atanh" => f64::atanh,
        _ => return None,
    })
}

pub(crate) fn binary(stem: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match stem {
        "pow" => f64::powf,
        "fmod" => |a, b| a % b,
        "atan2" => f64::atan2,
        "hypot" => f64::hypot,
        "fmax" | "maxnum" => f64::max,
        "fmin" | "minnum" => f64::min,
        "fdim" => |a, b| if a > b { a - b } else { 0.0 },
        "copysign" => f64::copysign,
        _ => return None,
    })
}

/// `__builtin_isnan` and its kin: whether a number is of one of the classes of a mask.
pub(crate) fn is_of_class(number: f64, mask: u128) -> bool {
    use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
    let is_negative = number.is_sign_negative();
    let bit = match (number.classify(), is_negative) {
        // Whether a NaN is quiet does not survive being computed with.
        (Nan, _) => return mask & 3 != 0,
        (Infinite, true) => 2,
        (Normal, true) => 3,
        (Subnormal, true) => 4,
        (Zero, true) => 5,
        (Zero, false) => 6,
        (Subnormal, false) => 7,
        (Normal, false) => 8,
        (Infinite, false) => 9,
    };
    mask >> bit & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::{is_of_class, split};

    #[test]
    fn numbers_are_split_and_classified() {
        assert_eq!([split(8.0), split(-0.75)], [(0.5, 4), (-0.75, 0)]);
        assert_eq!(split(5e-324), (0.5, -1073));
        assert!(is_of_class(f64::NAN, 3) && !is_of_class(1.0, 3));
        assert!(is_of_class(f64::NEG_INFINITY, 0x204) && !is_of_class(0.0, 0x204));
    }
}

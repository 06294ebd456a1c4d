//! Floating-point numbers of every width, computed as `f64`. Exact for `double`; for `float`
//! each operation rounds once more, which gives the same result as rounding once; for the
//! wider formats exact as long as the numbers are those a `double` can hold.

use program::{BinaryOp, FloatPredicate};

const X87_BIAS: i32 = 16383;
const F64_BIAS: i32 = 1023;

/// The number that `bits` stand for in a format of this width.
pub fn decode(bits: u128, width: u32) -> Option<f64> {
    match width {
        32 => Some(f64::from(f32::from_bits(bits as u32))),
        64 => Some(f64::from_bits(bits as u64)),
        80 => Some(decode_x87(bits)),
        _ => None,
    }
}

pub fn encode(number: f64, width: u32) -> Option<u128> {
    match width {
        32 => Some(u128::from((number as f32).to_bits())),
        64 => Some(u128::from(number.to_bits())),
        80 => Some(encode_x87(number)),
        _ => None,
    }
}

fn decode_x87(bits: u128) -> f64 {
    let mantissa = bits as u64;
    let exponent = ((bits >> 64) & 0x7fff) as i32;
    let sign = if bits >> 79 & 1 == 1 { -1.0 } else { 1.0 };
    if exponent == 0x7fff {
        return if mantissa << 1 == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    if mantissa == 0 {
        return sign * 0.0;
    }
    // Two steps, since the scale alone may lie outside what a double can hold.
    let scale = exponent - X87_BIAS - 63;
    sign * (mantissa as f64) * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2)
}

fn encode_x87(number: f64) -> u128 {
    let bits = number.to_bits();
    let sign = u128::from(bits >> 63) << 79;
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (exponent, mantissa) = match exponent {
        0 if fraction == 0 => (0, 0),
        0 => {
            let shift = fraction.leading_zeros();
            (X87_BIAS - F64_BIAS + 12 - shift as i32, fraction << shift)
        }
        0x7ff => (0x7fff, 1 << 63 | fraction << 11),
        _ => (exponent - F64_BIAS + X87_BIAS, 1 << 63 | fraction << 11),
    };
    sign | (exponent as u128) << 64 | u128::from(mantissa)
}

pub fn arithmetic(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    Some(match op {
        BinaryOp::FloatAdd => left + right,
        BinaryOp::FloatSub => left - right,
        BinaryOp::FloatMul => left * right,
        BinaryOp::FloatDiv => left / right,
        BinaryOp::FloatRem => left % right,
        _ => return None,
    })
}

/// What a comparison says of two numbers, neither of which is a NaN.
pub fn compare(predicate: FloatPredicate, left: f64, right: f64) -> bool {
    match predicate {
        FloatPredicate::Eq => left == right,
        FloatPredicate::Ne => left != right,
        FloatPredicate::Lt => left < right,
        FloatPredicate::Le => left <= right,
        FloatPredicate::Gt => left > right,
        FloatPredicate::Ge => left >= right,
        FloatPredicate::NumbersOnly | FloatPredicate::Always => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_numbers_come_back() {
        for number in [0.0, -0.0, 1.0, -1.5, 1e300, 5e-324, f64::MIN_POSITIVE, f64::INFINITY] {
            assert_eq!(decode_x87(encode_x87(number)).to_bits(), number.to_bits());
        }
        assert!(decode_x87(encode_x87(f64::NAN)).is_nan());
        assert_eq!(encode_x87(1.0), 0x3fff_8000_0000_0000_0000);
        assert_eq!(encode_x87(-2.0), 0xc000_8000_0000_0000_0000);
    }
}

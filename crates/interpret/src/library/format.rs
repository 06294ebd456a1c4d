//! What `printf` makes of its arguments.

use super::text::Text;
use super::{Given, decimal};
use crate::exec::Machine;
use crate::memory::Reach;
use crate::value::{Bits, mask, signed};
use crate::{FaultKind, Stop, float};

/// Where the arguments of a format come from.
pub(crate) enum Variable<'a, 'g> {
    /// The arguments of the call from this one on.
    Call(&'a Given<'g>, usize),
    /// A `va_list`, whose arguments all lie in memory.
    List(u64),
}

impl Variable<'_, '_> {
    /// The member array that the next argument points into, where the call names it.
    fn member(&self) -> Option<Reach> {
        match self {
            Variable::Call(given, index) => given.member(*index),
            Variable::List(_) => None,
        }
    }
}

#[derive(Default)]
struct Directive {
    minus: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer argument.
    size: u32,
}

impl Machine<'_> {
    /// The bytes a format and its arguments make. Where nothing reads them again (`is_seen` is
    /// false), the run does not depend on the digits of a number.
    pub(crate) fn format(
        &mut self,
        format: u64,
        variable: &mut Variable<'_, '_>,
        is_seen: bool,
    ) -> Result<Vec<Bits>, Stop> {
        let mut out = Vec::new();
        let mut at = format;
        loop {
            self.spend()?;
            let byte = self.byte(at)?;
            at += 1;
            match self.pinned(byte) as u8 {
                0 => return Ok(out),
                b'%' => at = self.directive(at, variable, is_seen, &mut out)?,
                _ => out.push(byte),
            }
        }
    }

    fn directive(
        &mut self,
        mut at: u64,
        variable: &mut Variable<'_, '_>,
        is_seen: bool,
        out: &mut Vec<Bits>,
    ) -> Result<u64, Stop> {
        let mut d = Directive { size: 32, ..Directive::default() };
        let next = |machine: &mut Self, at: &mut u64| -> Result<u8, Stop> {
            let byte = machine.byte(*at)?;
            *at += 1;
            Ok(machine.pinned(byte) as u8)
        };
        let mut c = next(self, &mut at)?;
        loop {
            match c {
                b'-' => d.minus = true,
                b'+' => d.plus = true,
                b' ' => d.space = true,
                b'0' => d.zero = true,
                b'#' => d.alternate = true,
                _ => break,
            }
            c = next(self, &mut at)?;
        }
        if c == b'*' {
            let width = self.variable(variable)?;
            let width = signed(self.pinned(width), 32);
            d.minus |= width < 0;
            d.width = within(width.unsigned_abs())?;
            c = next(self, &mut at)?;
        }
        while c.is_ascii_digit() {
            d.width = (d.width * 10 + usize::from(c - b'0')).min(1 << 16);
            c = next(self, &mut at)?;
        }
        if c == b'.' {
            c = next(self, &mut at)?;
            let mut precision = 0;
            let mut is_given = true;
            if c == b'*' {
                let value = self.variable(variable)?;
                let value = signed(self.pinned(value), 32);
                is_given = value >= 0;
                precision = within(value.max(0).unsigned_abs())?;
                c = next(self, &mut at)?;
            }
            while c.is_ascii_digit() {
                precision = (precision * 10 + usize::from(c - b'0')).min(1 << 16);
                c = next(self, &mut at)?;
            }
            d.precision = is_given.then_some(precision);
        }
        while matches!(c, b'l' | b'h' | b'z' | b't' | b'j' | b'q' | b'L') {
            d.size = match c {
                b'L' => 80,
                b'h' if d.size == 16 => 8,
                b'h' => 16,
                _ => 64,
            };
            c = next(self, &mut at)?;
        }
        self.convert_argument((c, is_seen), &d, variable, out)?;
        Ok(at)
    }

    fn convert_argument(
        &mut self,
        (kind, is_seen): (u8, bool),
        d: &Directive,
        variable: &mut Variable<'_, '_>,
        out: &mut Vec<Bits>,
    ) -> Result<(), Stop> {
        let known = |text: String| text.into_bytes().into_iter().map(|b| Bits::known(b.into()));
        let piece: Vec<Bits> = match kind {
            b'%' => vec![Bits::known(b'%'.into())],
            b'c' => {
                let value = self.variable(variable)?;
                vec![self.low(value, 8)]
            }
            b's' => {
                let within = variable.member();
                let address = self.variable(variable)?;
                let at = self.pinned(address) as u64;
                self.text_at(Text { at, within }, d.precision)?
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
                let value = self.variable(variable)?;
                let bits = if is_seen { self.pinned(value) } else { value.bits } & mask(d.size);
                known(integer(kind, bits, d)).collect()
            }
            b'p' => {
                let value = self.variable(variable)?;
                let text = match value.bits {
                    0 => "(nil)".to_owned(),
                    bits => format!("0x{bits:x}"),
                };
                known(text).collect()
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
                if d.size == 80 && matches!(variable, Variable::List(_)) {
                    return Err(Stop::Unsupported("a long double in a list".to_owned()));
                }
                let value = self.variable(variable)?;
                let width = if d.size == 80 { 80 } else { 64 };
                let number = float::decode(self.pinned(value), width).unwrap_or(0.0);
                let text = floating(kind, number, d).ok_or_else(|| {
                    Stop::Unsupported(format!("%{} of a number", char::from(kind)))
                })?;
                known(text).collect()
            }
            b'n' => {
                let to = self.variable(variable)?;
                let to = self.pinned(to) as u64;
                let size = u64::from(d.size.min(64) / 8);
                self.memory.store(to, size, Bits::known(out.len() as u128))?;
                return Ok(());
            }
            b'm' => {
                let number = self.errno()?;
                known(super::process::error_text(number)).collect()
            }
            other => return Err(Stop::Unsupported(format!("format %{}", char::from(other)))),
        };
        let padding = d.width.saturating_sub(piece.len());
        let blanks = std::iter::repeat_n(Bits::known(b' '.into()), padding);
        if d.minus {
            out.extend(piece);
            out.extend(blanks);
        } else {
            out.extend(blanks);
            out.extend(piece);
        }
        Ok(())
    }

    /// The next argument of a format.
    pub(crate) fn variable(&mut self, variable: &mut Variable<'_, '_>) -> Result<Bits, Stop> {
        match variable {
            Variable::Call(given, index) => {
                *index += 1;
                given.bits(*index - 1)
            }
            Variable::List(list) => {
                let area = self.memory.load(list.wrapping_add(8), 8)?;
                let at = self.pinned(area) as u64;
                self.memory.store(*list + 8, 8, Bits::known(u128::from(at.wrapping_add(8))))?;
                let value = self.memory.load(at, 8)?;
                value.is_known().then_some(value).ok_or(Stop::Fault(FaultKind::Uninitialised))
            }
        }
    }
}

/// Widths that a run can afford.
fn within(width: u128) -> Result<usize, Stop> {
    usize::try_from(width).ok().filter(|width| *width <= 1 << 20).ok_or(Stop::OutOfSteps)
}

fn integer(kind: u8, bits: u128, d: &Directive) -> String {
    let value = signed(bits, d.size);
    let (sign, digits) = match kind {
        b'd' | b'i' => {
            let sign = match value {
                value if value < 0 => "-",
                _ if d.plus => "+",
                _ if d.space => " ",
                _ => "",
            };
            (sign, value.unsigned_abs().to_string())
        }
        b'u' => ("", bits.to_string()),
        b'o' => (if d.alternate { "0" } else { "" }, format!("{bits:o}")),
        b'x' => (if d.alternate && bits != 0 { "0x" } else { "" }, format!("{bits:x}")),
        _ => (if d.alternate && bits != 0 { "0X" } else { "" }, format!("{bits:X}")),
    };
    let digits = if d.precision == Some(0) && bits == 0 { String::new() } else { digits };
    let wanted = match d.precision {
        Some(precision) => precision,
        None if d.zero && !d.minus => d.width.saturating_sub(sign.len()),
        None => 1,
    };
    format!("{sign}{}{digits}", "0".repeat(wanted.saturating_sub(digits.len())))
}

fn floating(kind: u8, number: f64, d: &Directive) -> Option<String> {
    let text = decimal::shown(kind, number.abs(), d.precision.unwrap_or(6), d.alternate)?;
    let sign = match number.is_sign_negative() {
        true => "-",
        false if d.plus => "+",
        false if d.space => " ",
        false => "",
    };
    let pads = d.zero && !d.minus && number.is_finite();
    let zeros = if pads { d.width.saturating_sub(text.len() + sign.len()) } else { 0 };
    Some(format!("{sign}{}{text}", "0".repeat(zeros)))
}

//! Floating-point numbers as text, read and written.

use super::reader::Reader;
use super::{ERANGE, Given, Known};
use crate::exec::Machine;
use crate::value::{Bits, Value};
use crate::{Stop, Why, float};

/// More digits than any number has behind its point; the rest are zeros.
const MAX_PRECISION: usize = 1100;

impl Machine<'_> {
    pub(crate) fn call_decimal(&mut self, name: &str, given: &Given) -> Known {
        let width = match name {
            "atof" | "strtod" => 64,
            "strtof" => 32,
            "strtold" => 80,
            _ => return Ok(None),
        };
        let start = self.place(given, 0)?;
        let mut reader = Reader::text(start);
        self.skip_blanks(&mut reader, Why::Limit)?;
        let number = self.read_float(&mut reader)?;
        if name != "atof" {
            let end = self.place(given, 1)?;
            let stopped = if number.is_some() { reader.address() } else { start };
            if end != 0 {
                self.memory.store(end, 8, Bits::known(u128::from(stopped)))?;
            }
        }
        let number = number.unwrap_or(0.0);
        let number = if width == 32 { f64::from(number as f32) } else { number };
        if number.is_infinite() {
            let last = self.byte(reader.address().wrapping_sub(1))?;
            // What is written as infinite is in range.
            if !(last.bits as u8).is_ascii_alphabetic() {
                self.set_errno(ERANGE)?;
            }
        }
        let bits = float::encode(number, width);
        let bits = bits.ok_or_else(|| Stop::Unsupported(format!("a call of {name}")))?;
        Ok(Some(Some(Value::known(bits))))
    }

    /// A number; the run goes on with the digits it has. `None` where there is none.
    pub(crate) fn read_float(&mut self, reader: &mut Reader) -> Result<Option<f64>, Stop> {
        let mut text = String::new();
        text.extend(self.accept(reader, b"+-")?.map(char::from));
        if self.is_next(reader, b"iInN")? {
            let word = self.accept_word(reader)?;
            return Ok(word.map(|number| if text == "-" { -number } else { number }));
        }
        let n_whole = self.accept_digits(reader, &mut text)?;
        if n_whole == 1 && text.ends_with('0') && self.is_next(reader, b"xX")? {
            return Err(Stop::Unsupported("a hexadecimal floating-point number".to_owned()));
        }
        let mut n_digits = n_whole;
        let has_point = match self.peek(reader)? {
            Some(byte) => self.is_equal(byte, b'.'.into()),
            None => false,
        };
        if has_point {
            self.advance(reader)?;
            text.push('.');
            n_digits += self.accept_digits(reader, &mut text)?;
        }
        if n_digits == 0 {
            return Ok(None);
        }
        let before = reader.ahead(0);
        if self.accept(reader, b"eE")?.is_some() {
            let mut exponent = String::from("e");
            exponent.extend(self.accept(reader, b"+-")?.map(char::from));
            if self.accept_digits(reader, &mut exponent)? > 0 {
                text.push_str(&exponent);
            } else if before.is_text() {
                // The letter belongs to what follows.
                *reader = before;
            }
        }
        Ok(text.parse().ok())
    }

    /// Whether the next byte is one of these, which is not searched for: people do not write so.
    fn is_next(&mut self, reader: &Reader, set: &[u8]) -> Result<bool, Stop> {
        let next = self.peek(reader)?;
        Ok(next.is_some_and(|byte| self.is_one_of_set(byte, set, Why::Limit)))
    }

    /// `inf`, `infinity` or `nan`. Of other words the letters in common are taken.
    fn accept_word(&mut self, reader: &mut Reader) -> Result<Option<f64>, Stop> {
        let is_nan = self.accept(reader, b"nN")?.is_some();
        let word: &[&[u8]] = if is_nan { &[b"aA", b"nN"] } else { &[b"iI", b"nN", b"fF"] };
        for letter in word {
            if self.accept(reader, letter)?.is_none() {
                return Ok(None);
            }
        }
        if is_nan {
            return Ok(Some(f64::NAN));
        }
        let mut longer = reader.ahead(0);
        for letter in [b"iI", b"nN", b"iI", b"tT", b"yY"] {
            if !reader.is_text() || self.accept(&mut longer, letter)?.is_none() {
                return Ok(Some(f64::INFINITY));
            }
        }
        *reader = longer;
        Ok(Some(f64::INFINITY))
    }

    fn accept_digits(&mut self, reader: &mut Reader, text: &mut String) -> Result<usize, Stop> {
        let mut n_digits = 0;
        while let Some(digit) = self.accept(reader, b"0123456789")? {
            text.push(char::from(digit));
            n_digits += 1;
        }
        Ok(n_digits)
    }
}

/// How a conversion of `printf` shows a number that is not negative; `None` where it is not
/// known here.
pub(super) fn shown(kind: u8, number: f64, precision: usize, keeps_zeros: bool) -> Option<String> {
    let text = match kind.to_ascii_lowercase() {
        _ if number.is_nan() => "nan".to_owned(),
        _ if number.is_infinite() => "inf".to_owned(),
        b'f' => fixed(number, precision),
        b'e' => scientific(number, precision)?.0,
        b'g' => shortest(number, precision.max(1), keeps_zeros)?,
        _ => return None,
    };
    Some(if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text })
}

fn fixed(number: f64, precision: usize) -> String {
    let digits = format!("{:.*}", precision.min(MAX_PRECISION), number);
    digits + &"0".repeat(precision.saturating_sub(MAX_PRECISION))
}

/// With an exponent, which is returned, too.
fn scientific(number: f64, precision: usize) -> Option<(String, i32)> {
    let text = format!("{:.*e}", precision.min(MAX_PRECISION), number);
    let (digits, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let sign = if exponent < 0 { '-' } else { '+' };
    let zeros = "0".repeat(precision.saturating_sub(MAX_PRECISION));
    Some((format!("{digits}{zeros}e{sign}{:02}", exponent.abs()), exponent))
}

/// `%g`: so many digits in all, and no zeros at the end.
fn shortest(number: f64, precision: usize, keeps_zeros: bool) -> Option<String> {
    let (text, exponent) = scientific(number, precision - 1)?;
    let is_plain = exponent >= -4 && i64::from(exponent) < precision as i64;
    let (digits, rest) = if is_plain {
        let behind = (precision as i64 - 1 - i64::from(exponent)) as usize;
        (fixed(number, behind), String::new())
    } else {
        let (digits, rest) = text.split_once('e')?;
        (digits.to_owned(), format!("e{rest}"))
    };
    let digits = if digits.contains('.') && !keeps_zeros {
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        digits
    };
    Some(digits + &rest)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn numbers_are_shown_as_by_printf() {
        let g = |number| shown(b'g', number, 6, false).unwrap();
        assert_eq!([g(0.5), g(100.0), g(1e6), g(0.0)], ["0.5", "100", "1e+06", "0"]);
        assert_eq!([g(1e-5), g(123_456.7), g(1.0 / 3.0)], ["1e-05", "123457", "0.333333"]);
        assert_eq!(shown(b'E', 12.5, 1, false).unwrap(), "1.2E+01");
        assert_eq!(shown(b'f', 2.5, 0, false).unwrap(), "2");
        assert_eq!(shown(b'f', 1.0, 70_000, false).unwrap().len(), 70_002);
    }
}

//! The values of constants as they are written, and how a changed one is written.

use crate::term::Term;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    Float(f64),
    Character(u32),
}

impl Value {
    pub fn as_number(self) -> f64 {
        match self {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            Value::Character(code) => f64::from(code),
        }
    }
}

/// The value of a number, of one with a minus, or of a character.
pub(crate) fn value(term: &Term) -> Option<Value> {
    let term = term.inner();
    match term.kind {
        "number_literal" => number(&term.text),
        "char_literal" => character(&term.text).map(Value::Character),
        "unary_expression" if term.operator() == Some("-") => {
            let operand = term.child("argument")?.inner();
            match (operand.kind == "number_literal").then(|| number(&operand.text))?? {
                Value::Integer(number) => Some(Value::Integer(-number)),
                Value::Float(number) => Some(Value::Float(-number)),
                Value::Character(_) => None,
            }
        }
        _ => None,
    }
}

fn number(text: &str) -> Option<Value> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let integer = if let Some(hexadecimal) = digits.strip_prefix("0x") {
        i128::from_str_radix(hexadecimal, 16).ok()
    } else if let Some(binary) = digits.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        i128::from_str_radix(&digits[1..], 8).ok()
    } else {
        digits.parse().ok()
    };
    let float = || text.trim_end_matches(['f', 'l']).parse().ok().map(Value::Float);
    integer.map(Value::Integer).or_else(float)
}

fn character(text: &str) -> Option<u32> {
    let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inside.chars();
    let code = match (chars.next()?, chars.next()) {
        ('\\', Some(escaped)) => match escaped {
            'n' => 10,
            't' => 9,
            'r' => 13,
            '0' => 0,
            other => other as u32,
        },
        (c, None) => c as u32,
        _ => return None,
    };
    Some(code)
}

/// The literal for another number, written like the one it replaces.
pub(crate) fn written_like(text: &str, value: Value) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    match value {
        Value::Integer(number) if lower.starts_with("0x") && number >= 0 => {
            Some(format!("0x{number:x}"))
        }
        Value::Integer(number) => {
            let digits = lower.trim_end_matches(['u', 'l']).len();
            Some(format!("{number}{}", &text[digits..]))
        }
        Value::Float(number) => {
            let plain = format!("{number}");
            Some(if plain.contains('.') { plain } else { format!("{plain}.0") })
        }
        Value::Character(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written() {
        assert_eq!(number("0x1F"), Some(Value::Integer(31)));
        assert_eq!(number("017"), Some(Value::Integer(15)));
        assert_eq!(number("42UL"), Some(Value::Integer(42)));
        assert_eq!(number("1.5f"), Some(Value::Float(1.5)));
        assert_eq!(number("1e3"), Some(Value::Float(1000.0)));
        assert_eq!(number("1abc"), None);
        assert_eq!(written_like("42UL", Value::Integer(43)).as_deref(), Some("43UL"));
        assert_eq!(written_like("0x1F", Value::Integer(32)).as_deref(), Some("0x20"));
        assert_eq!(written_like("1.0", Value::Float(2.0)).as_deref(), Some("2.0"));
        assert_eq!(character("'\\n'"), Some(10));
        assert_eq!(character("'ab'"), None);
    }
}

//! printf and scanf formats: what they write, and where.

use logic::{Comparison, Interval, TermId};
use program::Operand;

use crate::attribute::AttributeId;
use crate::lower::{Argument, Context, Effect, Origin, Unsupported};

/// One conversion of a format, or literal text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(usize),
    Conversion(Conversion),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub letter: u8,
    /// `*` in scanf: reads without storing; in printf the width is an argument.
    pub star: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
    /// A precision given by an argument.
    pub star_precision: bool,
    /// `hh`, `h`, `l`, `ll`, `z`, `j`, `t`, `L`.
    pub length: String,
}

/// Splits a format. An incomplete conversion at the end is dropped.
pub fn parse(format: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut literal = 0;
    let mut at = 0;
    while at < format.len() {
        if format[at] != b'%' {
            literal += 1;
            at += 1;
        } else if format.get(at + 1) == Some(&b'%') {
            literal += 1;
            at += 2;
        } else {
            if literal > 0 {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            at += 1;
            if let Some(conversion) = conversion(format, &mut at) {
                pieces.push(Piece::Conversion(conversion));
            }
        }
    }
    if literal > 0 {
        pieces.push(Piece::Literal(literal));
    }
    pieces
}

fn conversion(format: &[u8], at: &mut usize) -> Option<Conversion> {
    let skip = |at: &mut usize, accept: &[u8]| {
        let start = *at;
        while format.get(*at).is_some_and(|c| accept.contains(c)) {
            *at += 1;
        }
        String::from_utf8_lossy(&format[start..*at]).into_owned()
    };
    skip(at, b"-+ #0'");
    let star = !skip(at, b"*").is_empty();
    let width = skip(at, b"0123456789").parse().ok();
    let (mut precision, mut star_precision) = (None, false);
    if format.get(*at) == Some(&b'.') {
        *at += 1;
        star_precision = !skip(at, b"*").is_empty();
        precision = (!star_precision).then(|| skip(at, b"0123456789").parse().unwrap_or(0));
    }
    let length = skip(at, b"hlLzjtq");
    let letter = *format.get(*at)?;
    *at += 1;
    if letter == b'[' {
        // A scan set; a bracket right at its start belongs to it.
        if format.get(*at) == Some(&b'^') {
            *at += 1;
        }
        *at += 1;
        while format.get(*at).is_some_and(|c| *c != b']') {
            *at += 1;
        }
        *at += 1;
    }
    Some(Conversion { letter, star, width, precision, star_precision, length })
}

/// The bytes a printf format makes, as a term: literals, string lengths, and for numbers
/// some length up to the longest of the type.
pub fn printed_length(
    format: &Argument,
    rest: &[Operand],
    context: &mut dyn Context,
) -> Result<TermId, Unsupported> {
    let text = context.constant_string(format).ok_or(Unsupported::Format)?;
    let mut args = rest.iter().copied();
    let mut sum = context.terms().constant(0);
    for piece in parse(&text) {
        let length = match piece {
            Piece::Literal(length) => context.terms().constant(length as i128),
            Piece::Conversion(conversion) => printed(&conversion, &mut args, context)?,
        };
        sum = context.terms().add(sum, length);
    }
    Ok(sum)
}

fn printed(
    conversion: &Conversion,
    args: &mut impl Iterator<Item = Operand>,
    context: &mut dyn Context,
) -> Result<TermId, Unsupported> {
    if conversion.star || conversion.star_precision {
        // Widths taken from arguments are rare; their length is not known.
        return Err(Unsupported::Format);
    }
    let argument = args.next().ok_or(Unsupported::Format)?;
    let argument = Argument::Operand(argument);
    let natural = match conversion.letter {
        b's' => {
            let len = AttributeId::find("Len").expect("the registry has `Len`");
            let length = len.get().term(len, &[argument], context)?;
            match conversion.precision {
                Some(most) => {
                    let most = context.terms().constant(most as i128);
                    context.terms().min(length, most)
                }
                None => length,
            }
        }
        b'c' => context.terms().constant(1),
        _ => {
            let (least, most) = number_length(conversion, context.type_range(&argument))
                .ok_or(Unsupported::Format)?;
            within(context, least, most)?
        }
    };
    Ok(match conversion.width {
        Some(width) => {
            let width = context.terms().constant(width as i128);
            context.terms().max(natural, width)
        }
        None => natural,
    })
}

/// The digits a number of this conversion can take. Which number it is, is not looked at.
fn number_length(conversion: &Conversion, range: Option<Interval>) -> Option<(i128, i128)> {
    let range = range.unwrap_or(Interval::of_width(64, true));
    let (low, high) = (range.low?, range.high?);
    let digits = |value: i128, base: i128| {
        let (mut n, mut rest) = (1, value.unsigned_abs() / base.unsigned_abs());
        while rest > 0 {
            n += 1;
            rest /= base.unsigned_abs();
        }
        n + i128::from(value < 0)
    };
    let base = match conversion.letter {
        b'd' | b'i' | b'u' => 10,
        b'x' | b'X' => 16,
        b'o' => 8,
        b'p' => return Some((3, 18)),
        _ => return None,
    };
    let least = conversion.precision.unwrap_or(1) as i128;
    let high = if base == 10 { high } else { high.max(low.unsigned_abs() as i128 * 2) };
    Some((least, digits(low, base).max(digits(high, base)).max(least)))
}

/// A fresh number between two bounds, as a term that cannot leave them.
fn within(context: &mut dyn Context, low: i128, high: i128) -> Result<TermId, Unsupported> {
    if low == high {
        return Ok(context.terms().constant(low));
    }
    let value = context.fresh(Origin::Unknown);
    let (low, high) = (context.terms().constant(low), context.terms().constant(high));
    let capped = context.terms().min(value, high);
    Ok(context.terms().max(capped, low))
}

/// What a scanf format stores through the remaining arguments.
pub fn scanned(
    format: &Argument,
    rest: &[Operand],
    context: &mut dyn Context,
) -> Result<Vec<Effect>, Unsupported> {
    let text = context.constant_string(format).ok_or(Unsupported::Format)?;
    let mut args = rest.iter().copied();
    let mut effects = Vec::new();
    let [len, value, init, input] = ["Len", "Value", "Init", "Input"]
        .map(|name| AttributeId::find(name).expect("the registry has the basic attributes"));
    let conversions = parse(&text).into_iter().filter_map(|piece| match piece {
        Piece::Conversion(conversion) if !conversion.star => Some(conversion),
        _ => None,
    });
    for conversion in conversions {
        let Some(target) = args.next() else { break };
        let target = Argument::Operand(target);
        let one = context.terms().constant(1);
        effects.push(Effect::Assign { attribute: init, args: vec![target.clone()], value: one });
        // How much was read is not up to whoever wrote it.
        let is_count = conversion.letter == b'n';
        if !is_count {
            let args = vec![target.clone()];
            effects.push(Effect::Assign { attribute: input, args, value: one });
        }
        let origin = if is_count { Origin::Unknown } else { Origin::Input };
        let chosen = context.fresh(origin);
        let (attribute, subject, range) = match conversion.letter {
            b's' | b'[' => {
                let high = conversion.width.map(|width| width as i128);
                (len, target, Interval { low: Some(1), high })
            }
            b'c' => continue,
            _ => {
                let pointee = Argument::Pointee(target.into());
                let mut range = context.type_range(&pointee).unwrap_or(Interval::ALL);
                range.low = if is_count { Some(0) } else { range.low };
                (value, pointee, range)
            }
        };
        effects.push(Effect::Assign { attribute, args: vec![subject], value: chosen });
        let bounds = [(Comparison::Ge, range.low), (Comparison::Le, range.high)];
        for (comparison, bound) in bounds {
            if let Some(bound) = bound {
                let bound = context.terms().constant(bound);
                let holds = context.terms().compare(comparison, chosen, bound);
                effects.push(Effect::Assume(holds));
            }
        }
    }
    Ok(effects)
}

/// The strings a scanf format stores: position among the remaining arguments and the most
/// bytes written, terminating zero included (`None` without a width).
pub fn scanned_strings(format: &[u8]) -> Vec<(usize, Option<usize>)> {
    parse(format)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Conversion(conversion) if !conversion.star => Some(conversion),
            _ => None,
        })
        .enumerate()
        .filter(|(_, conversion)| matches!(conversion.letter, b's' | b'['))
        .map(|(index, conversion)| (index, conversion.width.map(|width| width + 1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_split_into_literals_and_conversions() {
        let pieces = parse(b"a%%b %-5.3s|%ld%[^]x]y%");
        assert_eq!(pieces[0], Piece::Literal(4));
        let Piece::Conversion(s) = &pieces[1] else { panic!("a conversion") };
        assert_eq!((s.letter, s.width, s.precision), (b's', Some(5), Some(3)));
        let Piece::Conversion(set) = &pieces[4] else { panic!("a scan set") };
        assert_eq!(set.letter, b'[');
        assert_eq!(pieces.len(), 6);
    }

    #[test]
    fn scanned_strings_know_their_room() {
        assert_eq!(scanned_strings(b"%d %9s %*s %s"), vec![(1, Some(10)), (2, None)]);
    }

    #[test]
    fn numbers_take_as_many_digits_as_their_type() {
        let conversion = |letter| Conversion {
            letter,
            star: false,
            width: None,
            precision: None,
            star_precision: false,
            length: String::new(),
        };
        let int = Some(Interval::of_width(32, true));
        assert_eq!(number_length(&conversion(b'd'), int), Some((1, 11)));
        let byte = Some(Interval::of_width(8, false));
        assert_eq!(number_length(&conversion(b'x'), byte), Some((1, 2)));
    }
}

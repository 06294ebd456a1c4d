//! Terms, conditions and values of a path in C terms.

use logic::{Formula, FormulaId, Leaf, Relation, TermId};

use crate::machine::{Context, SymbolKind, Value};

/// A term as C would write it; `None` where some part has no name.
pub fn term(context: &Context, id: TermId) -> Option<String> {
    let linear = context.terms.linear(id);
    let mut text = String::new();
    for (leaf, factor) in &linear.terms {
        let name = leaf_name(context, context.terms.leaf(*leaf))?;
        let sign = match (text.is_empty(), *factor < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text.push_str(sign);
        match factor.unsigned_abs() {
            1 => text.push_str(&name),
            times => text.push_str(&format!("{times} * {name}")),
        }
    }
    match (text.is_empty(), linear.constant) {
        (true, constant) => Some(constant.to_string()),
        (false, 0) => Some(text),
        (false, constant) if constant < 0 => Some(format!("{text} - {}", constant.unsigned_abs())),
        (false, constant) => Some(format!("{text} + {constant}")),
    }
}

/// Between what numbers a term lies, where it has no short form. Bounds that only a type's
/// width gives say nothing and are left out.
pub fn bounds(context: &Context, id: TermId) -> Option<String> {
    const TELLING: i128 = 1 << 24;
    let range = context.terms.range(id);
    let is_telling = |bound: &i128| bound.abs() < TELLING;
    match (range.low.filter(is_telling), range.high.filter(is_telling)) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}")),
        _ => None,
    }
}

fn leaf_name(context: &Context, leaf: &Leaf) -> Option<String> {
    match leaf {
        Leaf::Symbol(symbol) => {
            let name = &context.symbols.get(*symbol).name;
            (!name.is_empty()).then(|| name.to_string())
        }
        Leaf::Product(a, b) => Some(format!("{} * {}", term(context, *a)?, term(context, *b)?)),
        Leaf::Quotient { dividend, divisor, .. } => {
            Some(format!("({}) / {}", term(context, *dividend)?, term(context, *divisor)?))
        }
        Leaf::Min(a, b) => Some(format!("min({}, {})", term(context, *a)?, term(context, *b)?)),
        Leaf::Wrap { term: inner, bits, signed } => {
            let kind = if *signed { "int" } else { "uint" };
            Some(format!("({kind}{bits}_t)({})", term(context, *inner)?))
        }
        _ => None,
    }
}

/// A condition as C would write it; `None` where it has no short form.
pub fn condition(context: &Context, formula: FormulaId) -> Option<String> {
    match context.terms.formula(formula) {
        Formula::Atom(relation, id) => atom(context, *relation, *id),
        Formula::Or(parts) | Formula::And(parts) if parts.len() <= 3 => {
            let sign = match context.terms.formula(formula) {
                Formula::Or(_) => " || ",
                _ => " && ",
            };
            let parts: Option<Vec<String>> =
                parts.iter().map(|part| condition(context, *part)).collect();
            Some(parts?.join(sign))
        }
        _ => None,
    }
}

/// `sum <relation> 0` with the negative part on the right.
fn atom(context: &Context, relation: Relation, id: TermId) -> Option<String> {
    let linear = context.terms.linear(id);
    if let ([(leaf, factor)], Relation::AtMostZero | Relation::Zero | Relation::NonZero) =
        (linear.terms.as_slice(), relation)
    {
        let name = leaf_name(context, context.terms.leaf(*leaf))?;
        if is_null_bit(context, context.terms.leaf(*leaf)) {
            return null_test(context, relation, *factor, linear.constant, &name);
        }
        if *factor == 1 || *factor == -1 {
            let bound = -linear.constant * factor;
            let sign = match (relation, *factor == 1) {
                (Relation::AtMostZero, true) => "<=",
                (Relation::AtMostZero, false) => ">=",
                (Relation::Zero, _) => "==",
                (Relation::NonZero, _) => "!=",
            };
            return Some(format!("{name} {sign} {bound}"));
        }
    }
    let sign = match relation {
        Relation::AtMostZero => "<=",
        Relation::Zero => "==",
        Relation::NonZero => "!=",
    };
    Some(format!("{} {sign} 0", term(context, id)?))
}

/// Truth values of the machine are bits: `p` null, a comparison nobody could follow.
fn is_null_bit(context: &Context, leaf: &Leaf) -> bool {
    matches!(leaf, Leaf::Symbol(symbol)
        if context.terms.domain(*symbol) == logic::Interval::new(0, 1))
}

fn null_test(
    _context: &Context,
    relation: Relation,
    factor: i128,
    constant: i128,
    name: &str,
) -> Option<String> {
    let holds_for = |bit: i128| {
        let value = factor * bit + constant;
        match relation {
            Relation::AtMostZero => value <= 0,
            Relation::Zero => value == 0,
            Relation::NonZero => value != 0,
        }
    };
    match (holds_for(1), holds_for(0)) {
        (true, false) => Some(format!("{name} is null")),
        (false, true) => Some(format!("{name} is not null")),
        _ => None,
    }
}

/// What a value is, for a sentence: "5", "null", "outside input".
pub fn value(context: &Context, value: Value) -> Option<String> {
    match value {
        Value::Int(id) => match context.terms.as_constant(id) {
            Some(constant) => Some(constant.to_string()),
            None => term(context, id),
        },
        Value::Float(float) => float.known.map(|known| known.to_string()),
        Value::Uninit(_) => Some("not initialised".to_owned()),
        _ => None,
    }
}

/// What the kind of a symbol says to a reader.
pub fn kind(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Chosen => "outside input",
        SymbolKind::Iterations => "an iteration count",
        SymbolKind::Entry => "the caller's choice",
        SymbolKind::Unknown => "unknown",
    }
}

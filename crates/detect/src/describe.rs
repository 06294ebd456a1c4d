//! Terms, conditions and values of a path in C terms.

use logic::{Comparison, Formula, FormulaId, Leaf, Relation, SymbolId, TermId};
use program::Program;

use crate::machine::memory::ObjectId;
use crate::machine::path::Path;
use crate::machine::trail::What;
use crate::machine::{Context, State, SymbolKind, Value};

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

/// Bounds beyond this are only a type's width: they say nothing to a reader.
const TELLING: i128 = 1 << 24;

/// How large a term without a short form is on a path, for "... bytes are written".
pub fn amount(context: &mut Context, path: &Path, id: TermId) -> String {
    let opposite = context.terms.negate(id);
    let low = least(context, path, id);
    let high = least(context, path, opposite).map(|bound| -bound);
    match (low, high) {
        (Some(low), Some(high)) if low == high => return low.to_string(),
        (Some(low), Some(high)) => return format!("{low} to {high}"),
        (Some(low), None) if low > 0 => return format!("at least {low}"),
        (None, Some(high)) => return format!("at most {high}"),
        _ => {}
    }
    let zero = context.constant(0);
    let formula = context.terms.compare(Comparison::Eq, id, zero);
    let symbols = context.symbols_in(formula);
    let is_input = |symbol: &SymbolId| context.symbols.get(*symbol).kind == SymbolKind::Chosen;
    let words = if symbols.iter().any(is_input) { "any number of" } else { "an unknown number of" };
    words.to_owned()
}

/// The largest telling number that the term is proven to reach on a path.
fn least(context: &mut Context, path: &Path, id: TermId) -> Option<i128> {
    let reaches = |context: &mut Context, bound: i128| {
        let bound = context.constant(bound);
        let holds = context.terms.compare(Comparison::Ge, id, bound);
        context.prove(path, holds)
    };
    let known = context.terms.range(id).low.unwrap_or(-TELLING).max(-TELLING);
    if known >= TELLING || !reaches(context, known) {
        return None;
    }
    let (mut proven, mut step) = (known, 1);
    while reaches(context, proven + step) {
        proven += step;
        step *= 2;
        if proven >= TELLING {
            return None;
        }
    }
    while step > 1 {
        step /= 2;
        if reaches(context, proven + step) {
            proven += step;
        }
    }
    (proven > -TELLING).then_some(proven)
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
    let is_result = name.ends_with("()");
    match (holds_for(1), holds_for(0)) {
        (true, false) if is_result => Some(format!("{name} returned null")),
        (false, true) if is_result => Some(format!("{name} did not return null")),
        (true, false) => Some(format!("{name} is null")),
        (false, true) => Some(format!("{name} is not null")),
        _ => None,
    }
}

/// An object's name: for what a call made, that of the variable which was given it last.
pub fn object(program: &Program, state: &State, id: ObjectId) -> String {
    let name = &state.memory.get(id).name;
    let function = state.top().function;
    let here = state.trail.iter().filter(|event| event.function == function);
    let mut holders = here.filter_map(|event| match event.what {
        What::Bound { variable, value: Value::Pointer { object, .. }, .. } if object == id => {
            let body = program.functions[function].body.as_ref()?;
            Some(&body.variables[variable].name).filter(|name| !name.is_empty())
        }
        _ => None,
    });
    let holder = if name.ends_with("()") { holders.next() } else { None };
    holder.map_or_else(|| name.to_string(), |holder| holder.to_string())
}

/// What a value is, for a sentence: "5", "null", "outside input".
pub fn value(context: &Context, value: Value) -> Option<String> {
    match value {
        Value::Int(id) => match context.terms.as_constant(id) {
            Some(constant) => Some(constant.to_string()),
            None => term(context, id),
        },
        Value::Float(float) => float.known.map(|known| known.to_string()),
        Value::Uninit(_) => Some("a value".to_owned()),
        _ => None,
    }
}

/// What the kind of a symbol says to a reader.
pub fn kind(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Chosen => "outside input",
        SymbolKind::Iterations => "an iteration count",
        SymbolKind::Entry => "the caller's choice",
        SymbolKind::Unknown | SymbolKind::Lost => "unknown",
    }
}

//! Which way a change goes: whether a condition holds in more cases or in fewer, whether a value
//! grows or shrinks. That is what values of failing runs can tell of a fix, whatever is changed to
//! achieve it.

use crate::describe::operator_kind;
use crate::literal;
use crate::term::Term;

/// More cases or a larger value; fewer or smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

use Direction::{Down, Up};

impl Direction {
    fn reversed(self) -> Self {
        if self == Up { Down } else { Up }
    }
}

/// The description of the way the outermost expression that differs goes.
pub(crate) fn direction_of(old: &Term, new: &Term) -> Option<&'static str> {
    let (old, new) = (old.inner(), new.inner());
    if let Some(direction) = condition(old, new) {
        return Some(match direction {
            Up => "let the condition hold in more cases",
            Down => "let the condition hold in fewer cases",
        });
    }
    if is_condition(old) || is_condition(new) {
        return None;
    }
    if let Some(direction) = value(old, new) {
        return Some(match direction {
            Up => "compute a larger value",
            Down => "compute a smaller value",
        });
    }
    let (old, new) = only_difference(old, new)?;
    direction_of(old, new)
}

fn is_condition(term: &Term) -> bool {
    let kind = term.operator().and_then(operator_kind);
    let is_negation = term.kind == "unary_expression" && term.operator() == Some("!");
    term.operands().is_some() && matches!(kind, Some("comparison" | "logical")) || is_negation
}

/// The parts that differ, where it is one and both terms are built alike.
fn only_difference<'a>(old: &'a Term, new: &'a Term) -> Option<(&'a Term, &'a Term)> {
    if old.kind != new.kind || old.children.len() != new.children.len() {
        return None;
    }
    let mut pairs = old.children.iter().zip(&new.children).filter(|(a, b)| a.text != b.text);
    let first = pairs.next()?;
    pairs.next().is_none().then_some(first)
}

fn condition(old: &Term, new: &Term) -> Option<Direction> {
    let (old, new) = (old.inner(), new.inner());
    let operand = |term: &Term, other: &Term| {
        let (left, right) = term.operands()?;
        let is_there = [left, right].iter().any(|side| side.inner().text == other.text);
        is_there.then(|| term.operator().unwrap_or("").to_owned())
    };
    // A condition joined to it, or taken away.
    match operand(new, old).as_deref() {
        Some("||") => return Some(Up),
        Some("&&") => return Some(Down),
        _ => {}
    }
    match operand(old, new).as_deref() {
        Some("||") => return Some(Down),
        Some("&&") => return Some(Up),
        _ => {}
    }
    if !is_condition(old) || !is_condition(new) || old.kind != new.kind {
        return None;
    }
    if old.kind == "unary_expression" {
        return condition(old.child("argument")?, new.child("argument")?).map(Direction::reversed);
    }
    let (before, after) = (old.operator()?, new.operator()?);
    let ((a, b), (c, d)) = (old.operands()?, new.operands()?);
    let (same_left, same_right) =
        (a.inner().text == c.inner().text, b.inner().text == d.inner().text);
    if before != after {
        return if same_left && same_right { other_operator(before, after) } else { None };
    }
    match (before, same_left, same_right) {
        ("&&" | "||", false, true) => condition(a, c),
        ("&&" | "||", true, false) => condition(b, d),
        ("<" | "<=", true, false) => value(b, d),
        (">" | ">=", false, true) => value(a, c),
        ("<" | "<=", false, true) => value(a, c).map(Direction::reversed),
        (">" | ">=", true, false) => value(b, d).map(Direction::reversed),
        _ => None,
    }
}

fn other_operator(before: &str, after: &str) -> Option<Direction> {
    match (before, after) {
        ("<", "<=") | (">", ">=") | ("==", "<=" | ">=") | ("<" | ">", "!=") | ("&&", "||") => {
            Some(Up)
        }
        ("<=", "<") | (">=", ">") | ("<=" | ">=", "==") | ("!=", "<" | ">") | ("||", "&&") => {
            Some(Down)
        }
        _ => None,
    }
}

fn value(old: &Term, new: &Term) -> Option<Direction> {
    let (old, new) = (old.inner(), new.inner());
    if let (Some(before), Some(after)) = (literal::value(old), literal::value(new)) {
        let difference = after.as_number() - before.as_number();
        return (difference != 0.0).then_some(if difference > 0.0 { Up } else { Down });
    }
    if let Some(direction) = term_added(old, new) {
        return Some(direction);
    }
    if let Some(direction) = term_added(new, old) {
        return Some(direction.reversed());
    }
    let (before, after) = (old.operator()?, new.operator()?);
    let ((a, b), (c, d)) = (old.operands()?, new.operands()?);
    let (same_left, same_right) =
        (a.inner().text == c.inner().text, b.inner().text == d.inner().text);
    match (before, after) {
        ("-", "+") if same_left && same_right => Some(Up),
        ("+", "-") if same_left && same_right => Some(Down),
        ("+", "+") if same_left => value(b, d),
        ("+" | "-", _) if before == after && same_right => value(a, c),
        ("-", "-") if same_left => value(b, d).map(Direction::reversed),
        _ => None,
    }
}

/// `long` is `short` with a positive constant added or subtracted.
fn term_added(short: &Term, long: &Term) -> Option<Direction> {
    let (left, right) = long.operands()?;
    let constant = literal::value(right).filter(|value| value.as_number() > 0.0);
    let is_short = left.inner().text == short.text && constant.is_some();
    match long.operator() {
        Some("+") if is_short => Some(Up),
        Some("-") if is_short => Some(Down),
        _ => None,
    }
}

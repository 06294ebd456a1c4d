//! Mutants of a correct program drawn evenly over kinds of change, not over tokens: most tokens are
//! names, but few mistakes are wrong names. Some kinds change more than a token: what programmers
//! forget is a term, a part of a condition or a whole statement.

use std::ops::Range;

use super::mutate::{
    Mutant, Random, Token, alternatives, in_bodies, is_keyword, is_name, is_value, tokens,
};

/// What is changed. Where kinds are equally rare, the first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `<` and `<=`, `>` and `>=`.
    Equality,
    Constant,
    /// `+ 1` or `- 1`, too much or missing.
    Term,
    /// A part of a condition is missing.
    Condition,
    /// `<` and `>`, `==` and `!=`.
    Comparison,
    /// `&&` and `||`.
    Logical,
    /// Calculations and assignments.
    Operator,
    Negation,
    Arguments,
    Variable,
    /// A whole statement is missing.
    Statement,
}

const KINDS: [Kind; 11] = [
    Kind::Equality,
    Kind::Constant,
    Kind::Term,
    Kind::Condition,
    Kind::Comparison,
    Kind::Logical,
    Kind::Operator,
    Kind::Negation,
    Kind::Arguments,
    Kind::Variable,
    Kind::Statement,
];

/// What is replaced, and by what.
struct Change {
    kind: Kind,
    bytes: Range<usize>,
    new: String,
}

/// All mutants there are of each kind, in an order of chance that is the same in each run.
pub fn mutants_by_kind(text: &str) -> Vec<Vec<Mutant>> {
    let mut random = Random::seeded_by(text);
    let mut left = changes(text, &tokens(text));
    let mut by_kind: Vec<Vec<Mutant>> = KINDS.map(|_| Vec::new()).into();
    while !left.is_empty() {
        let Change { kind, bytes, new } = left.swap_remove(random.below(left.len()));
        let line = text[..bytes.start].matches('\n').count() as u32 + 1;
        let text = format!("{}{new}{}", &text[..bytes.start], &text[bytes.end..]);
        let of_kind = KINDS.iter().zip(&mut by_kind).find(|(known, _)| **known == kind);
        of_kind.into_iter().for_each(|(_, list)| list.push(Mutant { text: text.clone(), line }));
    }
    by_kind
}

fn changes(text: &str, tokens: &[Token]) -> Vec<Change> {
    let mut found = Vec::new();
    for (index, token) in in_bodies(tokens) {
        let mut add = |kind, bytes, new: String| found.push(Change { kind, bytes, new });
        for new in alternatives(tokens, index) {
            add(kind_of(token.text, &new), span(tokens, index..index + 1), new);
        }
        if let Some(end) = end_of_term(tokens, index) {
            add(Kind::Term, span(tokens, index..end), String::new());
        }
        if may_have_term(tokens, index) {
            for term in [" + 1", " - 1"] {
                add(Kind::Term, span(tokens, index..index + 1), format!("{}{term}", token.text));
            }
        }
        if matches!(token.text, "&&" | "||") {
            let (start, end) = (start_of_operand(tokens, index), end_of_operand(tokens, index));
            let operator = span(tokens, index..index + 1);
            add(
                Kind::Condition,
                operator.start..between(text, tokens, index, end).end,
                String::new(),
            );
            let before = between(text, tokens, start, index);
            add(Kind::Condition, before.start..operator.end, String::new());
        }
        if token.text == "!" {
            add(Kind::Negation, span(tokens, index..index + 1), String::new());
        }
        if matches!(token.text, "if" | "while") {
            let condition = span(tokens, index + 1..closing(tokens, index + 1) + 1);
            let negated = format!("(!{})", &text[condition.clone()]);
            add(Kind::Negation, condition, negated);
        }
        if let Some([open, comma, end]) = arguments(tokens, index) {
            let first = between(text, tokens, open, comma);
            let second = between(text, tokens, comma, end);
            let middle = &text[first.end..second.start];
            let swapped = format!("{}{middle}{}", &text[second.clone()], &text[first.clone()]);
            add(Kind::Arguments, first.start..second.end, swapped);
        }
        if let Some(end) = end_of_statement(tokens, index) {
            add(Kind::Statement, span(tokens, index..end), String::new());
        }
    }
    found
}

fn kind_of(old: &str, new: &str) -> Kind {
    match old {
        "<" | "<=" | ">" | ">=" if old[..1] == new[..1] => Kind::Equality,
        "<" | "<=" | ">" | ">=" | "==" | "!=" => Kind::Comparison,
        "&&" | "||" => Kind::Logical,
        _ if is_name(old) => Kind::Variable,
        _ if old.bytes().all(|byte| byte.is_ascii_digit()) => Kind::Constant,
        _ => Kind::Operator,
    }
}

/// The bytes of some tokens, which are not none.
fn span(tokens: &[Token], which: Range<usize>) -> Range<usize> {
    let last = &tokens[(which.end - 1).min(tokens.len() - 1)];
    tokens[which.start.min(tokens.len() - 1)].start..last.start + last.text.len()
}

/// The bytes between two tokens without the space around; literals are no tokens.
fn between(text: &str, tokens: &[Token], left: usize, right: usize) -> Range<usize> {
    let start = span(tokens, left..left + 1).end;
    let end = tokens.get(right).map_or(text.len(), |token| token.start).max(start);
    let inner = &text[start..end];
    let skipped = inner.len() - inner.trim_start().len();
    start + skipped..(start + inner.trim_end().len()).max(start + skipped)
}

fn text_at<'t>(tokens: &[Token<'t>], index: usize) -> &'t str {
    tokens.get(index).map_or("", |token| token.text)
}

/// Where `+ 1` ends, which may be left out if nothing binds more than it does.
fn end_of_term(tokens: &[Token], index: usize) -> Option<usize> {
    let is_sum = matches!(tokens[index].text, "+" | "-") && is_value(tokens, index.wrapping_sub(1));
    let is_number = text_at(tokens, index + 1).bytes().all(|byte| byte.is_ascii_digit());
    let ends = matches!(text_at(tokens, index + 2), ")" | "]" | ";" | "," | "<" | "+" | "-");
    (is_sum && is_number && ends).then_some(index + 2)
}

/// A name that is a whole index, argument, side of a comparison or value.
fn may_have_term(tokens: &[Token], index: usize) -> bool {
    let before = text_at(tokens, index.wrapping_sub(1));
    let after = text_at(tokens, index + 1);
    is_name(tokens[index].text)
        && !is_keyword(tokens[index].text)
        && matches!(before, "[" | "=" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "return" | "+=")
        && matches!(after, "]" | ")" | ";" | "," | "&&" | "||")
}

/// Where what opens at an index is closed.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return index;
        }
    }
    tokens.len() - 1
}

const ENDS: [&str; 6] = ["&&", "||", ";", ",", "?", ":"];

/// Past the operand on the right of an operator.
fn end_of_operand(tokens: &[Token], operator: usize) -> usize {
    let mut at = operator + 1;
    while at < tokens.len() {
        match tokens[at].text {
            "(" | "[" | "{" => at = closing(tokens, at),
            ")" | "]" | "}" => break,
            text if ENDS.contains(&text) => break,
            _ => {}
        }
        at += 1;
    }
    at
}

/// What stands before the operand on the left of an operator.
fn start_of_operand(tokens: &[Token], operator: usize) -> usize {
    let mut depth = 0;
    for index in (0..operator).rev() {
        match tokens[index].text {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "(" | "[" | "{" | "return" | "=" if depth == 0 => return index,
            text if depth == 0 && ENDS.contains(&text) => return index,
            _ => {}
        }
    }
    0
}

/// What stands before, between and after the first two arguments of a call.
fn arguments(tokens: &[Token], index: usize) -> Option<[usize; 3]> {
    let is_call = is_name(tokens[index].text)
        && !is_keyword(tokens[index].text)
        && text_at(tokens, index + 1) == "(";
    let comma = end_of_operand(tokens, index + 1);
    (is_call && text_at(tokens, comma) == ",")
        .then(|| [index + 1, comma, end_of_operand(tokens, comma)])
}

/// Past a statement without a block that begins here and may be missing: no declaration, since that
/// would not compile, and nothing that another statement needs as its body.
fn end_of_statement(tokens: &[Token], index: usize) -> Option<usize> {
    let begins = matches!(text_at(tokens, index.wrapping_sub(1)), ";" | "{" | "}");
    let first = tokens[index].text;
    let start = match first {
        "if" => closing(tokens, index + 1) + 1,
        "break" | "continue" | "*" => index,
        _ if is_name(first) && !is_keyword(first) => index,
        _ => return None,
    };
    let end = (start..tokens.len()).find(|at| matches!(tokens[*at].text, ";" | "{" | "}"))?;
    let is_whole = tokens[end].text == ";" && text_at(tokens, end + 1) != "else";
    let is_labelled = text_at(tokens, index + 1) == ":" || is_name(text_at(tokens, index + 1));
    (begins && is_whole && (first != "if" || start < end) && !(first != "if" && is_labelled))
        .then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int f(int n, int m) {\n  if (n < m && a[n + 1] == 3)\n    return g(n, 'm');\n  n += m;\n  \
                        while (!n)\n    n--;\n  return n;\n}\n";

    #[test]
    fn each_kind_has_its_changes() {
        let by_kind = mutants_by_kind(TEXT);
        let has = |kind: Kind, what: &str| {
            let mut of_kind = KINDS.iter().zip(&by_kind).filter(|(known, _)| **known == kind);
            let is_one = |mutant: &Mutant| mutant.text.contains(what);
            assert!(of_kind.any(|(_, list)| list.iter().any(is_one)), "{kind:?}: {what}");
        };
        has(Kind::Equality, "n <= m");
        has(Kind::Comparison, "n > m");
        has(Kind::Constant, "== 4");
        has(Kind::Term, "a[n ] == 3");
        has(Kind::Term, "return n - 1;");
        has(Kind::Condition, "if (n < m )");
        has(Kind::Condition, "if ( a[n + 1] == 3)");
        has(Kind::Logical, "n < m || a");
        has(Kind::Operator, "n -= m");
        has(Kind::Negation, "while (n)");
        has(Kind::Negation, "if (!(n < m && a[n + 1] == 3))");
        has(Kind::Arguments, "g('m', n)");
        has(Kind::Statement, "'m');\n  \n  while");
        has(Kind::Statement, "{\n  \n  n += m;");
    }
}

//! Tests that are missing before the statement that fails: `if (p == NULL) return NULL;`.
//!
//! A statement is added, not an expression exchanged, so the repair program writes it by itself.
//! It removes nearly every violation where it happens, which is why it weighs little.

use interpret::FaultKind;
use syntax::{Expression, Source, Statement, StatementKind, TokenKind, tokens};

use super::additions::first_values;
use super::context::Context;
use super::{Edit, Fate, Guard};
use crate::library::Library;
use explore::ending::Property;

/// The kind of mistake as the library calls it.
pub const KIND: &str = "missing-exit-test";

/// Tests before the statements of a line in which a property is violated.
pub fn guards(
    source: &Source,
    file: usize,
    library: &Library,
    (line, violated): (u32, Property),
) -> Vec<Edit> {
    let context = Context::new(source);
    let mut found = Vec::new();
    let statements = source.statements();
    for statement in &statements {
        let (first, _) = source.position(statement.bytes.start);
        let (last, _) = source.position(statement.bytes.end.saturating_sub(1));
        if !(first..=last).contains(&line) || !can_be_guarded(source, statement) {
            continue;
        }
        let exits = exits(&context, &statements, statement);
        for condition in conditions(&context, statement, violated) {
            let is_tested = is_tested(&context, statement, &condition);
            for (n_before, exit) in exits.iter().enumerate() {
                let weight = library.weight(KIND).saturating_sub(n_before as u32);
                let weight = if is_tested { weight / 2 } else { weight };
                let guard = Guard { condition: condition.clone(), exit: exit.clone() };
                found.push(edit(source, file, statement, guard, weight));
            }
        }
    }
    if violated == Property::Fault(FaultKind::Uninitialised) {
        found.extend(first_values(source, file, library));
    }
    found.retain(|edit| edit.weight > 0);
    found
}

fn edit(source: &Source, file: usize, statement: &Statement, guard: Guard, weight: u32) -> Edit {
    let at = statement.bytes.start;
    let start = source.text()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    let before = source.slice(&(start..at));
    let new = match before.trim().is_empty() {
        true => {
            let deeper = deeper(&before);
            format!("if ({})\n{before}{deeper}{}", guard.condition, guard.exit)
        }
        false => format!("if ({}) {}", guard.condition, guard.exit),
    };
    added((source, file), statement, guard, (KIND, weight), &new)
}

/// One step of indentation more.
fn deeper(before: &str) -> &'static str {
    match before.len() % 4 {
        _ if before.contains('\t') => "\t",
        2 => "  ",
        _ => "    ",
    }
}

/// What is written before a statement, on lines of its own where that one has its own.
pub(super) fn added(
    (source, file): (&Source, usize),
    statement: &Statement,
    guard: Guard,
    (kind, weight): (&'static str, u32),
    text: &str,
) -> Edit {
    let at = statement.bytes.start;
    let start = source.text()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    let before = source.slice(&(start..at));
    let new = match (before.trim().is_empty(), statement.kind) {
        // Labels stand further out than what belongs to them.
        (true, StatementKind::Case) => format!("{}{text}\n{before}", deeper(&before)),
        (true, _) => format!("{text}\n{before}"),
        (false, _) => format!("{text} "),
    };
    Edit {
        file,
        bytes: at..at,
        new,
        site: at..at,
        site_text: String::new(),
        fate: Fate::Dropped,
        kind,
        weight,
        statement: statement.bytes.clone(),
        function: statement.function.clone(),
        guard: Some(guard),
    }
}

/// Whether another statement can stand before this one: in a block, not behind an `if`.
pub(super) fn can_be_guarded(source: &Source, statement: &Statement) -> bool {
    let is_plain = matches!(
        statement.kind,
        StatementKind::Expression
            | StatementKind::Return
            | StatementKind::Declaration
            | StatementKind::If
            | StatementKind::Switch
    );
    let before = tokens(&source.text()[..statement.bytes.start]);
    let is_in_block = before.last().is_some_and(|t| matches!(t.text.as_str(), "{" | "}" | ";"));
    is_plain && is_in_block && !source.has_error(&statement.bytes)
}

/// When the statement should not be run.
fn conditions(context: &Context, statement: &Statement, violated: Property) -> Vec<String> {
    let expressions = context.source.expressions(&statement.bytes);
    let mut found: Vec<String> = Vec::new();
    for e in &expressions {
        match violated {
            Property::Fault(FaultKind::Null) => found.extend(null_test(context, e)),
            Property::Fault(FaultKind::DivideByZero) => found.extend(zero_test(context, e)),
            Property::Fault(FaultKind::OutOfBounds) => found.extend(bound_tests(context, e)),
            _ => {}
        }
    }
    let mut known = std::collections::BTreeSet::new();
    found.retain(|condition| known.insert(condition.clone()));
    found
}

/// Whether the function compares the same before, if perhaps wrongly: one test is enough.
fn is_tested(context: &Context, statement: &Statement, condition: &str) -> bool {
    let source = context.source;
    let own = source.functions().into_iter().find(|f| f.body.contains(&statement.bytes.start));
    let Some(own) = own else { return false };
    let tested = condition.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
    source.expressions(&(own.body.start..statement.bytes.start)).iter().any(|e| {
        let operator = e.operator.as_ref().map(|o| context.text(o)).unwrap_or_default();
        matches!(operator.as_str(), "<" | "<=" | ">" | ">=" | "==" | "!=")
            && e.operands.iter().any(|operand| context.text(operand) == tested)
    })
}

fn null_test(context: &Context, e: &Expression) -> Option<String> {
    let base = e.operands.first().map(|base| context.text(base)).unwrap_or_default();
    let name = match e.kind {
        "field_expression"
            if !context.text(&e.bytes)[base.len()..].trim_start().starts_with("->") =>
        {
            return passed(context, e);
        }
        "field_expression" if e.parent.0 == "argument_list" => {
            return passed(context, e).or_else(|| tested(context, base, e.bytes.start));
        }
        "field_expression" | "pointer_expression" | "subscript_expression" => base,
        "identifier" => return passed(context, e),
        _ => return None,
    };
    tested(context, name, e.bytes.start)
}

/// What a function is passed.
fn passed(context: &Context, e: &Expression) -> Option<String> {
    let is_passed = e.parent.0 == "argument_list";
    is_passed.then(|| tested(context, context.text(&e.bytes), e.bytes.start)).flatten()
}

fn tested(context: &Context, place: String, at: usize) -> Option<String> {
    let is_pointer = context.is_pointer(&place, at) || context.is_pointer_member(&place);
    (is_pointer && is_pure(&place)).then(|| format!("{place} == NULL"))
}

fn zero_test(context: &Context, e: &Expression) -> Option<String> {
    let operator = e.operator.as_ref().map(|o| context.text(o))?;
    let right = context.text(e.operands.get(1)?);
    let is_division = matches!(operator.as_str(), "/" | "%" | "/=" | "%=");
    // What has effects would have them twice.
    (is_division && is_pure(&right)).then(|| format!("{right} == 0"))
}

fn bound_tests(context: &Context, e: &Expression) -> Vec<String> {
    let (Some(base), Some(index)) = (e.operands.first(), e.operands.get(1)) else {
        return Vec::new();
    };
    let (base, index) = (context.text(base), context.text(index));
    // Of a constant nothing is to be tested.
    let mut names = tokens(index.as_bytes()).into_iter();
    let varies = names.any(|token| context.variable(&token.text, e.bytes.start).is_some());
    if e.kind != "subscript_expression" || !is_pure(&index) || !varies {
        return Vec::new();
    }
    let array = context.variable(&base, e.bytes.start);
    let length = array.and_then(|array| array.length.as_ref()).map(|bytes| context.text(bytes));
    let Some(length) = length else { return Vec::new() };
    let declared = context.variable(&index, e.bytes.start);
    let is_unsigned = declared.is_some_and(|d| d.base.contains("unsigned") || d.base == "size_t");
    if is_unsigned {
        return vec![format!("{index} >= {length}")];
    }
    let loose = index.contains(|c: char| !c.is_alphanumeric() && !"_[].".contains(c));
    let index = if loose { format!("({index})") } else { index };
    vec![format!("{index} < 0 || {index} >= {length}"), format!("{index} >= {length}")]
}

pub(super) fn is_pure(text: &str) -> bool {
    !["=", "++", "--", "("].iter().any(|effect| text.contains(effect))
}

/// How to leave: as the function does elsewhere, or the loop around the statement.
fn exits(context: &Context, all: &[Statement], statement: &Statement) -> Vec<String> {
    let source = context.source;
    let mut found = Vec::new();
    let own = source.functions().into_iter().find(|f| f.body.contains(&statement.bytes.start));
    let Some(function) = own else { return found };
    let head = tokens(&source.text()[function.bytes.start..function.body.start]);
    let name = head.iter().position(|token| token.text == function.name).unwrap_or(0);
    let is_pointer = head[..name].iter().any(|token| token.text == "*");
    let is_void = head[..name].iter().any(|token| token.text == "void") && !is_pointer;
    let is_constant = |text: &str| {
        let words = tokens(text.as_bytes());
        words.iter().all(|t| match t.kind {
            TokenKind::Number => true,
            TokenKind::Word => !t.text.contains(|c: char| c.is_ascii_lowercase()),
            _ => t.text == "-",
        })
    };
    let returned = all
        .iter()
        .filter(|s| s.kind == StatementKind::Return && function.body.contains(&s.bytes.start));
    let mut returned = returned.filter(|s| s.bytes.start < statement.bytes.start).filter_map(|s| {
        let text = source.slice(&s.bytes);
        let value = text.strip_prefix("return")?.trim().trim_end_matches(';').trim().to_owned();
        (!value.is_empty() && is_constant(&value)).then_some(value)
    });
    found.push(match returned.next() {
        _ if is_void => "return;".to_owned(),
        Some(value) => format!("return {value};"),
        None if is_pointer => "return NULL;".to_owned(),
        None if function.name == "main" => "return 1;".to_owned(),
        None => "return 0;".to_owned(),
    });
    let is_around = |s: &&Statement| {
        matches!(s.kind, StatementKind::For | StatementKind::While | StatementKind::DoWhile)
            && s.whole.contains(&statement.bytes.start)
            && s.bytes.start < statement.bytes.start
    };
    if all.iter().any(|s| is_around(&s)) {
        found.extend(["break;".to_owned(), "continue;".to_owned()]);
    }
    found
}

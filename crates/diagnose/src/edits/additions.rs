//! Statements that are forgotten behind another one: a text's zero after `strncpy`, `p = NULL;`
//! after `free(p)`, an index that starts anew like its neighbour, a variable's first value.

use std::collections::BTreeSet;
use std::ops::Range;

use syntax::{Declaration, Expression, Source, Statement, StatementKind, tokens};

use super::context::{Context, is_number, is_scalar};
use super::guards::{can_be_guarded, is_pure};
use super::{ALWAYS, Edit, Fate, Guard};
use crate::library::Library;

/// Variables that may have to start anew together with another one.
const MAX_RESETS: usize = 3;

/// What may be missing behind the statements of these lines.
pub fn additions(
    context: &Context,
    file: usize,
    library: &Library,
    lines: &BTreeSet<u32>,
) -> Vec<Edit> {
    let source = context.source;
    let mut found = Vec::new();
    for statement in source.statements() {
        let (first, _) = source.position(statement.bytes.start);
        let is_wanted = lines.contains(&first) && statement.kind == StatementKind::Expression;
        if !is_wanted || !can_be_guarded(source, &statement) {
            continue;
        }
        let expressions = source.expressions(&statement.bytes);
        let whole = expressions.iter().max_by_key(|e| e.bytes.len());
        let missing = whole.map(|e| behind(context, &statement, e)).unwrap_or_default();
        for (kind, text) in missing {
            found.push(added_behind((source, file), &statement, text, kind, library));
        }
    }
    found.retain(|edit| edit.weight > 0);
    found
}

fn behind(context: &Context, statement: &Statement, e: &Expression) -> Vec<(&'static str, String)> {
    let text = |bytes: &Range<usize>| context.text(bytes);
    let operands: Vec<String> = e.operands.iter().map(text).collect();
    match (e.kind, &operands[..]) {
        ("call_expression", [callee, to, _, size])
            if callee == "strncpy" && is_pure(to) && is_size(size) =>
        {
            vec![("missing-terminator", format!("{to}[{size} - 1] = '\\0';"))]
        }
        ("call_expression", [callee, freed]) if callee == "free" && is_pure(freed) => {
            vec![("missing-null", format!("{freed} = NULL;"))]
        }
        ("assignment_expression", [left, right]) => {
            let operator = e.operator.as_ref().map(text).unwrap_or_default();
            let is_start = operator == "=" && right.parse::<u64>().is_ok();
            let names = if is_start { moved_with(context, statement, left) } else { Vec::new() };
            names.into_iter().map(|name| ("missing-reset", format!("{name} = {right};"))).collect()
        }
        _ => Vec::new(),
    }
}

fn is_size(text: &str) -> bool {
    is_pure(text) || text.starts_with("sizeof") && !text.contains(['=', '+'])
}

/// Other numbers that the function counts up, nearest declaration first.
fn moved_with(context: &Context, statement: &Statement, name: &str) -> Vec<String> {
    let at = statement.bytes.start;
    let functions = context.source.functions();
    let Some(own) = functions.iter().find(|f| f.body.contains(&at)) else { return Vec::new() };
    if context.variable(name, at).is_none_or(|v| !v.shape.is_empty() || !is_number(&v.base)) {
        return Vec::new();
    }
    let expressions = context.source.expressions(&own.body);
    let is_counted = |other: &Declaration| {
        expressions.iter().any(|e| {
            let first = e.operands.first().map(|o| context.text(o)).unwrap_or_default();
            e.kind == "update_expression" && first == other.name
        })
    };
    let mut others: Vec<&Declaration> = context
        .visible(at)
        .filter(|d| d.name != name && d.shape.is_empty() && is_number(&d.base) && is_counted(d))
        .collect();
    others.sort_by_key(|d| at.abs_diff(d.bytes.start));
    others.iter().take(MAX_RESETS).map(|d| d.name.clone()).collect()
}

fn added_behind(
    (source, file): (&Source, usize),
    statement: &Statement,
    text: String,
    kind: &'static str,
    library: &Library,
) -> Edit {
    let (at, end) = (statement.bytes.start, statement.bytes.end);
    let start = source.text()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    let before = source.slice(&(start..at));
    let new = match before.trim().is_empty() {
        true => format!("\n{before}{text}"),
        false => format!(" {text}"),
    };
    Edit {
        file,
        bytes: end..end,
        new,
        site: end..end,
        site_text: String::new(),
        fate: Fate::Dropped,
        kind,
        weight: library.weight(kind),
        statement: statement.bytes.clone(),
        function: statement.function.clone(),
        guard: Some(Guard { condition: ALWAYS.to_owned(), exit: text }),
    }
}

/// First values of variables that are declared without one.
pub fn first_values(source: &Source, file: usize, library: &Library) -> Vec<Edit> {
    const KIND: &str = "missing-initialiser";
    let context = Context::new(source);
    let declarations = source.statements();
    let declarations = declarations.iter().filter(|s| s.kind == StatementKind::Declaration);
    let mut found = Vec::new();
    for statement in declarations.filter(|s| !source.has_error(&s.bytes)) {
        let own = context.declarations.iter().filter(|d| {
            !d.is_member && statement.bytes.contains(&d.bytes.start) && !d.shape.contains('(')
        });
        for declared in own {
            let Some((at, value, assigned)) = first_value(source, statement, declared) else {
                continue;
            };
            let end = statement.bytes.end;
            found.push(Edit {
                file,
                bytes: at..at,
                new: format!(" = {value}"),
                site: end..end,
                site_text: String::new(),
                fate: Fate::Dropped,
                kind: KIND,
                weight: library.weight(KIND),
                statement: statement.bytes.clone(),
                function: statement.function.clone(),
                guard: Some(Guard { condition: ALWAYS.to_owned(), exit: assigned }),
            });
        }
    }
    found.retain(|edit| edit.weight > 0);
    found
}

/// Where the value goes, the value, and the statement that gives it in the repair program.
fn first_value(
    source: &Source,
    statement: &Statement,
    declared: &Declaration,
) -> Option<(usize, &'static str, String)> {
    // Behind the brackets of an array.
    let mut at = declared.bytes.end;
    let mut depth = 0;
    for token in tokens(&source.text()[declared.bytes.end..statement.bytes.end]) {
        match token.text.as_str() {
            "[" => depth += 1,
            "]" => {
                depth -= 1;
                at = declared.bytes.end + token.bytes.end;
            }
            "=" if depth == 0 => return None,
            "," | ";" if depth == 0 => break,
            _ => {}
        }
    }
    let name = &declared.name;
    let is_array = declared.shape.starts_with('[');
    Some(match is_scalar(&declared.base, &declared.shape) && !is_array {
        true if declared.shape.contains('*') => (at, "NULL", format!("{name} = 0;")),
        true => (at, "0", format!("{name} = 0;")),
        false => (at, "{0}", format!("__builtin_memset(&{name}, 0, sizeof({name}));")),
    })
}

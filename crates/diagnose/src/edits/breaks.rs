//! A `break;` that is missing before a `case`.

use std::collections::BTreeSet;

use syntax::{Source, Statement, StatementKind, tokens};

use super::guards::added;
use super::{ALWAYS, Edit, Guard};
use crate::library::Library;

const KIND: &str = "missing-break";

/// `break;` before each label of these lines that control falls into.
pub fn breaks(source: &Source, file: usize, library: &Library, lines: &BTreeSet<u32>) -> Vec<Edit> {
    let statements = source.statements();
    let labels = statements.iter().filter(|s| s.kind == StatementKind::Case);
    let labels = labels.filter(|label| {
        let (first, _) = source.position(label.whole.start);
        let (last, _) = source.position(label.whole.end.saturating_sub(1));
        lines.range(first..=last).next().is_some()
    });
    labels
        .filter(|label| falls_into(source, &statements, label))
        .map(|label| {
            let guard = Guard { condition: ALWAYS.to_owned(), exit: "break;".to_owned() };
            let text = "break;".to_owned();
            added((source, file), label, guard, (KIND, library.weight(KIND)), &text)
        })
        .filter(|edit| edit.weight > 0)
        .collect()
}

/// Whether a statement that does not leave stands before the label.
fn falls_into(source: &Source, statements: &[Statement], label: &Statement) -> bool {
    let is_before = |s: &&Statement| {
        s.kind != StatementKind::Case
            && s.bytes.end <= label.bytes.start
            && s.function == label.function
    };
    let Some(last) = statements.iter().filter(is_before).max_by_key(|s| s.bytes.end) else {
        return false;
    };
    let between = source.slice(&(last.bytes.end..label.bytes.start));
    // A comment says that it is meant: `/* fall through */`.
    let is_meant = between.to_ascii_lowercase().contains("fall");
    let opens = tokens(between.as_bytes())
        .iter()
        .any(|token| matches!(token.text.as_str(), "{" | "case" | "default"));
    let leaves = matches!(last.kind, StatementKind::Jump | StatementKind::Return);
    !is_meant && !opens && !leaves && !source.has_error(&last.bytes)
}

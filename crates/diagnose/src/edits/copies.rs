//! Copies in which a name was not changed: two statements of one shape, where a name of the
//! one stands for another in the second everywhere but in one place.

use std::collections::BTreeMap;
use std::ops::Range;

use syntax::{Token, TokenKind, tokens};

use super::Edit;
use super::context::Context;
use crate::library::Library;

/// Statements further apart than this are not copies of each other.
const MAX_DISTANCE: usize = 12;

/// Raises the weight of edits that a similar statement nearby suggests.
pub fn prefer(context: &Context<'_>, library: &Library, edits: &mut [Edit]) {
    let weight = library.weight("copy-paste");
    let statements = context.source.statements();
    for (index, copy) in statements.iter().enumerate() {
        let edited = edits.iter().any(|edit| edit.statement == copy.bytes);
        if !edited {
            continue;
        }
        let near = index.saturating_sub(MAX_DISTANCE)..(index + MAX_DISTANCE).min(statements.len());
        for original in near.filter(|other| *other != index).map(|other| &statements[other]) {
            for (place, name) in forgotten(context, &original.bytes, &copy.bytes) {
                for edit in edits.iter_mut() {
                    let is_meant = edit.bytes == place
                        && edit.new == name
                        && matches!(edit.kind, "wrong-variable" | "wrong-member");
                    if is_meant {
                        edit.weight = edit.weight.max(weight);
                        edit.kind = "copy-paste";
                    }
                }
            }
        }
    }
}

/// Names of the copy that stayed as they were though the same name changed elsewhere, and
/// what it changed to.
fn forgotten(
    context: &Context<'_>,
    original: &Range<usize>,
    copy: &Range<usize>,
) -> Vec<(Range<usize>, String)> {
    let text = context.source.text();
    let (a, b) = (tokens(&text[original.clone()]), tokens(&text[copy.clone()]));
    let has_one_shape = a.len() == b.len()
        && a.len() >= 4
        && a.iter().zip(&b).all(|(x, y)| x.kind == y.kind && (is_name(x) || x.text == y.text));
    if !has_one_shape {
        return Vec::new();
    }
    let mut renamed: BTreeMap<&str, &str> = BTreeMap::new();
    for (x, y) in a.iter().zip(&b).filter(|(x, y)| is_name(x) && x.text != y.text) {
        renamed.insert(&x.text, &y.text);
    }
    let kept = a.iter().zip(&b).filter(|(x, y)| is_name(x) && x.text == y.text);
    kept.filter_map(|(x, y)| {
        let new = renamed.get(x.text.as_str())?;
        let place = copy.start + y.bytes.start..copy.start + y.bytes.end;
        Some((place, (*new).to_owned()))
    })
    .collect()
}

fn is_name(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Number)
}

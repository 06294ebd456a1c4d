//! What an editor offers at a finding: repairs, and a comment that silences it.

use std::collections::HashMap;
use std::path::Path;

use findings::{Change, Findings, Repair};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, Diagnostic, NumberOrString, Position, Range,
    TextEdit, Uri, WorkspaceEdit,
};
use report::edits;
use report::sources::Sources;

use super::convert::{SOURCE, path, units, uri};

/// Repairs first, the best one preferred.
pub fn actions(
    params: &CodeActionParams,
    findings: &Findings,
    last: &[Repair],
    root: &Path,
) -> Vec<CodeAction> {
    let mut sources = Sources::new(root);
    let Some(file) = path(&params.text_document.uri) else { return Vec::new() };
    let file = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
    let mut actions = Vec::new();
    for repair in findings.repairs.iter().chain(last) {
        if is_about(repair, &file, &params.range, findings) {
            actions.extend(repaired(repair, root, &mut sources));
        }
    }
    let ours = |d: &&Diagnostic| d.source.as_deref() == Some(SOURCE);
    for diagnostic in params.context.diagnostics.iter().filter(ours) {
        actions.extend(ignored(diagnostic, &params.text_document.uri, &file, &mut sources));
    }
    actions
}

/// Whether the change, or the fault it repairs, lies in these lines.
fn is_about(repair: &Repair, file: &str, range: &Range, findings: &Findings) -> bool {
    let fault = repair.fault.as_ref().and_then(|id| findings.faults.iter().find(|f| f.id == *id));
    let places = repair.changes.iter().map(|change| &change.place);
    let mut places = places.chain(fault.map(|fault| &fault.place));
    let rows = range.start.line..=range.end.line;
    places.any(|place| place.file == file && rows.contains(&place.line.saturating_sub(1)))
}

fn repaired(repair: &Repair, root: &Path, sources: &mut Sources) -> Option<CodeAction> {
    let why = if repair.why.is_empty() { "change the source" } else { &repair.why };
    let mut title = format!("firstfault: repair {}: {why}", repair.rank);
    if let Some(verified) = repair.verified.first() {
        title += &format!(" ({verified})");
    }
    let edit = edit(&repair.changes, root, sources)?;
    Some(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        is_preferred: Some(repair.rank == 1),
        edit: Some(edit),
        ..CodeAction::default()
    })
}

/// `None` where the source is no longer what was repaired.
#[allow(clippy::mutable_key_type, reason = "the protocol's own type")]
fn edit(changes: &[Change], root: &Path, sources: &mut Sources) -> Option<WorkspaceEdit> {
    let mut by_file: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for change in changes {
        let extent = edits::extent(change, sources)?;
        let file = &change.place.file;
        let mut position = |line: u32, column: u32| {
            let bytes = sources.raw_line(file, line).unwrap_or_default();
            let before = bytes.get(..column as usize - 1).unwrap_or(bytes);
            Position::new(line - 1, units(before))
        };
        let start = position(extent.start_line, extent.start_column);
        let end = position(extent.end_line, extent.end_column);
        let edit = TextEdit { range: Range::new(start, end), new_text: change.new.clone() };
        by_file.entry(uri(root, file)?).or_default().push(edit);
    }
    (!by_file.is_empty()).then(|| WorkspaceEdit::new(by_file))
}

#[allow(clippy::mutable_key_type, reason = "the protocol's own type")]
fn ignored(
    diagnostic: &Diagnostic,
    uri: &Uri,
    file: &str,
    sources: &mut Sources,
) -> Option<CodeAction> {
    let Some(NumberOrString::String(rule)) = &diagnostic.code else { return None };
    let row = diagnostic.range.start.line;
    let line = sources.raw_line(file, row + 1)?;
    let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let indent = String::from_utf8_lossy(&line[..indent]).into_owned();
    let at = Position::new(row, 0);
    let new_text = format!("{indent}/* firstfault-ignore[{rule}]: say why */\n");
    let edit = TextEdit { range: Range::new(at, at), new_text };
    Some(CodeAction {
        title: format!("firstfault: ignore {rule} here"),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        edit: Some(WorkspaceEdit::new(HashMap::from([(uri.clone(), vec![edit])]))),
        ..CodeAction::default()
    })
}

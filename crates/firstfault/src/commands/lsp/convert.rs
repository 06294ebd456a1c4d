//! Findings as editors show them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use findings::{Fault, Findings, Place, Severity};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Position, Range, Uri,
};
use report::sources::Sources;

pub const SOURCE: &str = "firstfault";

/// Related places shown with one diagnostic.
const MAX_RELATED: usize = 50;

/// By file: faults with their path, deviations with places that follow the rule.
pub fn diagnostics(
    findings: &Findings,
    root: &Path,
    sources: &mut Sources,
) -> BTreeMap<String, Vec<Diagnostic>> {
    let mut all: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for fault in &findings.faults {
        let related = steps(fault).chain(causes(fault, findings)).collect();
        let what = (fault.severity, fault.rule.as_str(), fault.message.as_str());
        let diagnostic = diagnostic(&fault.place, what, related, root, sources);
        all.entry(fault.place.file.clone()).or_default().push(diagnostic);
    }
    for deviation in &findings.deviations {
        let related = deviation.examples.iter();
        let related = related.map(|e| (&e.place, format!("follows the rule: {}", e.note)));
        let what = (Severity::Warning, deviation.template.as_str(), deviation.message.as_str());
        let diagnostic = diagnostic(&deviation.place, what, related.collect(), root, sources);
        all.entry(deviation.place.file.clone()).or_default().push(diagnostic);
    }
    all
}

/// The steps of the shortest path, numbered.
fn steps(fault: &Fault) -> impl Iterator<Item = (&Place, String)> {
    let steps = fault.segments.first().map_or(&[][..], |segment| segment.steps.as_slice());
    let steps = if steps.len() > 1 { steps } else { &[] };
    (1..).zip(steps).map(|(n, step)| (&step.place, format!("{n}. {}", step.note)))
}

/// What causes the fault, and what it causes.
fn causes<'f>(
    fault: &'f Fault,
    findings: &'f Findings,
) -> impl Iterator<Item = (&'f Place, String)> {
    let find = |id: &str| findings.faults.iter().find(|fault| fault.id == id);
    findings.correlations.iter().filter_map(move |edge| {
        if edge.from == fault.id {
            let effect = find(&edge.to)?;
            Some((&effect.place, format!("causes: {}", effect.message)))
        } else if edge.to == fault.id {
            let cause = find(&edge.from)?;
            Some((&cause.place, format!("caused by: {}", cause.message)))
        } else {
            None
        }
    })
}

fn diagnostic(
    place: &Place,
    (severity, rule, message): (Severity, &str, &str),
    related: Vec<(&Place, String)>,
    root: &Path,
    sources: &mut Sources,
) -> Diagnostic {
    let related = related.into_iter().take(MAX_RELATED).filter_map(|(place, message)| {
        let location = Location { uri: uri(root, &place.file)?, range: range(place, sources) };
        Some(DiagnosticRelatedInformation { location, message })
    });
    let related: Vec<_> = related.collect();
    Diagnostic {
        range: range(place, sources),
        severity: Some(match severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(rule.to_owned())),
        source: Some(SOURCE.to_owned()),
        message: message.to_owned(),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

/// The word at a place, or the whole line where the column is unknown.
pub fn range(place: &Place, sources: &mut Sources) -> Range {
    let line = sources.raw_line(&place.file, place.line).unwrap_or_default();
    let (start, end) = match place.column as usize {
        0 => (line.iter().take_while(|byte| byte.is_ascii_whitespace()).count(), line.len()),
        column => {
            let start = (column - 1).min(line.len());
            let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let length = line[start..].iter().take_while(is_word).count().max(1);
            (start, (start + length).min(line.len()).max(start))
        }
    };
    let row = place.line.saturating_sub(1);
    let units = |end: usize| units(&line[..end]);
    Range::new(Position::new(row, units(start)), Position::new(row, units(end)))
}

/// Editors count in UTF-16.
pub fn units(bytes: &[u8]) -> u32 {
    let n = String::from_utf8_lossy(bytes).encode_utf16().count();
    u32::try_from(n).unwrap_or(u32::MAX)
}

pub fn uri(root: &Path, file: &str) -> Option<Uri> {
    let path = root.join(file.strip_prefix("./").unwrap_or(file));
    let path = std::path::absolute(path).ok()?;
    Uri::from_str(&format!("file://{}", report::uri::encode(path.to_str()?))).ok()
}

pub fn path(uri: &Uri) -> Option<PathBuf> {
    path_of(uri.as_str())
}

pub fn path_of(uri: &str) -> Option<PathBuf> {
    uri.starts_with("file://").then(|| PathBuf::from(report::uri::path_of(uri)))
}

//! From a place in a report to the statement there, and what the report says of it.

use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use bugfix::{Situation, deviation_descriptors, fault_descriptors};
use findings::{Findings, Place};
use syntax::{Source, Statement, tokens};

/// A statement in its file.
pub struct Marked {
    pub source: Source,
    pub statement: Statement,
    /// Where the statement begins.
    pub place: Place,
}

impl Marked {
    /// Equal for the same code in a file of the same name.
    pub fn statement_key(&self) -> String {
        let bytes = &self.source.text()[self.statement.bytes.clone()];
        statement_key(&self.place.file, &self.statement.function, bytes)
    }
}

pub fn statement_key(file: &str, function: &str, statement: &[u8]) -> String {
    let texts: Vec<String> = tokens(statement).into_iter().map(|token| token.text).collect();
    let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    format!("{file}\n{function}\n{}", texts.join(" "))
}

pub fn read_source(path: &Path) -> Result<Vec<u8>> {
    base::read::source(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The statement at a place.
pub fn mark(place: &Place) -> Result<Marked> {
    let source = Source::parse(read_source(Path::new(&place.file))?);
    let statement = statement_in(&source, place)
        .ok_or_else(|| anyhow!("{}:{}: there is no statement here", place.file, place.line))?;
    let (line, column) = source.position(statement.bytes.start);
    let function = statement.function.clone();
    let place = Place { file: place.file.clone(), line, column, function };
    Ok(Marked { source, statement, place })
}

/// Of several statements in a line the one that stands at the column, or else the first.
fn statement_in(source: &Source, place: &Place) -> Option<Statement> {
    let all = source.statements_at(place.line);
    let at = source.line(place.line)?.start + place.column.saturating_sub(1) as usize;
    let is_there = |statement: &&Statement| place.column > 0 && statement.bytes.contains(&at);
    all.iter().filter(is_there).min_by_key(|s| s.bytes.len()).or(all.first()).cloned()
}

/// The lines of the statement at a place; the line itself where there is none.
pub fn lines_of(place: &Place) -> RangeInclusive<u32> {
    let Ok(marked) = mark(place) else { return place.line..=place.line };
    lines_of_statement(&marked.source, &marked.statement)
}

pub fn lines_of_statement(source: &Source, statement: &Statement) -> RangeInclusive<u32> {
    let last = statement.bytes.end.saturating_sub(1);
    source.position(statement.bytes.start).0..=source.position(last).0
}

pub fn read_report(path: &Path) -> Result<Findings> {
    let bytes = read_source(path)?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is no JSON report of firstfault", path.display()))
}

/// The finding asked for, or the first: where it is, and its descriptors.
pub fn evidence_of(
    report: &Findings,
    asked: Option<&Place>,
    fault: Option<&str>,
) -> Result<(Place, Situation)> {
    let is_asked = |place: &Place| {
        asked.is_none_or(|asked| {
            asked.line == place.line && Path::new(&place.file).ends_with(&asked.file)
        })
    };
    let faults = report.faults.iter().filter(|f| fault.is_none_or(|id| f.id == id));
    let faults = faults.map(|fault| (fault.place.clone(), fault_descriptors(fault)));
    let rest: Box<dyn Iterator<Item = (Place, Situation)>> = if fault.is_some() {
        Box::new(std::iter::empty())
    } else {
        let plain = |place: &Place| (place.clone(), Situation::new());
        let corruption = report
            .corruption
            .iter()
            .map(|c| (c.place.clone(), Situation::from([format!("CORRUPTION {}", c.kind)])));
        let statements = report.statements.iter().map(move |s| plain(&s.place));
        let repairs = report.repairs.iter().flat_map(|repair| &repair.changes);
        let repairs = repairs.map(move |change| plain(&change.place));
        let deviations = report.deviations.iter();
        let deviations = deviations.map(|d| (d.place.clone(), deviation_descriptors(d)));
        Box::new(corruption.chain(statements).chain(repairs).chain(deviations))
    };
    let found = faults.chain(rest).find(|(place, _)| is_asked(place));
    found.ok_or_else(|| match (fault, asked) {
        (Some(id), _) => anyhow!("the report has no fault {id}"),
        (_, Some(place)) => anyhow!("the report has nothing in line {}", place.line),
        _ => anyhow!("the report has no findings"),
    })
}

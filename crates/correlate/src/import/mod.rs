//! Faults that another tool reported, brought to the points where ours are asked about.

mod foreign;

use std::collections::BTreeSet;
use std::path::{Component, Path};

use detect::engine::Engine;
use detect::query::{At, QueryId};
use detect::report::{RuleInfo, query_place};
use findings::{Fault, Place};

/// Reports of other tools.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    pub faults: Vec<Fault>,
    /// Leave out what detection would find by itself.
    pub alone: bool,
}

/// Lines between a report and the point it is about.
const MAX_DISTANCE: u32 = 2;

/// The query a foreign fault is about: of a rule that means the same, nearest to its place.
pub fn nearest(engine: &Engine, infos: &[RuleInfo], fault: &Fault) -> Option<QueryId> {
    let wanted = meant(infos, fault);
    let mut best: Option<((u32, u32, u32), QueryId)> = None;
    for (index, query) in engine.queries.iter().enumerate() {
        if query.at == At::Exit || !wanted.contains(&infos[query.rule as usize].id.as_str()) {
            continue;
        }
        let place = query_place(engine.code.program, query);
        let distance = place.line.abs_diff(fault.place.line);
        if distance > MAX_DISTANCE || !is_same_file(&place, &fault.place) {
            continue;
        }
        // A report below its point is as good as one above it, but its own line is best.
        let columns = place.column.abs_diff(fault.place.column);
        let key = (distance, columns, index as u32);
        if best.is_none_or(|(known, _)| key < known) {
            best = Some((key, QueryId(index as u32)));
        }
    }
    best.map(|(_, id)| id)
}

/// Other tools write absolute paths, or such that begin elsewhere: one has to end as the
/// other does.
fn is_same_file(ours: &Place, theirs: &Place) -> bool {
    let parts = |place: &Place| -> Vec<String> {
        Path::new(&place.file)
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect()
    };
    let (ours, theirs) = (parts(ours), parts(theirs));
    !ours.is_empty() && !theirs.is_empty() && (ours.ends_with(&theirs) || theirs.ends_with(&ours))
}

/// Our rules that look for what the fault is: by the name of its rule, by its CWE numbers, or
/// by the words of its rule and message.
fn meant<'a>(infos: &'a [RuleInfo], fault: &Fault) -> BTreeSet<&'a str> {
    let named: Vec<&str> = foreign::ours(&fault.rule, &fault.message).collect();
    if !named.is_empty() {
        let ids = infos.iter().map(|info| info.id.as_str());
        return ids.filter(|id| named.contains(id)).collect();
    }
    let by_weakness =
        infos.iter().filter(|info| info.cwe.iter().any(|cwe| fault.cwe.contains(cwe)));
    let mut meant: BTreeSet<&str> = by_weakness.map(|info| info.id.as_str()).collect();
    for rules in spoken_of(fault) {
        meant.extend(infos.iter().map(|info| info.id.as_str()).filter(|id| rules.contains(id)));
    }
    meant
}

/// Why a fault that belongs to no point of the program does not.
pub fn why_unplaced(fault: &Fault) -> &'static str {
    let named: Vec<&str> = foreign::ours(&fault.rule, &fault.message).collect();
    if named == ["leak"] {
        return "leaks are followed only where firstfault finds them itself";
    }
    if named.is_empty() && fault.cwe.is_empty() && spoken_of(fault).next().is_none() {
        return "no rule of firstfault is about this";
    }
    "no point near here where this could be observed"
}

/// What the words of a fault say it is.
fn spoken_of(fault: &Fault) -> impl Iterator<Item = &'static [&'static str]> {
    let text = format!("{} {}", fault.rule, fault.message).to_ascii_lowercase();
    let text: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    WORDS.iter().filter(move |(word, _)| text.contains(word)).map(|(_, rules)| *rules)
}

const BUFFER: &[&str] = &["buffer-overflow", "buffer-underflow", "buffer-overread"];

/// What tools call our faults, letters and digits only.
const WORDS: &[(&str, &[&str])] = &[
    ("null", &["null-dereference"]),
    ("usea", &["use-after-free"]),
    ("useoffreed", &["use-after-free"]),
    ("deallocuse", &["use-after-free"]),
    ("doublefree", &["double-free"]),
    ("leak", &["leak"]),
    ("uninit", &["uninitialized-read"]),
    ("garbage", &["uninitialized-read"]),
    ("divi", &["divide-by-zero"]),
    ("zerodiv", &["divide-by-zero"]),
    ("outofbound", BUFFER),
    ("arraybound", BUFFER),
    ("bufferover", BUFFER),
    ("arrayindex", BUFFER),
    ("integeroverflow", &["integer-overflow"]),
    ("conversion", &["integer-truncation", "integer-signedness"]),
    ("infiniteloop", &["infinite-loop"]),
];

//! Reports against places: what was found, what was missed, what should have stayed silent.
//!
//! A report answers at most one place, and only one whose rules it is of. It answers a place
//! on its own line; where the suite gives the line of a call, also one its path goes through;
//! for kinds whose line is a matter of taste (`Kind::is_anywhere_in_function`), one in the
//! same function. What is left over is a false report: in a place that must be silent, in a
//! function without any expectation, or beside the expectations of another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use super::model::{Case, Kind, Place, Role};
use super::running::Reported;
use super::source;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub n: usize,
    pub of: usize,
}

impl Share {
    fn add(&mut self, other: Share) {
        self.n += other.n;
        self.of += other.of;
    }

    pub fn percent(self) -> String {
        if self.of == 0 {
            return "-".to_owned();
        }
        format!("{:.1}", 100.0 * self.n as f64 / self.of as f64)
    }
}

/// How reports of one rule were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByRule {
    pub right: usize,
    pub in_silent: usize,
    pub in_unmarked: usize,
    pub beside: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Expected places by kind, those found among them.
    pub kinds: BTreeMap<Kind, Share>,
    /// Places that must be silent, those hit.
    pub silent: Share,
    /// Functions without any expectation of ours, those hit.
    pub unmarked: Share,
    /// Reports in functions with expectations that answer none of them.
    pub beside: usize,
    pub rules: BTreeMap<String, ByRule>,
    /// Lines to read.
    pub notes: Vec<String>,
}

impl Score {
    pub fn add(&mut self, other: Score) {
        for (kind, share) in other.kinds {
            self.kinds.entry(kind).or_default().add(share);
        }
        self.silent.add(other.silent);
        self.unmarked.add(other.unmarked);
        self.beside += other.beside;
        for (rule, counts) in other.rules {
            let sum = self.rules.entry(rule).or_default();
            sum.right += counts.right;
            sum.in_silent += counts.in_silent;
            sum.in_unmarked += counts.in_unmarked;
            sum.beside += counts.beside;
        }
        self.notes.extend(other.notes);
    }

    pub fn found(&self) -> Share {
        let mut sum = Share::default();
        self.kinds.values().for_each(|share| sum.add(*share));
        sum
    }
}

/// A case that was not analysed: everything expected is missed, and nothing is said about
/// places that must be silent.
pub fn not_analysed(case: &Case, why: &str) -> Score {
    let mut score = Score::default();
    for place in case.places.iter().filter(|place| place.role == Role::Expected) {
        score.kinds.entry(kind_of(place)).or_default().of += 1;
    }
    score.notes.push(format!("not analysed {}: {why}", case.name));
    score
}

pub fn score(case: &Case, reported: &[Reported]) -> Score {
    let mut free: Vec<usize> = (0..reported.len()).collect();
    let mut score = Score::default();
    let answered = answered(case, reported, &mut free, &mut score);
    for (place, is_answered) in case.places.iter().zip(answered) {
        if place.role != Role::Expected {
            continue;
        }
        let share = score.kinds.entry(kind_of(place)).or_default();
        share.of += 1;
        share.n += usize::from(is_answered);
        if !is_answered {
            let Place { file, first, text, .. } = place;
            let kind = kind_of(place).title();
            score.notes.push(format!("missed {file}:{first}: {text} [{kind}]"));
        }
    }
    left_over(case, reported, &free, &mut score);
    score
}

fn kind_of(place: &Place) -> Kind {
    place.kind.unwrap_or(Kind::NotSaid)
}

/// Which places were answered; the reports that did so are free no longer.
fn answered(
    case: &Case,
    reported: &[Reported],
    free: &mut Vec<usize>,
    score: &mut Score,
) -> Vec<bool> {
    let mut answered = vec![false; case.places.len()];
    // Reports that answer a place closely must not be used up by one they answer loosely.
    for close in [Close::OnLine, Close::OnPath, Close::InFunction] {
        for (place, answered) in case.places.iter().zip(&mut answered) {
            if *answered || place.role != Role::Expected {
                continue;
            }
            let position = free.iter().position(|&index| {
                let report = &reported[index];
                let is_taken_by_silence = close != Close::OnLine && is_on_silent_line(case, report);
                !is_taken_by_silence && closeness(case, place, report) == Some(close)
            });
            if let Some(position) = position {
                let report = &reported[free.remove(position)];
                score.rules.entry(report.rule.clone()).or_default().right += 1;
                *answered = true;
            }
        }
    }
    answered
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    OnLine,
    OnPath,
    InFunction,
}

/// How a report answers a place, if it does.
fn closeness(case: &Case, place: &Place, report: &Reported) -> Option<Close> {
    if !place.rules.contains(&report.rule.as_str()) {
        return None;
    }
    let is_inside = |file: &str, line| is_same_file(file, &place.file) && is_on(place, line);
    let anywhere =
        place.role == Role::Expected && place.kind.is_some_and(Kind::is_anywhere_in_function);
    if is_inside(&report.file, report.line) {
        return Some(Close::OnLine);
    }
    let function = place.function.as_deref();
    let on_path = |at: &super::running::At| {
        is_same_file(&at.file, &place.file)
            && (is_on(place, at.line) || anywhere)
            && Some(at.function.as_str()) == function
    };
    if case.by_call && function.is_some() && report.steps.iter().any(on_path) {
        return Some(Close::OnPath);
    }
    let is_here = is_same_file(&report.file, &place.file)
        && function.is_some()
        && function == function_of(case, report).as_deref();
    (anywhere && is_here).then_some(Close::InFunction)
}

fn is_on(place: &Place, line: u32) -> bool {
    place.first <= line && line <= place.last
}

/// Whether a line that must be silent, rather than a function, is hit.
fn is_on_silent_line(case: &Case, report: &Reported) -> bool {
    case.places.iter().any(|place| {
        place.role == Role::Silent
            && place.first == place.last
            && closeness(case, place, report) == Some(Close::OnLine)
    })
}

/// Judges the reports that answered nothing.
fn left_over(case: &Case, reported: &[Reported], free: &[usize], score: &mut Score) {
    let mut hit_places: BTreeSet<usize> = BTreeSet::new();
    let mut hit_functions: BTreeSet<u32> = BTreeSet::new();
    let unmarked: Vec<_> = case.functions.iter().filter(|f| is_unmarked(case, f)).collect();
    for report in free.iter().map(|&index| &reported[index]) {
        let note = |what: &str| {
            let Reported { file, line, rule, message, function, .. } = report;
            format!("{what} {file}:{line}: {message} [{rule}] in {function}")
        };
        let is_open = case.places.iter().any(|place| {
            place.role == Role::Open
                && is_same_file(&report.file, &place.file)
                && is_on(place, report.line)
        });
        let silent = silent_place(case, report);
        if silent.is_none() && (is_open || !case.covered.contains(&report.rule.as_str())) {
            continue;
        }
        let counts = score.rules.entry(report.rule.clone()).or_default();
        let own = is_same_file(&report.file, &case.files[0]);
        if let Some(place) = silent {
            hit_places.insert(place);
            counts.in_silent += 1;
            score.notes.push(note("false, marked silent"));
        } else if let Some(function) =
            unmarked.iter().find(|f| own && f.first <= report.line && report.line <= f.last)
        {
            hit_functions.insert(function.first);
            counts.in_unmarked += 1;
            score.notes.push(note("false, nothing expected"));
        } else {
            score.beside += 1;
            counts.beside += 1;
            score.notes.push(note("beside"));
        }
    }
    let n_silent = case.places.iter().filter(|place| place.role == Role::Silent).count();
    score.silent.add(Share { n: hit_places.len(), of: n_silent });
    score.unmarked.add(Share { n: hit_functions.len(), of: unmarked.len() });
}

/// The place that must be silent and is not: the one around the report, or, where the suite
/// goes by calls and the report is in a helper that nothing is said of, one its path is in.
fn silent_place(case: &Case, report: &Reported) -> Option<usize> {
    let silent = || case.places.iter().enumerate().filter(|(_, p)| p.role == Role::Silent);
    let around = silent().find(|(_, p)| closeness(case, p, report) == Some(Close::OnLine));
    if let Some((index, _)) = around {
        return Some(index);
    }
    let own = function_of(case, report);
    let is_spoken_of = case.places.iter().any(|p| p.function.is_some() && p.function == own);
    if is_spoken_of {
        return None;
    }
    let through = silent().find(|(_, p)| closeness(case, p, report) == Some(Close::OnPath));
    through.map(|(index, _)| index)
}

/// Functions that no expectation speaks of.
fn is_unmarked(case: &Case, function: &super::model::Function) -> bool {
    !case.covered.is_empty()
        && !case.places.iter().any(|place| {
            let is_open_line = place.role == Role::Open && place.first == place.last;
            !is_open_line
                && is_same_file(&place.file, &case.files[0])
                && place.first <= function.last
                && function.first <= place.last
        })
}

/// The function a report is in, by its line where that is known.
fn function_of(case: &Case, report: &Reported) -> Option<String> {
    let own = is_same_file(&report.file, &case.files[0]);
    let by_line = own.then(|| source::function_at(&case.functions, report.line)).flatten();
    let name = by_line.map_or_else(|| report.function.clone(), |f| f.name.clone());
    (!name.is_empty()).then_some(name)
}

/// Whether two paths below the same folder are the same, `a/../b` and `./b` included.
pub fn is_same_file(a: &str, b: &str) -> bool {
    a == b || normal(a) == normal(b)
}

fn normal(path: &str) -> Vec<Component<'_>> {
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.last(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
#[path = "scoring_tests.rs"]
mod tests;

//! Which answers contradict each other. Nothing here runs anything.

use std::collections::BTreeSet;

use findings::{Fault, Findings, RunInput};
use fixture::idioms::Input;
use report::sanitizer::Seen;

use crate::case::Case;
use crate::native::SOURCE;
use crate::tool::{Engine, Point};

/// Answers that cannot all be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A run of the tool crashed, hung, or ended with an exit code it has no reason for.
    Failed,
    /// Proved, and the compiled program shows nothing on the witness.
    Unshown,
    /// Settled as safe by facts, and a sanitizer shows it there.
    Settled,
    /// Reported where the code is right by construction and showed nothing on any input.
    False,
    /// Shown by a sanitizer and found by no engine.
    Missed,
}

impl Kind {
    /// Wrong whatever engines can and cannot do.
    pub fn is_defect(self) -> bool {
        matches!(self, Kind::Failed | Kind::Unshown | Kind::Settled)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Failed => "failed",
            Kind::Unshown => "unshown",
            Kind::Settled => "settled",
            Kind::False => "false",
            Kind::Missed => "missed",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    pub kind: Kind,
    /// The engine that is wrong; both where a fault is missed.
    pub engine: Option<Engine>,
    pub rule: String,
    /// In the program; 0 where it has none.
    pub line: u32,
    pub part: Option<usize>,
    pub told: String,
    /// What the tool says shows it.
    pub witness: Option<RunInput>,
    /// What shows it natively.
    pub input: Option<Input>,
}

/// Rules that sanitizers do not tell apart as the specifications do.
pub fn family(rule: &str) -> &str {
    match rule {
        "buffer-overread" | "buffer-underflow" => "buffer-overflow",
        "integer-truncation" | "integer-signedness" => "integer-overflow",
        "double-free" | "invalid-free" => "use-after-free",
        rule => rule,
    }
}

/// A conversion that changes the value, or unsigned arithmetic that wraps: defined, often meant,
/// and a fault only by what becomes of the result.
fn is_defined(seen: &Seen) -> bool {
    seen.message.starts_with("implicit conversion")
        || seen.message.contains("unsigned integer overflow")
        || seen.message.contains("cannot be represented in type 'size_t'")
        || seen.message.contains("cannot be represented in type 'unsigned")
}

/// Something that sanitizers showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub seen: Seen,
    /// Where its innermost call is.
    pub part: Option<usize>,
    pub input: Input,
}

impl Shown {
    pub fn new(case: &Case, seen: Seen, input: &Input) -> Self {
        let part = seen.stack.first().and_then(|place| case.part_at(place.line));
        Self { seen, part, input: input.clone() }
    }

    pub fn line(&self) -> u32 {
        self.seen.stack.first().map_or(0, |place| place.line)
    }

    /// A fault whoever looks at it, not only a number that wrapped where that may be meant.
    pub fn counts(&self, case: &Case) -> bool {
        !is_defined(&self.seen) || case.is_wrong(self.line())
    }
}

/// A wrong variant, and who found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeded {
    pub part: usize,
    pub idiom: String,
    pub variant: String,
    /// The rule meant.
    pub rule: String,
    /// By a sanitizer, on some input.
    pub is_shown: bool,
    pub by_static: bool,
    pub by_explore: bool,
    /// Not found, but the static engine says that it does not know, or asks it of callers.
    pub is_open: bool,
}

impl Seeded {
    pub fn is_found(&self) -> bool {
        self.by_static || self.by_explore
    }
}

/// The wrong variants of a program.
pub fn seeded(
    case: &Case,
    shown: &[Shown],
    statically: Option<&Findings>,
    explored: Option<&Findings>,
) -> Vec<Seeded> {
    let variants = case.parts.iter().enumerate();
    let variants = variants.filter_map(|(part, info)| Some((part, info, info.variant.as_ref()?)));
    let seeded = variants.map(|(part, info, (variant, rules))| {
        let is_meant = |rule: &str| rules.iter().any(|meant| family(meant) == family(rule));
        let is_here = |line: u32| case.part_at(line) == Some(part);
        let is_found = |findings: Option<&Findings>| {
            let mut faults = findings.iter().flat_map(|findings| &findings.faults);
            faults.any(|fault| is_meant(&fault.rule) && lines(fault).any(&is_here))
        };
        let is_open = statically.is_some_and(|findings| {
            let open = findings.dont_knows.iter().map(|open| (&open.place, &open.rule));
            let asked = findings.contracts.iter().map(|asked| (&asked.place, &asked.rule));
            open.chain(asked).any(|(place, rule)| is_here(place.line) && is_meant(rule))
        });
        let is_shown = |shown: &Shown| {
            shown.part == Some(part) && is_meant(shown.seen.rule) && shown.counts(case)
        };
        Seeded {
            part,
            idiom: info.idiom.clone(),
            variant: variant.clone(),
            rule: rules.first().cloned().unwrap_or_default(),
            is_shown: shown.iter().any(is_shown),
            by_static: is_found(statically),
            by_explore: is_found(explored),
            is_open,
        }
    });
    seeded.collect()
}

/// Where a fault is; a leak also where what is lost was allocated.
fn lines(fault: &Fault) -> impl Iterator<Item = u32> + '_ {
    let is_leak = fault.rule == "leak";
    let steps = fault.segments.iter().flat_map(|segment| &segment.steps);
    let steps = steps.filter(move |_| is_leak).map(|step| step.place.line);
    std::iter::once(fault.place.line).chain(steps)
}

/// What sanitizers show and no engine finds, with the first input that shows it.
pub fn missed(case: &Case, seeded: &[Seeded], shown: &[Shown]) -> Vec<Contradiction> {
    let missed = seeded.iter().filter(|seeded| seeded.is_shown && !seeded.is_found());
    let missed = missed.filter_map(|seeded| {
        let rules = case.rules(Some(seeded.part));
        let shows = |shown: &&Shown| {
            let is_meant = rules.iter().any(|rule| family(rule) == family(shown.seen.rule));
            shown.part == Some(seeded.part) && is_meant && shown.counts(case)
        };
        let first = shown.iter().find(shows)?;
        let how = if seeded.is_open { "undecided" } else { "silent" };
        Some(Contradiction {
            kind: Kind::Missed,
            engine: None,
            rule: seeded.rule.clone(),
            line: first.line(),
            part: Some(seeded.part),
            told: format!("{how}; natively: {}", first.seen.message),
            witness: None,
            input: Some(first.input.clone()),
        })
    });
    missed.collect()
}

/// What happens where facts settled every question of its rule, one for each line and rule. A line
/// on which one question is open says nothing: which of them a sanitizer means is not known.
pub fn wrongly_settled(case: &Case, shown: &[Shown], points: &[Point]) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for shown in shown.iter().filter(|shown| shown.counts(case)) {
        let (line, rule) = (shown.line(), family(shown.seen.rule));
        let mut here = points.iter().filter(|p| p.line == line && family(&p.rule) == rule);
        let is_settled = here.clone().next().is_some() && here.all(|point| point.is_settled);
        if !is_settled || !known.insert((line, rule)) {
            continue;
        }
        found.push(Contradiction {
            kind: Kind::Settled,
            engine: Some(Engine::Static),
            rule: shown.seen.rule.to_owned(),
            line,
            part: shown.part,
            told: format!("settled as safe; natively: {}", shown.seen.message),
            witness: None,
            input: Some(shown.input.clone()),
        });
    }
    found
}

/// What the static engine reports in right code, one for each line and rule, and the number of
/// reports in wrong parts that nothing says are right or wrong.
pub fn falsely(case: &Case, shown: &[Shown], statically: &Findings) -> (Vec<Contradiction>, u32) {
    let mut found = Vec::new();
    let mut n_unclear = 0;
    let mut known = BTreeSet::new();
    for fault in statically.faults.iter().filter(|fault| fault.witness.is_none()) {
        let line = fault.place.line;
        if fault.place.file != SOURCE || !known.insert((line, fault.rule.clone())) {
            continue;
        }
        let same = |seen: &Seen| family(seen.rule) == family(&fault.rule);
        let is_there = |shown: &Shown| {
            same(&shown.seen) && shown.seen.stack.iter().any(|place| place.line == line)
        };
        let part = case.part_at(line);
        let rules = case.rules(part);
        if shown.iter().any(is_there)
            || rules.iter().any(|rule| family(rule) == family(&fault.rule))
        {
            continue;
        }
        if !rules.is_empty() {
            n_unclear += 1;
            continue;
        }
        found.push(Contradiction {
            kind: Kind::False,
            engine: Some(Engine::Static),
            rule: fault.rule.clone(),
            line,
            part,
            told: fault.message.clone(),
            witness: None,
            input: None,
        });
    }
    (found, n_unclear)
}

/// What the compiled program did on the witness of a proved fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// A sanitizer reports the rule there.
    Yes,
    /// Sanitizers report something else.
    Different(String),
    Nothing,
    /// No sanitizer looks for the rule.
    Unseen,
}

/// Rules sanitizers can show.
const VISIBLE: [&str; 8] = [
    "buffer-overflow",
    "divide-by-zero",
    "infinite-loop",
    "integer-overflow",
    "leak",
    "null-dereference",
    "uninitialized-read",
    "use-after-free",
];

pub fn confirmed(case: &Case, fault: &Fault, seen: &[Seen]) -> Confirmed {
    if !VISIBLE.contains(&family(&fault.rule)) {
        return Confirmed::Unseen;
    }
    let same = |seen: &&Seen| family(seen.rule) == family(&fault.rule);
    let is_there = |seen: &Seen| {
        let is_line = seen.stack.iter().any(|place| place.line == fault.place.line);
        let first = seen.stack.first().map(|place| case.part_at(place.line));
        is_line || first.is_none_or(|part| part == case.part_at(fault.place.line))
    };
    if seen.iter().filter(same).any(is_there) {
        return Confirmed::Yes;
    }
    let other = seen.iter().find(|seen| !is_defined(seen));
    other.map_or(Confirmed::Nothing, |seen| Confirmed::Different(seen.message.clone()))
}

#[cfg(test)]
mod tests;

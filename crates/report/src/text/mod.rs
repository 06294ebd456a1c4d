//! The report for people: `file:line:column: severity: message [rule]`, the source, the
//! path as numbered notes nested by call, and a summary to end with.

mod corruption;
mod deviation;
mod groups;
mod loops;
mod paint;
mod repairs;
mod snippet;
mod summary;

use std::fmt::Write;

use findings::{DontKnow, Fault, Findings, Place, Severity, Statement, Step};

use crate::Options;
use crate::sources::{Sources, one_line};
use groups::Folding;
use loops::Piece;
use paint::Paint;

pub fn render(findings: &Findings, sources: &mut Sources, options: Options) -> String {
    let mut text = Text { out: String::new(), sources, paint: Paint::new(options.colour), options };
    let folding = Folding::new(findings);
    for fault in findings.faults.iter().filter(|fault| !folding.is_folded(fault)) {
        text.fault(fault, &folding);
    }
    for deviation in &findings.deviations {
        text.deviation(deviation);
    }
    for statement in &findings.statements {
        text.statement(statement);
    }
    if let Some(corruption) = &findings.corruption {
        text.corruption(corruption);
    }
    for repair in &findings.repairs {
        text.repair(repair);
    }
    text.suggestions(&findings.suggestions);
    if options.dont_knows {
        findings.dont_knows.iter().for_each(|open| text.dont_know(open));
    }
    if options.contracts {
        for contract in &findings.contracts {
            let message = format!("callers must see to it that {}", contract.requires);
            text.headline(&contract.place, Severity::Note, &message, &contract.rule);
        }
    }
    summary::write(&mut text.out, findings, &text.paint, options);
    text.out
}

struct Text<'a> {
    out: String,
    sources: &'a mut Sources,
    paint: Paint,
    options: Options,
}

/// Of a long path the beginning and the end are shown: an end is what most paths are read for.
const FIRST_STEPS: usize = 6;
const LAST_STEPS: usize = 18;

/// Characters of the command that makes a fault happen; longer ones fill the screen.
const LONGEST_COMMAND: usize = 200;

impl Text<'_> {
    fn fault(&mut self, fault: &Fault, folding: &Folding) {
        self.headline(&fault.place, fault.severity, &fault.message, &fault.rule);
        if self.options.brief {
            return self.group(fault, folding);
        }
        self.evidence(fault);
        // The first segment is the shortest; JSON and HTML have them all.
        if let Some(segment) = fault.segments.first() {
            // A path of nothing but the fault itself says nothing new.
            let is_news = |step: &&Step| step.place != fault.place || step.note != fault.message;
            if segment.steps.iter().any(|step| is_news(&step)) {
                self.steps(&segment.steps, Some(&fault.place));
            }
        }
        match fault.segments.len() {
            0 | 1 => {}
            2 => self.line("  and another path to it"),
            n => self.line(&format!("  and {} more paths to it", n - 1)),
        }
        self.group(fault, folding);
        self.out.push('\n');
    }

    /// The level, and the input that makes it happen.
    fn evidence(&mut self, fault: &Fault) {
        if let Some(input) = &fault.witness {
            let told = one_line(&input.told());
            let told = if told.is_empty() { "./program" } else { &told };
            let start: String = told.chars().take(LONGEST_COMMAND).collect();
            let rest = told.chars().count() - start.chars().count();
            let more = match rest {
                0 => String::new(),
                _ => format!(
                    "... (and {rest} more characters: the input is kept in the folder of the \
                     state as witnesses/{id}, and `firstfault replay {id}` runs it)",
                    id = fault.id
                ),
            };
            self.line(&format!("  {}, happens with: {start}{more}", fault.level.name()));
        }
    }

    /// What the fault causes, and what causes it.
    fn group(&mut self, fault: &Fault, folding: &Folding) {
        let below = folding.below(fault);
        if !below.is_empty() {
            let n = below.len();
            let faults = if n == 1 { "1 more fault" } else { &format!("{n} more faults") };
            self.line(&format!("  fix this first: it causes {faults}"));
        }
        for effect in below {
            self.note(&effect.place, &format!("causes: {} [{}]", effect.message, effect.rule));
            if let Some(edge) = folding.shown(effect)
                && let Some(command) = crate::graph::witness(edge)
            {
                self.line(&format!("    {}, happens with: {command}", edge.level.name()));
            }
        }
        for cause in folding.partial_causes(fault) {
            let message = format!("can be caused by: {} [{}]", cause.message, cause.rule);
            self.note(&cause.place, &message);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let message =
            format!("suspicious, rank {} ({:.3})", statement.rank, statement.suspiciousness);
        self.headline(&statement.place, Severity::Warning, &message, "statement");
        if self.options.brief {
            return;
        }
        for sentence in &statement.evidence {
            self.line(&format!("  {}", one_line(sentence)));
        }
    }

    fn dont_know(&mut self, open: &DontKnow) {
        let message = format!("undecided: {}", open.reason);
        self.headline(&open.place, Severity::Note, &message, &open.rule);
        self.note(&open.at, "the analysis stopped here");
        if !open.resolve.is_empty() && !self.options.brief {
            self.line(&format!("  to decide it: {}", one_line(&open.resolve)));
        }
    }

    /// The line that stands alone, and the source it is about.
    fn headline(&mut self, place: &Place, severity: Severity, message: &str, rule: &str) {
        self.first_line(place, severity, message, rule);
        if !self.options.brief {
            self.snippet(place);
        }
    }

    fn first_line(&mut self, place: &Place, severity: Severity, message: &str, rule: &str) {
        let word = self.paint.severity(severity);
        let at = self.paint.strong(&position(place));
        let message = self.paint.strong(&one_line(message));
        self.line(&format!("{at}: {word}: {message} [{}]", one_line(rule)));
    }

    /// The steps of a path; the source of what is `shown` already is not repeated.
    fn steps<'a>(&mut self, steps: &'a [Step], mut shown: Option<&'a Place>) {
        let pieces = loops::pieces(steps);
        let left_out = match pieces.len() {
            n if n > FIRST_STEPS + LAST_STEPS + 1 => FIRST_STEPS..n - LAST_STEPS,
            _ => 0..0,
        };
        for (at, piece) in pieces.into_iter().enumerate() {
            if left_out.contains(&at) {
                if at == left_out.start {
                    let n = left_out.len();
                    self.line(&format!(
                        "  ... {n} steps are left out here; JSON and HTML have them"
                    ));
                    shown = None;
                }
                continue;
            }
            let index = match piece {
                Piece::Step(index) => index,
                Piece::More { n, first, last } => {
                    let lines = if first == last { "line" } else { "lines" };
                    let to = if first == last { String::new() } else { format!("-{last}") };
                    self.line(&format!("  ... {n} more iterations of {lines} {first}{to}"));
                    continue;
                }
            };
            let (number, step) = (index + 1, &steps[index]);
            let nesting = "  ".repeat(step.depth.min(20) as usize);
            self.note(&step.place, &format!("{nesting}{number}. {}", step.note));
            let line = |place: &Place| (place.file.clone(), place.line);
            if step.impact && shown.map(line) != Some(line(&step.place)) {
                self.snippet(&step.place);
                shown = Some(&step.place);
            }
        }
    }

    fn note(&mut self, place: &Place, message: &str) {
        let word = self.paint.severity(Severity::Note);
        let message = one_line(message);
        self.line(&format!("{}: {word}: {}", position(place), message.trim_end()));
    }

    fn snippet(&mut self, place: &Place) {
        if let Some(line) = self.sources.line(&place.file, place.line, place.column) {
            snippet::write(&mut self.out, place.line, &line, &self.paint);
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.out, "{line}").expect("writing to a string cannot fail");
    }
}

/// `file:line:column`, as much of it as is known.
fn position(place: &Place) -> String {
    let file = if place.file.is_empty() { "<unknown>" } else { &place.file };
    let file = one_line(file);
    match (place.line, place.column) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

#[cfg(test)]
mod tests;

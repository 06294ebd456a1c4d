//! Repairs and suggestions: why, what was checked, and the change as a diff.

use findings::{Change, Place, Repair, Severity, Suggestion};

use super::Text;
use crate::diff;
use crate::sources::one_line;

/// Situation descriptors named as reasons.
const MAX_REASONS: usize = 8;

impl Text<'_> {
    pub(super) fn repair(&mut self, repair: &Repair) {
        let fault = repair.fault.as_ref().map(|id| format!(" of {id}")).unwrap_or_default();
        let why = if repair.why.is_empty() { String::new() } else { format!(": {}", repair.why) };
        let place = place(&repair.changes);
        let place = place.or_else(|| repair.steps.last().map(|step| step.place.clone()));
        let message = format!("repair {}{fault}{why}", repair.rank);
        self.first_line(&place.unwrap_or_default(), Severity::Note, &message, "repair");
        if self.options.brief {
            return;
        }
        self.steps(&repair.steps, None);
        self.sentences(&repair.verified);
        match repair.changes.iter().all(|change| change.old == change.new) {
            true => self.out.push('\n'),
            false => self.diff(&repair.changes),
        }
    }

    /// Those that mean the same edit for the same reasons are told together, and no edit is shown
    /// twice.
    pub(super) fn suggestions(&mut self, suggestions: &[Suggestion]) {
        let told = |s: &Suggestion| (s.changes.clone(), s.because.clone(), s.verified.clone());
        let mut shown: Vec<&[Change]> = Vec::new();
        for alike in suggestions.chunk_by(|a, b| !a.changes.is_empty() && told(a) == told(b)) {
            for suggestion in alike {
                self.suggestion(suggestion);
            }
            let Some(first) = alike.first() else { continue };
            if self.options.brief {
                self.sentences(&first.verified);
                continue;
            }
            self.reasons(first);
            self.sentences(&first.verified);
            if shown.contains(&first.changes.as_slice()) {
                self.line("  by the edit shown above\n");
                continue;
            }
            if !first.changes.is_empty() {
                shown.push(&first.changes);
            }
            self.diff(&first.changes);
        }
    }

    fn suggestion(&mut self, suggestion: &Suggestion) {
        let share = (suggestion.confidence * 100.0).round();
        let message =
            format!("suggestion {} ({share} %): {}", suggestion.rank, suggestion.description);
        let place = place(&suggestion.changes).or(suggestion.place.clone()).unwrap_or_default();
        self.first_line(&place, Severity::Note, &message, "suggestion");
    }

    fn reasons(&mut self, suggestion: &Suggestion) {
        if suggestion.because.is_empty() {
            return;
        }
        let named = &suggestion.because[..suggestion.because.len().min(MAX_REASONS)];
        let more = suggestion.because.len() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        self.line(&format!("  {}{more}", one_line(&named.join(", "))));
    }

    fn sentences(&mut self, sentences: &[String]) {
        for sentence in sentences {
            self.line(&format!("  {}", one_line(sentence)));
        }
    }

    fn diff(&mut self, changes: &[Change]) {
        let Some(text) = diff::unified(changes, self.sources) else {
            self.line(
                "  a diff of it would not apply: these lines hold bytes that are not shown\n",
            );
            return;
        };
        // A carriage return belongs to its line.
        for line in text.split_terminator('\n') {
            let line = match line.as_bytes().first() {
                Some(b'-') => self.paint.bad(line),
                Some(b'+') => self.paint.good(line),
                _ => line.to_owned(),
            };
            self.line(&line);
        }
        self.out.push('\n');
    }
}

fn place(changes: &[Change]) -> Option<Place> {
    changes.first().map(|change| change.place.clone())
}

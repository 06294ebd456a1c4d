//! A deviation: the rule with its counts, the place that breaks it, and beside it places
//! that follow it.

use findings::{Deviation, Severity};

use super::Text;

impl Text<'_> {
    pub(super) fn deviation(&mut self, deviation: &Deviation) {
        self.headline(&deviation.place, Severity::Warning, &deviation.message, &deviation.template);
        if self.options.brief {
            return;
        }
        for example in deviation.examples.iter().take(3) {
            let function = match example.place.function.as_str() {
                "" => String::new(),
                function => format!(" in {function}"),
            };
            let note = match example.note.as_str() {
                "" => String::new(),
                note => format!(": {note}"),
            };
            self.note(&example.place, &format!("follows the rule{function}{note}"));
            self.snippet(&example.place);
        }
        self.out.push('\n');
    }
}

//! A deviation: the rule with its counts, the place that breaks it, and beside it places
//! that follow it.

use findings::{Deviation, Example, Severity};

use super::Text;

/// Places of each kind shown; JSON and HTML have them all.
const MAX_EXAMPLES: usize = 3;

impl Text<'_> {
    pub(super) fn deviation(&mut self, deviation: &Deviation) {
        self.headline(&deviation.place, Severity::Warning, &deviation.message, &deviation.template);
        if self.options.brief {
            return;
        }
        for example in deviation.examples.iter().take(MAX_EXAMPLES) {
            self.example("follows the rule", example);
        }
        let others = deviation.counterexamples.iter().filter(|e| e.place != deviation.place);
        for example in others.take(MAX_EXAMPLES) {
            self.example("does not follow it either", example);
        }
        self.out.push('\n');
    }

    fn example(&mut self, what: &str, example: &Example) {
        let function = match example.place.function.as_str() {
            "" => String::new(),
            function => format!(" in {function}"),
        };
        let note = match example.note.as_str() {
            "" => String::new(),
            note => format!(": {note}"),
        };
        self.note(&example.place, &format!("{what}{function}{note}"));
        self.snippet(&example.place);
    }
}

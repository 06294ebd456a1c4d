//! Where memory was first corrupted: the way to the failure, and of a race the two accesses.

use findings::{Corruption, RaceAccess, Severity};

use super::Text;

impl Text<'_> {
    pub(super) fn corruption(&mut self, corruption: &Corruption) {
        let message = match corruption.message.as_str() {
            "" => format!("memory is first corrupted here ({})", corruption.kind),
            message => message.to_owned(),
        };
        self.headline(&corruption.place, Severity::Error, &message, &corruption.kind);
        if self.options.brief {
            return;
        }
        self.steps(&corruption.chain, Some(&corruption.place));
        for access in &corruption.race {
            self.access(access);
        }
        if !corruption.variable_order.is_empty() {
            let order = corruption.variable_order.join(", ");
            self.line(&format!("  it shows with the variables in this order: {order}"));
        }
    }

    fn access(&mut self, access: &RaceAccess) {
        self.note(&access.place, &format!("{} by thread {}", access.access, access.thread));
        self.snippet(&access.place);
        for place in access.stack.iter().filter(|place| **place != access.place) {
            self.note(place, &format!("  called from {}", place.function));
        }
    }
}

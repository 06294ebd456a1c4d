//! The order in which repairs are shown.

/// What is known about an edit that survived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub weight: u32,
    /// The violated property depends on the statement.
    pub in_slice: bool,
    /// Lines that ran before and run on no input any more.
    pub newly_dead: u32,
    /// A proof of another property rests on the statement.
    pub is_trusted: bool,
    /// Violations of other properties that it does not remove.
    pub n_left: u32,
    /// It adds a test of just what is violated.
    pub is_guard: bool,
    /// Steps of the failing run between the statement and the failure.
    pub distance: usize,
}

impl Evidence {
    /// Smaller is better. A statement the property does not depend on, code that dies and a
    /// statement a proof rests on cost, but exclude nothing.
    pub fn cost(&self) -> u32 {
        let mut cost = 100 - self.weight.min(100);
        if !self.in_slice {
            cost += 8;
        }
        if self.is_guard {
            cost -= cost.min(10);
        }
        cost += 5 * self.newly_dead.min(4);
        cost += 4 * self.n_left.min(3);
        if self.is_trusted {
            cost += 5;
        }
        cost
    }
}

//! The order in which repairs are shown.

use std::collections::BTreeSet;

/// What is known about an edit that survived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub weight: u32,
    /// The violated property depends on the statement.
    pub in_slice: bool,
    /// Lines that ran before and run on no input any more.
    pub newly_dead: u32,
    /// Lines that ran before.
    pub n_lines: u32,
    /// A proof of another property rests on the statement.
    pub is_trusted: bool,
    /// Violations of other properties that it does not remove.
    pub n_left: u32,
    /// Inputs that violate nothing as it is, on which the program now does something else, of
    /// how many.
    pub n_changed: u32,
    pub n_compared: u32,
    /// The failing run now ends sooner than it failed.
    pub is_shorter: bool,
    /// The failing run then comes to what is not modelled.
    pub is_unclear: bool,
    /// It changes the assertion that fails.
    pub is_property: bool,
    /// It adds a test of just what is violated, which ends runs sooner as it should.
    pub is_guard: bool,
    /// Edits of the same place that are better.
    pub n_better_here: u32,
    /// Steps of the failing run between the statement and the failure.
    pub distance: usize,
}

/// The part of the lines that ran before without which a program is switched off.
const SWITCHED_OFF: u32 = 3;

impl Evidence {
    /// Whoever does nothing does nothing wrong.
    pub fn is_switched_off(&self) -> bool {
        self.newly_dead > 4 && self.newly_dead * SWITCHED_OFF >= self.n_lines
    }

    /// Smaller is better. A statement the property does not depend on, code that dies and a
    /// statement a proof rests on cost, but exclude nothing.
    pub fn cost(&self) -> u32 {
        let mut cost = 100 - self.weight.min(100);
        if !self.in_slice {
            cost += 8;
        }
        // What is wrong with the program seldom shows where nothing is violated, and is seldom
        // mended by doing less.
        cost += 8 * self.n_changed / self.n_compared.max(1);
        if self.is_shorter && !self.is_guard {
            cost += 8;
        }
        if self.is_unclear {
            cost += 8;
        }
        // What is asserted says what is meant: nothing else comes after it.
        if self.is_property {
            cost += 60;
        }
        cost += 5 * self.newly_dead.min(4);
        if self.is_switched_off() {
            cost += 15;
        }
        cost += 4 * self.n_left.min(3);
        if self.is_trusted {
            cost += 5;
        }
        cost += 5 * self.n_better_here;
        cost
    }
}

/// The best repairs, whatever they change, and how many more are looked at first.
const BEST: usize = 3;
const OTHERS: usize = 2;
pub const SHOWN: usize = BEST + OTHERS;

/// Lets repairs of other lines follow the best ones: which line is wrong is worth more to know
/// than one more way to change it.
pub fn spread<T, L: Ord>(best_first: Vec<T>, line: impl Fn(&T) -> L) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for repair in best_first {
        let is_other = seen.insert(line(&repair));
        match first.len() {
            0..BEST => first.push(repair),
            n if n < BEST + OTHERS && is_other => first.push(repair),
            _ => later.push(repair),
        }
    }
    first.append(&mut later);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repairs_are_of_several_lines() {
        let best_first = vec![(7, 'a'), (7, 'b'), (3, 'c'), (7, 'd'), (3, 'e'), (9, 'f'), (8, 'g')];
        let order: String = spread(best_first, |repair| repair.0).iter().map(|r| r.1).collect();
        assert_eq!(order, "abcfgde");
        assert_eq!(spread(vec![1, 1, 1], |line| *line).len(), 3, "nothing is lost");
    }

    #[test]
    fn what_does_less_or_else_comes_later() {
        let plain = Evidence { weight: 20, in_slice: true, n_compared: 4, ..Evidence::default() };
        let changing = Evidence { n_changed: 4, ..plain.clone() };
        let shorter = Evidence { is_shorter: true, ..plain.clone() };
        assert!(plain.cost() < changing.cost() && plain.cost() < shorter.cost());
        let second = Evidence { n_better_here: 1, ..plain.clone() };
        assert!(plain.cost() < second.cost());
        let guard = Evidence { is_guard: true, is_shorter: true, ..plain.clone() };
        assert_eq!(guard.cost(), plain.cost());
    }
}

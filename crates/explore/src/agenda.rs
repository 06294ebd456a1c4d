//! Which decision of earlier runs a search turns around next.
//!
//! Conditions that guard a property come first. Then in turn: of the runs that went furthest the
//! decision that is likeliest to go further still; and among all those whose place was asked
//! least often, so that no part of the program takes all the runs, in turn those a loop has
//! decided least and most often, so that loops are unrolled step by step and yet far.

use std::collections::{BTreeMap, VecDeque};

use program::{FunctionId, InstId};
use rustc_hash::FxHashMap;

pub type Place = (FunctionId, InstId);

/// How often the run had decided at the place, and age.
type Key = (usize, usize);

/// How often a decision of one place was turned around, and how often that led further.
#[derive(Clone, Copy, Default)]
struct Yield {
    turned: u32,
    further: u32,
}

/// Takes one from the front or from the back.
type Pop<T> = fn(&mut VecDeque<(usize, T)>) -> Option<(usize, T)>;

impl Yield {
    /// Of a thousand; what was never turned around may well be worth it.
    fn share(self) -> u32 {
        1000 * (self.further + 1) / (self.turned + 2)
    }
}

/// Candidates of a search, each with the place of its decision.
pub struct Agenda<T> {
    /// What guards a property, by place, with its age.
    checks: BTreeMap<Place, VecDeque<(usize, T)>>,
    /// What leads towards a place that is asked for, by how far it still is.
    nearer: BTreeMap<(u32, usize), (Place, T)>,
    is_turn_of_nearer: bool,
    decisions: BTreeMap<Place, BTreeMap<Key, T>>,
    n_queued: usize,
    /// The candidates of runs that went furthest, oldest first.
    far: BTreeMap<Place, Vec<Key>>,
    is_turn_of_far: bool,
    /// Whether the next one is to be far from the start.
    is_deep: bool,
    /// What the questions of each place cost.
    asked: FxHashMap<Place, u64>,
    yields: FxHashMap<Place, Yield>,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self {
            checks: BTreeMap::new(),
            nearer: BTreeMap::new(),
            is_turn_of_nearer: false,
            decisions: BTreeMap::new(),
            n_queued: 0,
            far: BTreeMap::new(),
            is_turn_of_far: false,
            is_deep: false,
            asked: FxHashMap::default(),
            yields: FxHashMap::default(),
        }
    }
}

impl<T> Agenda<T> {
    /// What guards a property.
    pub fn push_check(&mut self, place: Place, candidate: T) {
        self.n_queued += 1;
        self.checks.entry(place).or_default().push_back((self.n_queued, candidate));
    }

    /// A decision, the how-manieth of its place in a run that went far or not.
    pub fn push(&mut self, place: Place, count: usize, is_far: bool, candidate: T) {
        self.n_queued += 1;
        let key = (count, self.n_queued);
        self.decisions.entry(place).or_default().insert(key, candidate);
        if is_far {
            self.far.entry(place).or_default().push(key);
        }
    }

    /// A decision that leads to so many steps from a place that is asked for.
    pub fn push_nearer(&mut self, place: Place, steps: u32, candidate: T) {
        self.n_queued += 1;
        self.nearer.insert((steps, self.n_queued), (place, candidate));
    }

    /// A decision of this place was turned around, which led further or not.
    pub fn learn(&mut self, place: Place, is_further: bool) {
        let known = self.yields.entry(place).or_default();
        known.turned += 1;
        known.further += u32::from(is_further);
    }

    /// The next candidate and its place.
    pub fn pop(&mut self) -> Option<(Place, T)> {
        self.is_turn_of_far = !self.is_turn_of_far;
        if let Some(check) = self.pop_oldest_check() {
            return Some(check);
        }
        self.pop_after_checks()
    }

    fn pop_after_checks(&mut self) -> Option<(Place, T)> {
        // The nearest may be impossible, and all of them may wait for something else.
        self.is_turn_of_nearer = !self.is_turn_of_nearer;
        let is_due = self.is_turn_of_nearer || self.decisions.is_empty();
        if is_due && let Some((_, nearest)) = self.nearer.pop_first() {
            return Some(nearest);
        }
        let far = if self.is_turn_of_far { self.pop_far() } else { None };
        far.or_else(|| self.pop_any())
    }

    fn pop_oldest_check(&mut self) -> Option<(Place, T)> {
        let age = |all: &VecDeque<(usize, T)>| all.front().map(|(age, _)| *age);
        let (place, _) = self.checks.iter().min_by_key(|(_, all)| age(all))?;
        self.take_check(*place, VecDeque::pop_front)
    }

    /// What guards a property at the place whose questions cost least so far, of the latest run
    /// or the first.
    pub fn pop_check(&mut self) -> Option<(Place, T)> {
        let (place, _) = self.checks.iter().min_by_key(|(place, _)| self.paid(place))?;
        self.is_deep = !self.is_deep;
        let pop = if self.is_deep { VecDeque::pop_back } else { VecDeque::pop_front };
        self.take_check(*place, pop)
    }

    fn take_check(&mut self, place: Place, pop: Pop<T>) -> Option<(Place, T)> {
        let all = self.checks.get_mut(&place)?;
        let (_, candidate) = pop(all)?;
        if all.is_empty() {
            self.checks.remove(&place);
        }
        Some((place, candidate))
    }

    /// A decision, what guards properties left aside.
    pub fn pop_decision(&mut self) -> Option<(Place, T)> {
        self.is_turn_of_far = !self.is_turn_of_far;
        self.pop_after_checks()
    }

    /// The questions of a place cost so much more than one of them does at least.
    pub fn pay(&mut self, place: Place, cost: u64) {
        *self.asked.entry(place).or_default() += cost;
    }

    fn paid(&self, place: &Place) -> u64 {
        self.asked.get(place).copied().unwrap_or(0)
    }

    /// Of the place that led further most of the time the latest.
    fn pop_far(&mut self) -> Option<(Place, T)> {
        loop {
            let share = |place: &Place| self.yields.get(place).copied().unwrap_or_default().share();
            let age = |keys: &Vec<Key>| keys.last().map(|key| key.1);
            let best = self.far.iter().max_by_key(|(place, keys)| (share(place), age(keys)))?;
            let place = *best.0;
            let keys = self.far.get_mut(&place)?;
            let key = keys.pop()?;
            if keys.is_empty() {
                self.far.remove(&place);
            }
            // It may have had its turn among all.
            if let Some(candidate) = self.take(place, key) {
                return Some((place, candidate));
            }
        }
    }

    fn pop_any(&mut self) -> Option<(Place, T)> {
        let least = self.decisions.keys().map(|place| self.paid(place)).min()?;
        let places = self.decisions.iter().filter(|(place, _)| self.paid(place) == least);
        let (place, key) = if self.is_deep {
            let last = places.filter_map(|(place, all)| Some((*place, *all.last_key_value()?.0)));
            last.max_by_key(|(_, key)| *key)?
        } else {
            let first = places.filter_map(|(place, all)| Some((*place, *all.first_key_value()?.0)));
            first.min_by_key(|(_, key)| *key)?
        };
        self.is_deep = !self.is_deep;
        Some((place, self.take(place, key)?))
    }

    fn take(&mut self, place: Place, key: Key) -> Option<T> {
        let all = self.decisions.get_mut(&place)?;
        let candidate = all.remove(&key)?;
        if all.is_empty() {
            self.decisions.remove(&place);
        }
        *self.asked.entry(place).or_default() += 1;
        Some(candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u32) -> Place {
        (FunctionId(0), InstId(number))
    }

    #[test]
    fn what_guards_a_property_comes_first() {
        let mut agenda = Agenda::default();
        agenda.push(place(1), 1, true, "decision");
        agenda.push_check(place(2), "check");
        assert_eq!(agenda.pop(), Some((place(2), "check")));
        assert_eq!(agenda.pop(), Some((place(1), "decision")));
        assert_eq!(agenda.pop(), None);
    }

    #[test]
    fn what_leads_nearer_has_every_other_turn() {
        let mut agenda = Agenda::default();
        (0..4).for_each(|count| agenda.push(place(1), count, false, "decision"));
        agenda.push_nearer(place(2), 7, "near");
        agenda.push_nearer(place(3), 2, "nearest");
        let order: Vec<_> = (0..4).filter_map(|_| agenda.pop()).map(|(_, what)| what).collect();
        assert_eq!(order, ["nearest", "decision", "near", "decision"]);
    }

    #[test]
    fn no_place_takes_all_the_turns() {
        let mut agenda = Agenda::default();
        (0..10).for_each(|count| agenda.push(place(1), count, false, "loop"));
        agenda.push(place(2), 1, false, "once");
        let first: Vec<_> = (0..2).filter_map(|_| agenda.pop()).map(|(_, what)| what).collect();
        assert_eq!(first, ["loop", "once"]);
    }

    #[test]
    fn places_that_led_further_are_turned_around_first() {
        let mut agenda = Agenda::default();
        for number in [1, 2] {
            (0..4).for_each(|_| agenda.learn(place(number), number == 1));
        }
        agenda.push(place(1), 1, true, "led further");
        agenda.push(place(2), 1, true, "did not");
        assert_eq!(agenda.pop().map(|(_, what)| what), Some("led further"));
        // Each candidate is handed out once.
        assert_eq!(agenda.pop().map(|(_, what)| what), Some("did not"));
        assert_eq!(agenda.pop(), None);
    }
}

//! The first pass: how often each rule is followed and broken.
//!
//! Slots are numbers of one table of texts over all units, so that a rule costs a few words.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Counts, Key, Rule, Units, is_bare, score, sites, subject, verdict};
use crate::event::{Events, Strings, Symbol};
use crate::known::shown;
use crate::template::Template;

/// Places that make a habit.
const MIN_HABIT: u64 = 3;

/// The counts of one template.
#[derive(Default)]
pub struct Counted {
    strings: Strings,
    counts: FxHashMap<(u32, Symbol, Symbol), Counts>,
    /// Sites by first slot, for templates with a partner.
    populations: FxHashMap<(u32, Symbol), u64>,
    /// Of these, sites without any partner that count only where that is no habit.
    bare: FxHashMap<(u32, Symbol), u64>,
    /// What the names of the template say about a text, once it was asked.
    accepted: FxHashMap<Symbol, bool>,
    accepted_pairs: FxHashMap<(Symbol, Symbol), bool>,
}

/// Counts for all templates while each unit is looked at once.
pub fn count<U: Units + ?Sized>(units: &U, templates: &[Template]) -> Vec<Counted> {
    let mut counted: Vec<Counted> = templates.iter().map(|_| Counted::default()).collect();
    for index in 0..units.n_units() {
        let Some(unit) = units.events(index) else { continue };
        for (template, counted) in templates.iter().zip(&mut counted) {
            counted.add(template, &unit);
        }
    }
    for counted in &mut counted {
        counted.finish();
    }
    counted
}

impl Counted {
    fn add(&mut self, template: &Template, unit: &Events) {
        let mut numbers = Numbers { unit, of: vec![None; unit.strings.len()] };
        match template.has_partner() {
            true => self.add_partners(template, &mut numbers),
            false => self.add_single(template, &mut numbers),
        }
    }

    fn add_single(&mut self, template: &Template, numbers: &mut Numbers) {
        // Functions that have had their say on a rule, one way or the other.
        let mut heard: FxHashSet<(u32, u32, u32, bool)> = FxHashSet::default();
        for event in &numbers.unit.rows {
            let Some(follows) = verdict(template, event) else { continue };
            let a = numbers.get(&mut self.strings, event.a);
            let routine = numbers.unit.strings.get(event.b);
            if !self.accepts_name(template, a) || !template.accepts_routine(routine) {
                continue;
            }
            let has_second = template.slots.len() > 1;
            let b = if has_second { numbers.get(&mut self.strings, event.b) } else { 0 };
            if template.per_function && !heard.insert((event.function, a, b, follows)) {
                continue;
            }
            let count = self.counts.entry((subject(event), a, b)).or_default();
            count.lenient += u64::from(event.flags & template.lenient != 0);
            if follows {
                count.followed += 1;
                count.promoting += u64::from(template.promotes(event.flags));
                count.speaking_for += u64::from(event.flags & template.speaks_for != 0);
                count.speaking_against += u64::from(event.flags & template.speaks_against != 0);
            } else {
                count.broken += 1;
            }
        }
    }

    fn add_partners(&mut self, template: &Template, numbers: &mut Numbers) {
        // Functions that have had their say on a rule.
        let mut heard: FxHashSet<(u32, u32, u32)> = FxHashSet::default();
        let unit = numbers.unit;
        for rows in sites(unit, template) {
            let site = &rows[0];
            let a = numbers.get(&mut self.strings, site.a);
            if !self.accepts_name(template, a) {
                continue;
            }
            let mut is_new = |b| !template.per_function || heard.insert((site.function, site.a, b));
            if is_new(0) {
                *self.populations.entry((subject(site), a)).or_default() += 1;
                if is_bare(template, rows) {
                    *self.bare.entry((subject(site), a)).or_default() += 1;
                }
            }
            for row in &rows[1..] {
                if verdict(template, row) != Some(true) {
                    continue;
                }
                let b = numbers.get(&mut self.strings, row.b);
                if self.accepts_pair(template, a, b) && is_new(row.b) {
                    let count = self.counts.entry((subject(site), a, b)).or_default();
                    count.followed += 1;
                    count.promoting += u64::from(template.promotes(row.flags));
                    count.habitual += u64::from(row.flags & template.habit != 0);
                }
            }
        }
    }

    fn accepts_name(&mut self, template: &Template, a: Symbol) -> bool {
        let text = self.strings.get(a);
        *self.accepted.entry(a).or_insert_with(|| template.accepts_name(shown(text)))
    }

    fn accepts_pair(&mut self, template: &Template, a: Symbol, b: Symbol) -> bool {
        let (first, second) = (shown(self.strings.get(a)), shown(self.strings.get(b)));
        *self.accepted_pairs.entry((a, b)).or_insert_with(|| {
            template.accepts_partner(second) && template.accepts_pair(first, second)
        })
    }

    /// What is neither followed nor excused is broken.
    fn finish(&mut self) {
        self.accepted = FxHashMap::default();
        self.accepted_pairs = FxHashMap::default();
        for ((subject, a, _), count) in &mut self.counts {
            if let Some(population) = self.populations.get(&(*subject, *a)) {
                count.broken = population.saturating_sub(count.followed);
                let bare = self.bare.get(&(*subject, *a)).copied().unwrap_or(0);
                if count.habitual < MIN_HABIT || count.habitual < bare {
                    count.broken = count.broken.saturating_sub(bare);
                    count.excuses_bare = true;
                }
            }
        }
    }

    /// The plausible rules that something breaks, in the order of their names.
    pub fn rules(&self, template: &Template) -> BTreeMap<Key, Rule> {
        let mut rules = BTreeMap::new();
        for ((subject, a, b), counts) in &self.counts {
            if counts.broken == 0 {
                continue;
            }
            let (a, b) = (self.strings.get(*a), self.strings.get(*b));
            if let Some((z, score)) = score(template, a, b, *counts) {
                let rule = Rule { counts: *counts, z, score, ..Rule::default() };
                rules.insert((*subject, a.into(), b.into()), rule);
            }
        }
        rules
    }

    /// How often each text fills the second slot, and whether any of its rules is plausible.
    pub fn by_second(&self, template: &Template) -> BTreeMap<&str, (u64, bool)> {
        let mut seconds: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
        for ((_, a, b), counts) in &self.counts {
            let (a, b) = (self.strings.get(*a), self.strings.get(*b));
            let entry = seconds.entry(b).or_default();
            entry.0 += counts.followed;
            entry.1 |= score(template, a, b, *counts).is_some();
        }
        seconds
    }

    fn of(&self, key: &(u32, &str, &str)) -> Option<Counts> {
        let (a, b) = (self.strings.find(key.1)?, self.strings.find(key.2)?);
        self.counts.get(&(key.0, a, b)).copied()
    }
}

/// The numbers that one unit's texts have over all units.
struct Numbers<'a> {
    unit: &'a Events,
    of: Vec<Option<Symbol>>,
}

impl Numbers<'_> {
    fn get(&mut self, strings: &mut Strings, local: Symbol) -> Symbol {
        let text = || self.unit.strings.get(local);
        match self.of.get_mut(local as usize) {
            Some(number) => *number.get_or_insert_with(|| strings.intern(text())),
            None => strings.intern(text()),
        }
    }
}

/// A row that follows a rule: the unit, the row's position in it, and the rule's slots.
pub struct Follower {
    pub unit: usize,
    pub row: usize,
    pub a: Box<str>,
    pub b: Box<str>,
}

/// Every place that follows a plausible rule with at least so many examples.
pub fn followers(units: &[&Events], template: &Template, at_least: u64) -> Vec<Follower> {
    let counted = count(units, std::slice::from_ref(template));
    let mut found = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for (row, event) in unit.rows.iter().enumerate() {
            if verdict(template, event) != Some(true) {
                continue;
            }
            let text = |symbol| unit.strings.get(symbol);
            let b = if template.slots.len() > 1 { text(event.b) } else { "" };
            let key = (subject(event), text(event.a), b);
            let Some(counts) = counted[0].of(&key) else { continue };
            if counts.followed >= at_least && score(template, key.1, key.2, counts).is_some() {
                found.push(Follower { unit: index, row, a: key.1.into(), b: key.2.into() });
            }
        }
    }
    found
}

//! From events to ranked deviations.
//!
//! Counting is one pass over the events of all units, one unit at a time, and keeps only
//! counts by slot. A second pass looks up the places of the few rules that are left. So memory
//! grows with the number of different rules, not with the code.

mod collect;
mod count;
mod spurious;
mod tell;
mod trust;

use std::borrow::Cow;
use std::collections::BTreeMap;

use findings::{Deviation, Place};

use crate::event::{Event, Events, Outcome, SETTLED, SUBJECT_NONE, SUBJECT_RESULT};
use crate::known::shown;
use crate::rank::z;
use crate::template::{Belief, Template};
use count::Counted;

pub use count::{Follower, followers};

/// What a telling pair of names adds to z.
const HINT_BONUS: f64 = 2.0;
/// What it adds to a rule that a place that follows it leaves no doubt about.
const PROMOTION_BONUS: f64 = 1.0;

/// Places that have to tell whether a rule is meant before that counts.
const MIN_SPEAKING: u64 = 3;
/// What it adds if all of them say so, and takes away if none does.
const SHARE_BONUS: f64 = 1.0;

/// A rule this many standard errors below the share expected is none, whatever speaks for it: so
/// few followers are a chance of 1 in 100. For a dozen places that is about two thirds of them.
const REFUTED_Z: f64 = -2.326;

/// Where the events come from, one unit at a time.
pub trait Units {
    fn n_units(&self) -> usize;
    /// The events of one unit; nothing where they cannot be had any more.
    fn events(&self, unit: usize) -> Option<Cow<'_, Events>>;
}

impl Units for [&Events] {
    fn n_units(&self) -> usize {
        self.len()
    }

    fn events(&self, unit: usize) -> Option<Cow<'_, Events>> {
        self.get(unit).map(|events| Cow::Borrowed(*events))
    }
}

/// A rule: the subject, and what fills the template's slots.
type Key = (u32, Box<str>, Box<str>);

/// How many places follow a rule, and how many do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub followed: u64,
    pub broken: u64,
    /// Rows the template is lenient about where there are many of them.
    lenient: u64,
    /// Places that follow the rule and show that it is meant.
    promoting: u64,
    /// Places that follow the rule though the template asks for a habit.
    habitual: u64,
    /// Whether bare sites are excused, because there is no such habit.
    excuses_bare: bool,
    /// Places that follow the rule and tell that it is meant, or that it is not.
    speaking_for: u64,
    speaking_against: u64,
}

impl Counts {
    /// Whether what the template is lenient about is a habit here.
    fn is_lenient(&self) -> bool {
        self.lenient >= 3 && self.lenient * 10 >= self.followed
    }

    /// The share of the places that tell whether the rule is meant and say yes.
    fn share(&self) -> Option<f64> {
        let n = self.speaking_for + self.speaking_against;
        (n >= MIN_SPEAKING).then(|| self.speaking_for as f64 / n as f64)
    }
}

/// A place, and how well the code around it follows the rule itself.
#[derive(Clone, Debug)]
struct Found {
    place: Place,
    detail: String,
    outcome: Outcome,
    other_line: u32,
    with: u32,
    without: u32,
    is_outside: bool,
}

#[derive(Debug, Default)]
struct Rule {
    counts: Counts,
    z: f64,
    score: f64,
    followers: Vec<Found>,
    breakers: Vec<Found>,
    /// Places that follow the rule, by file.
    follows_in: BTreeMap<String, u64>,
}

/// Every deviation from the templates, most plausible first.
pub fn deviations(units: &[&Events], templates: &[Template]) -> Vec<Deviation> {
    deviations_of(units, templates)
}

/// As [`deviations`], for units that need not all be in memory.
pub fn deviations_of<U: Units + ?Sized>(units: &U, templates: &[Template]) -> Vec<Deviation> {
    let counted: Vec<Counted> = count::count(units, templates);
    let mut rules: Vec<BTreeMap<Key, Rule>> =
        templates.iter().zip(&counted).map(|(template, counted)| counted.rules(template)).collect();
    collect::collect(units, templates, &mut rules);
    trust::weigh(templates, &mut rules);
    let mut deviations = Vec::new();
    for (template, rules) in templates.iter().zip(&rules) {
        for (key, rule) in rules {
            tell::tell(template, key, rule, &mut deviations);
        }
    }
    spurious::tell(units, templates, &counted, &mut deviations);
    tell::order(&mut deviations);
    deviations
}

/// The part of the flags that separates different subjects of one function.
fn subject(event: &Event) -> u32 {
    event.flags & (SUBJECT_RESULT | SUBJECT_NONE)
}

/// Whether a row follows the template's rule, breaks it, or has no say.
fn verdict(template: &Template, event: &Event) -> Option<bool> {
    if event.kind != template.kind || !template.wants(event.flags) {
        return None;
    }
    match (template.follows(event.outcome), template.breaks(event.outcome)) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// Rows of one place, in the order they were written.
fn sites<'a>(unit: &'a Events, template: &'a Template) -> impl Iterator<Item = &'a [Event]> {
    unit.rows.chunk_by(|a, b| a.site == b.site).filter(|rows| {
        rows.iter().any(|row| row.kind == template.kind && template.wants(row.flags))
    })
}

/// Whether a site has no partner at all, where only a habit would make that a deviation.
fn is_bare(template: &Template, rows: &[Event]) -> bool {
    rows.len() == 1 && rows[0].flags & template.habit != 0
}

/// Whether the object of a site is released or somebody else's on every path, by whatever call. It
/// counts against a rule that names another call, but nothing is missing there.
fn is_settled(site: &Event) -> bool {
    site.flags & SETTLED != 0
}

/// What a rule with these counts scores, if it is plausible at all.
fn score(template: &Template, a: &str, b: &str, counts: Counts) -> Option<(f64, f64)> {
    let z = z(counts.followed + counts.broken, counts.followed, template.p0);
    if template.belief == Belief::Must {
        return Some((z, template.weight));
    }
    let is_promoted = counts.promoting > 0;
    let mut bonus = if template.hinted(shown(a), shown(b)) { HINT_BONUS } else { 0.0 };
    bonus += if is_promoted { PROMOTION_BONUS } else { 0.0 };
    let plausible_z = z + bonus;
    let share = counts.share();
    bonus += share.map_or(0.0, |share| (2.0 * share - 1.0) * SHARE_BONUS);
    let is_frequent = counts.followed >= template.min_followed;
    let is_refuted = z < REFUTED_Z.min(template.min_z)
        || share.is_some_and(|share| share < template.min_share)
        || (template.min_share > 0.0 && counts.speaking_for == 0);
    let is_plausible = !is_refuted
        && ((is_promoted && counts.followed > counts.broken)
            || (is_frequent && plausible_z >= template.min_z));
    is_plausible.then_some((z, template.weight + z + bonus))
}

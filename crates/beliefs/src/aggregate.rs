//! From events to ranked deviations.
//!
//! Counting is one pass over the events of all units, and keeps only counts by slot. A
//! second pass looks up the places of the few rules that are left.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use findings::{Deviation, Example, Place};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::{Event, Events, OUTSIDE, SUBJECT_NONE, SUBJECT_RESULT};
use crate::known::shown;
use crate::rank::z;
use crate::template::{Belief, Template};

/// Places remembered for one rule.
const MAX_PLACES: usize = 200;
/// Places that follow the rule, shown beside the one that does not.
const N_EXAMPLES: usize = 3;
/// What it takes away from a deviation that its function never follows the rule at all: most
/// likely it only wraps the first half.
const NEVER_MALUS: f64 = 1.5;
/// What a telling pair of names adds to z.
const HINT_BONUS: f64 = 2.0;

/// A rule: a template with its slots filled.
type Key = (u32, Box<str>, Box<str>);

/// How many places follow a rule, and how many do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub followed: u64,
    pub broken: u64,
    /// Rows the template is lenient about where there are many of them.
    lenient: u64,
}

impl Counts {
    /// Whether what the template is lenient about is a habit here.
    fn is_lenient(&self) -> bool {
        self.lenient >= 3 && self.lenient * 10 >= self.followed
    }
}

/// A place, and how well the code around it follows the rule itself.
#[derive(Clone, Debug)]
struct Found {
    place: Place,
    detail: String,
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
}

/// Every deviation from the templates, most plausible first.
pub fn deviations(units: &[&Events], templates: &[Template]) -> Vec<Deviation> {
    let mut deviations = Vec::new();
    for template in templates {
        let counts = count(units, template);
        let mut rules = retained(template, counts);
        collect(units, template, &mut rules);
        for (key, rule) in &rules {
            tell(template, key, rule, &mut deviations);
        }
    }
    order(&mut deviations);
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

fn count(units: &[&Events], template: &Template) -> BTreeMap<Key, Counts> {
    if template.has_partner() {
        return count_partners(units, template);
    }
    let mut counts: FxHashMap<Key, Counts> = FxHashMap::default();
    for unit in units {
        let text = |symbol| unit.strings.get(symbol);
        for event in &unit.rows {
            let Some(follows) = verdict(template, event) else { continue };
            if !template.accepts_name(shown(text(event.a))) {
                continue;
            }
            let b = if template.slots.len() > 1 { text(event.b) } else { "" };
            let count = counts.entry((subject(event), text(event.a).into(), b.into())).or_default();
            count.lenient += u64::from(event.flags & template.lenient != 0);
            if follows { count.followed += 1 } else { count.broken += 1 }
        }
    }
    for count in counts.values_mut() {
        if count.is_lenient() {
            count.broken -= count.lenient.min(count.broken);
        }
    }
    counts.into_iter().collect()
}

fn count_partners(units: &[&Events], template: &Template) -> BTreeMap<Key, Counts> {
    let mut counts: FxHashMap<Key, Counts> = FxHashMap::default();
    let mut populations: FxHashMap<(u32, Box<str>), u64> = FxHashMap::default();
    for unit in units {
        let text = |symbol| unit.strings.get(symbol);
        // Functions that have had their say on a rule.
        let mut heard: FxHashSet<(u32, u32, u32)> = FxHashSet::default();
        for rows in sites(unit, template) {
            let site = &rows[0];
            let a = text(site.a);
            if !template.accepts_name(shown(a)) {
                continue;
            }
            let is_new = |heard: &mut FxHashSet<_>, b| {
                !template.per_function || heard.insert((site.function, site.a, b))
            };
            if is_new(&mut heard, 0) {
                *populations.entry((subject(site), a.into())).or_default() += 1;
            }
            for row in &rows[1..] {
                let b = text(row.b);
                if verdict(template, row) == Some(true)
                    && template.accepts_partner(shown(b))
                    && template.accepts_pair(shown(a), shown(b))
                    && is_new(&mut heard, row.b)
                {
                    counts.entry((subject(site), a.into(), b.into())).or_default().followed += 1;
                }
            }
        }
    }
    let mut counts: BTreeMap<Key, Counts> = counts.into_iter().collect();
    for ((subject, a, _), count) in &mut counts {
        let population = populations.get(&(*subject, a.clone())).copied().unwrap_or(0);
        count.broken = population.saturating_sub(count.followed);
    }
    counts
}

/// What a rule with these counts scores, if it is plausible at all.
fn score(template: &Template, key: &Key, counts: Counts) -> Option<(f64, f64)> {
    let z = z(counts.followed + counts.broken, counts.followed, template.p0);
    if template.belief == Belief::Must {
        return Some((z, template.weight));
    }
    let bonus = if template.hinted(shown(&key.1), shown(&key.2)) { HINT_BONUS } else { 0.0 };
    let is_plausible = counts.followed >= template.min_followed && z + bonus >= template.min_z;
    is_plausible.then_some((z, template.weight + z + bonus))
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
    let counts = count(units, template);
    let mut found = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for (row, event) in unit.rows.iter().enumerate() {
            if verdict(template, event) != Some(true) {
                continue;
            }
            let text = |symbol| unit.strings.get(symbol);
            let b = if template.slots.len() > 1 { text(event.b) } else { "" };
            let key: Key = (subject(event), text(event.a).into(), b.into());
            let Some(counts) = counts.get(&key) else { continue };
            if counts.followed >= at_least && score(template, &key, *counts).is_some() {
                found.push(Follower { unit: index, row, a: key.1, b: key.2 });
            }
        }
    }
    found
}

fn retained(template: &Template, counts: BTreeMap<Key, Counts>) -> BTreeMap<Key, Rule> {
    let mut rules = BTreeMap::new();
    for (key, counts) in counts {
        if counts.broken == 0 {
            continue;
        }
        if let Some((z, score)) = score(template, &key, counts) {
            rules.insert(key, Rule { counts, z, score, ..Rule::default() });
        }
    }
    rules
}

fn collect(units: &[&Events], template: &Template, rules: &mut BTreeMap<Key, Rule>) {
    let mut by_a: FxHashMap<(u32, Box<str>), Vec<Box<str>>> = FxHashMap::default();
    for (subject, a, b) in rules.keys() {
        by_a.entry((*subject, a.clone())).or_default().push(b.clone());
    }
    for unit in units {
        let text = |symbol| unit.strings.get(symbol);
        if !template.has_partner() {
            for event in &unit.rows {
                let Some(follows) = verdict(template, event) else { continue };
                let b = if template.slots.len() > 1 { text(event.b) } else { "" };
                let key = (subject(event), text(event.a).into(), b.into());
                if let Some(rule) = rules.get_mut(&key) {
                    let is_excused =
                        !follows && event.flags & template.lenient != 0 && rule.counts.is_lenient();
                    if !is_excused {
                        rule.add(follows, found(unit, event));
                    }
                }
            }
            continue;
        }
        for rows in sites(unit, template) {
            let site = &rows[0];
            let of_a = (subject(site), text(site.a).into());
            let Some(partners) = by_a.get(&of_a) else { continue };
            for b in partners {
                let row = rows[1..].iter().find(|row| text(row.b) == &**b);
                let follows = row.is_some_and(|row| verdict(template, row) == Some(true));
                let key = (of_a.0, of_a.1.clone(), b.clone());
                if let Some(rule) = rules.get_mut(&key) {
                    rule.add(follows, found(unit, row.unwrap_or(site)));
                }
            }
        }
    }
}

fn found(unit: &Events, event: &Event) -> Found {
    let text = |symbol| unit.strings.get(symbol).to_owned();
    Found {
        place: Place {
            file: text(event.file),
            line: event.line,
            column: event.column,
            function: text(event.function),
        },
        detail: text(event.detail),
        other_line: event.other_line,
        with: event.with,
        without: event.without,
        is_outside: event.flags & OUTSIDE != 0,
    }
}

impl Rule {
    fn add(&mut self, follows: bool, found: Found) {
        let places = if follows { &mut self.followers } else { &mut self.breakers };
        if places.len() < MAX_PLACES {
            places.push(found);
        }
    }
}

/// How plausible the single deviation is, from the paths of its own function.
fn own_z(found: &Found, p0: f64) -> f64 {
    z(u64::from(found.with + found.without), u64::from(found.with), p0)
}

fn tell(template: &Template, key: &Key, rule: &Rule, deviations: &mut Vec<Deviation>) {
    let mut breakers: Vec<&Found> = rule.breakers.iter().collect();
    // Partial pairings first: they show that the programmer meant to follow the rule here.
    breakers.sort_by(|x, y| {
        // What is never paired here, and somebody else's object, is most likely a wrapper.
        let partial = |found: &Found| (Reverse(found.with > 0), found.is_outside);
        let by_z = own_z(y, template.p0).total_cmp(&own_z(x, template.p0));
        partial(x).cmp(&partial(y)).then(by_z).then_with(|| x.place.cmp(&y.place))
    });
    let mut told: Vec<(&str, &str)> = Vec::new();
    for found in breakers {
        // One report for one object in one function.
        let object = (found.place.function.as_str(), found.detail.as_str());
        if template.has_partner() && told.contains(&object) && !found.detail.is_empty() {
            continue;
        }
        told.push(object);
        deviations.push(deviation(template, key, rule, found));
    }
}

fn deviation(template: &Template, (_, a, b): &Key, rule: &Rule, found: &Found) -> Deviation {
    let words = Words { template, a: shown(a), b: shown(b), counts: rule.counts };
    let n = rule.counts.followed + rule.counts.broken;
    let is_never = template.has_partner() && found.with == 0;
    let told = if is_never { &template.absent } else { &template.deviation };
    let message = match template.belief {
        Belief::Must => words.fill(told, found),
        Belief::May => format!(
            "{} ({} of {n} places), {}",
            words.fill(&template.rule, found),
            rule.counts.followed,
            words.fill(told, found),
        ),
    };
    let mut slots = BTreeMap::from([(template.slots[0].clone(), a.to_string())]);
    if let Some(second) = template.slots.get(1) {
        slots.insert(second.clone(), b.to_string());
    }
    let example = |note: &str, found: &Found| Example {
        place: found.place.clone(),
        note: words.fill(note, found),
    };
    let examples = nearest(&rule.followers, &found.place);
    Deviation {
        rank: 0,
        template: template.id.clone(),
        fingerprint: findings::fingerprint(&[
            &template.id,
            shown(a),
            shown(b),
            &found.place.file,
            &found.place.function,
            &found.detail,
        ]),
        slots,
        place: found.place.clone(),
        message,
        z: rule.z,
        score: rule.score - if is_never { NEVER_MALUS } else { 0.0 },
        n_followed: rule.counts.followed,
        n_broken: rule.counts.broken,
        examples: examples.into_iter().map(|f| example(&template.example, f)).collect(),
        counterexamples: vec![example(told, found)],
    }
}

/// Places that follow the rule: of this file first, each of a function of its own.
fn nearest<'a>(followers: &'a [Found], to: &Place) -> Vec<&'a Found> {
    let mut sorted: Vec<&Found> = followers.iter().collect();
    let folder =
        |file: &str| file.rsplit_once('/').map_or(String::new(), |(dir, _)| dir.to_owned());
    let home = folder(&to.file);
    sorted.sort_by_key(|found| {
        let place = &found.place;
        (place.function == to.function, place.file != to.file, folder(&place.file) != home, place)
    });
    let mut chosen: Vec<&Found> = Vec::new();
    for found in sorted {
        let is_new = |other: &&Found| other.place.function != found.place.function;
        if chosen.iter().all(is_new) {
            chosen.push(found);
        }
        if chosen.len() == N_EXAMPLES {
            break;
        }
    }
    chosen
}

/// Fills the words of a template.
struct Words<'a> {
    template: &'a Template,
    a: &'a str,
    b: &'a str,
    counts: Counts,
}

impl Words<'_> {
    fn fill(&self, text: &str, found: &Found) -> String {
        let detail = match found.detail.as_str() {
            "" => "it",
            detail => detail,
        };
        let mut text = text.replace(&format!("{{{}}}", self.template.slots[0]), self.a);
        if let Some(second) = self.template.slots.get(1) {
            text = text.replace(&format!("{{{second}}}"), self.b);
        }
        let in_line = match found.other_line {
            0 => String::new(),
            line => format!(" in line {line}"),
        };
        text.replace("{what}", detail)
            .replace("{in line}", &in_line)
            .replace("{line}", &found.other_line.to_string())
            .replace("{followed}", &self.counts.followed.to_string())
            .replace("{broken}", &self.counts.broken.to_string())
            .replace("{with}", &found.with.to_string())
            .replace("{without}", &found.without.to_string())
    }
}

/// The most plausible first; equal ones in the order of the source.
fn order(deviations: &mut [Deviation]) {
    let mut position: BTreeMap<(String, String), usize> = BTreeMap::new();
    // Within one rule the order they were told in stays.
    let keyed: Vec<usize> = deviations
        .iter()
        .map(|d| {
            let rule = (d.template.clone(), format!("{:?}", d.slots));
            let next = position.entry(rule).or_default();
            *next += 1;
            *next
        })
        .collect();
    let mut indexed: Vec<(usize, Deviation)> =
        keyed.into_iter().zip(deviations.iter().cloned()).collect();
    indexed.sort_by(|(i, x), (j, y)| {
        y.score
            .total_cmp(&x.score)
            .then_with(|| x.template.cmp(&y.template))
            .then_with(|| x.slots.cmp(&y.slots))
            .then(i.cmp(j))
    });
    for (rank, ((_, sorted), slot)) in indexed.into_iter().zip(deviations.iter_mut()).enumerate() {
        *slot = Deviation { rank: rank as u32 + 1, ..sorted };
    }
}

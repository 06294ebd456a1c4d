//! Rules and deviations in words, and the order they come in.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use findings::{Deviation, Example, Place};

use super::{Counts, Found, Key, Rule};
use crate::event::Outcome;
use crate::known::shown;
use crate::rank::z;
use crate::template::{Belief, Template};

/// Places that follow the rule, shown beside the one that does not.
const N_EXAMPLES: usize = 3;
/// What it takes away from a deviation that its function never follows the rule at all: most
/// likely it only wraps the first half.
const NEVER_MALUS: f64 = 1.5;
/// And more where its name says so, too.
const WRAPPER_MALUS: f64 = 1.0;

/// What it takes away that another deviation from the same rule comes first: if that one is wrong,
/// so is this one most likely.
const AGAIN_MALUS: f64 = 0.15;
const MAX_AGAIN_MALUS: f64 = 1.5;

/// What it takes away that more paths of the function go without than with: most likely something
/// else is done on those.
const MOSTLY_MALUS: f64 = 0.5;
/// What it takes away that a value is only handed on: whoever gets it may know what to do.
const USED_MALUS: f64 = 0.75;

/// How plausible the single deviation is, from the paths of its own function.
fn own_z(found: &Found, p0: f64) -> f64 {
    z(u64::from(found.with + found.without), u64::from(found.with), p0)
}

pub fn tell(template: &Template, key: &Key, rule: &Rule, deviations: &mut Vec<Deviation>) {
    let mut breakers: Vec<&Found> = rule.breakers.iter().collect();
    // Partial pairings first: they show that the programmer meant to follow the rule here.
    breakers.sort_by(|x, y| {
        // What is never paired here, and somebody else's object, is most likely a wrapper.
        let partial = |found: &Found| {
            (Reverse(found.with > 0), is_wrapper(template, key, found), found.is_outside)
        };
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
        // Contradictions stand for themselves, whatever else has the same name.
        let n_before = if template.belief == Belief::May { told.len() } else { 0 };
        let again = (AGAIN_MALUS * n_before as f64).min(MAX_AGAIN_MALUS);
        told.push(object);
        deviations.push(deviation(template, key, rule, found, again));
    }
}

/// Whether the function is named after the first half of a pair and never does the second.
fn is_wrapper(template: &Template, key: &Key, found: &Found) -> bool {
    found.with == 0 && template.hinted(&found.place.function, shown(&key.2))
}

fn deviation(template: &Template, key: &Key, rule: &Rule, found: &Found, again: f64) -> Deviation {
    let (_, a, b) = key;
    let words = Words { template, a: shown(a), b: shown(b), counts: rule.counts };
    let n = rule.counts.followed + rule.counts.broken;
    let is_never = template.has_partner() && found.with == 0;
    let malus = match (is_never, is_wrapper(template, key, found)) {
        (true, true) => NEVER_MALUS + WRAPPER_MALUS,
        (true, false) => NEVER_MALUS,
        (false, _) if found.without > found.with => MOSTLY_MALUS,
        (false, _) => 0.0,
    };
    let malus = malus + if found.outcome == Outcome::Used { USED_MALUS } else { 0.0 };
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
        score: rule.score - malus - again,
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
        let fate = match found.outcome {
            Outcome::Passed => "is returned".to_owned(),
            Outcome::Stored => "is kept".to_owned(),
            _ => format!("decides{in_line}"),
        };
        let paths = |n: u32| if n == 1 { "1 path".to_owned() } else { format!("{n} paths") };
        text.replace("{what}", detail)
            .replace("{fate}", &fate)
            .replace("{in line}", &in_line)
            .replace("{line}", &found.other_line.to_string())
            .replace("{followed}", &self.counts.followed.to_string())
            .replace("{broken}", &self.counts.broken.to_string())
            .replace("{with paths}", &paths(found.with))
            .replace("{with}", &found.with.to_string())
            .replace("{without}", &found.without.to_string())
    }
}

/// The most plausible first; equal ones in the order of the source. Two templates that say the
/// same about a place say it once.
pub fn order(deviations: &mut Vec<Deviation>) {
    sort(deviations);
    let mut told: BTreeSet<(Place, Vec<String>)> = BTreeSet::new();
    deviations.retain(|deviation| {
        let slots: Vec<String> = deviation.slots.values().cloned().collect();
        slots.len() < 2 || told.insert((deviation.place.clone(), slots))
    });
    for (rank, deviation) in (1..).zip(deviations) {
        deviation.rank = rank;
    }
}

fn sort(deviations: &mut [Deviation]) {
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
    for ((_, sorted), slot) in indexed.into_iter().zip(deviations.iter_mut()) {
        *slot = sorted;
    }
}

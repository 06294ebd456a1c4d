//! The non-spurious principle: a lock protects something. One that is held often, and under
//! which nothing is used as a rule, is misunderstood: by us, or by the code.

use std::collections::BTreeMap;

use findings::{Deviation, Example};

use super::collect::found;
use super::count::Counted;
use super::{Units, verdict};
use crate::event::Event;
use crate::template::Template;

/// Places where the second slot is filled before its emptiness says anything.
const MIN_PLACES: u64 = 8;
/// Such a deviation is a hint to look at the slot as a whole; it comes after those with a
/// place that is wrong.
const SCORE: f64 = -3.0;

pub fn tell<U: Units + ?Sized>(
    units: &U,
    templates: &[Template],
    counted: &[Counted],
    deviations: &mut Vec<Deviation>,
) {
    let concerned = || templates.iter().zip(counted).filter(|(t, _)| !t.spurious.is_empty());
    let Some((template, _)) = concerned().next() else { return };
    // What one template finds no use for, another may.
    let mut seconds: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
    for (template, counted) in concerned() {
        for (second, (n, is_used)) in counted.by_second(template) {
            let entry = seconds.entry(second).or_default();
            entry.0 += n;
            entry.1 |= is_used;
        }
    }
    // What is known by its type alone may be many.
    let is_one = |name: &str| !name.is_empty() && !name.starts_with("a ");
    seconds.retain(|second, (n, is_used)| !*is_used && *n >= MIN_PLACES && is_one(second));
    for index in 0..units.n_units() {
        if seconds.is_empty() {
            return;
        }
        let Some(unit) = units.events(index) else { continue };
        let fills = |event: &&Event| verdict(template, event) == Some(true);
        for event in unit.rows.iter().filter(fills) {
            let second = unit.strings.get(event.b);
            let Some((n, _)) = seconds.remove(second) else { continue };
            let found = found(&unit, event);
            let name = template.slots.get(1).map_or("", String::as_str);
            let message = template
                .spurious
                .replace(&format!("{{{name}}}"), second)
                .replace("{followed}", &n.to_string());
            deviations.push(Deviation {
                rank: 0,
                template: template.id.clone(),
                fingerprint: findings::fingerprint(&[&template.id, "spurious", second]),
                slots: BTreeMap::from([(name.to_owned(), second.to_owned())]),
                message: message.clone(),
                z: 0.0,
                score: SCORE,
                n_followed: 0,
                n_broken: n,
                examples: Vec::new(),
                counterexamples: vec![Example { place: found.place.clone(), note: message }],
                place: found.place,
            });
        }
    }
}

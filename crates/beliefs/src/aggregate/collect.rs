//! The second pass: the places of the rules that are left.

use std::collections::BTreeMap;

use findings::Place;
use rustc_hash::FxHashMap;

use super::{Found, Key, Rule, Units, is_bare, is_settled, sites, subject, verdict};
use crate::event::{Event, Events, OUTSIDE};
use crate::template::Template;

/// Places remembered for one rule.
const MAX_PLACES: usize = 200;

/// Partners by subject and first slot.
type Partners = FxHashMap<(u32, Box<str>), Vec<Box<str>>>;

pub fn collect<U: Units + ?Sized>(
    units: &U,
    templates: &[Template],
    rules: &mut [BTreeMap<Key, Rule>],
) {
    let partners: Vec<Partners> = rules.iter().map(partners).collect();
    for index in 0..units.n_units() {
        let Some(unit) = units.events(index) else { continue };
        for ((template, rules), partners) in templates.iter().zip(&mut *rules).zip(&partners) {
            match template.has_partner() {
                _ if rules.is_empty() => {}
                true => pairs(&unit, template, partners, rules),
                false => singles(&unit, template, rules),
            }
        }
    }
}

fn partners(rules: &BTreeMap<Key, Rule>) -> Partners {
    let mut partners = Partners::default();
    for (subject, a, b) in rules.keys() {
        partners.entry((*subject, a.clone())).or_default().push(b.clone());
    }
    partners
}

fn singles(unit: &Events, template: &Template, rules: &mut BTreeMap<Key, Rule>) {
    let text = |symbol| unit.strings.get(symbol);
    for event in &unit.rows {
        let Some(follows) = verdict(template, event) else { continue };
        if !template.accepts_routine(text(event.b)) {
            continue;
        }
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
}

fn pairs(unit: &Events, template: &Template, partners: &Partners, rules: &mut BTreeMap<Key, Rule>) {
    let text = |symbol| unit.strings.get(symbol);
    for rows in sites(unit, template) {
        let site = &rows[0];
        let of_a = (subject(site), text(site.a).into());
        let Some(partners) = partners.get(&of_a) else { continue };
        for b in partners {
            let row = rows[1..].iter().find(|row| text(row.b) == &**b);
            let follows = row.is_some_and(|row| verdict(template, row) == Some(true));
            let key = (of_a.0, of_a.1.clone(), b.clone());
            if let Some(rule) = rules.get_mut(&key)
                && !(rule.counts.excuses_bare && is_bare(template, rows))
                && (follows || !is_settled(site))
            {
                rule.add(follows, found(unit, row.unwrap_or(site)));
            }
        }
    }
}

pub fn found(unit: &Events, event: &Event) -> Found {
    let text = |symbol| unit.strings.get(symbol).to_owned();
    Found {
        place: Place {
            file: text(event.file),
            line: event.line,
            column: event.column,
            function: text(event.function),
        },
        detail: text(event.detail),
        outcome: event.outcome,
        other_line: event.other_line,
        with: event.with,
        without: event.without,
        is_outside: event.flags & OUTSIDE != 0,
    }
}

impl Rule {
    fn add(&mut self, follows: bool, found: Found) {
        if follows {
            *self.follows_in.entry(found.place.file.clone()).or_default() += 1;
        }
        let places = if follows { &mut self.followers } else { &mut self.breakers };
        if places.len() < MAX_PLACES {
            places.push(found);
        }
    }
}

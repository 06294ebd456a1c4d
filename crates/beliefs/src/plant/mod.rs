//! Breaks places that follow a rule, one at a time, and sees whether the deviation is found.
//!
//! The program is changed as it was imported, never its source, and only the function that was
//! changed is looked at again.

mod edit;

use program::Program;
use rayon::prelude::*;
use serde::Serialize;

use crate::aggregate::{Follower, deviations, followers};
use crate::event::{Events, Kind, Outcome};
use crate::extract::extract_body;
use crate::known::{Keys, Known, shown};
use crate::template::Template;
use edit::{Edit, Site};

/// Rules with fewer examples are not planted against.
const MIN_EXAMPLES: u64 = 10;
/// Seeds the order in which candidates are drawn.
const SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// How one template did.
#[derive(Clone, Debug, Serialize)]
pub struct Planted {
    pub template: String,
    /// Places that could have been broken.
    pub candidates: usize,
    pub planted: usize,
    pub found: usize,
    /// For each found: its rank among the deviations of its rule, and of its template.
    pub ranks_in_rule: Vec<usize>,
    pub ranks_in_template: Vec<usize>,
    /// Places that were broken and not reported, for people to look at.
    pub missed: Vec<String>,
}

/// The units to plant in, and what is known about them.
pub struct Ground<'a> {
    pub units: &'a [Program],
    pub known: &'a Known,
    pub events: &'a [Events],
}

/// Plants against every template that has something to take away.
pub fn plant(ground: &Ground, templates: &[Template], n_plants: usize) -> Vec<Planted> {
    let is_breakable = |template: &&Template| match template.kind {
        Kind::Pair | Kind::Undo | Kind::Access | Kind::Guard | Kind::Context => true,
        // A check that is gone is what these two look for.
        Kind::Result => template.breaks(Outcome::Ignored) && template.follows(Outcome::Checked),
        Kind::Lock => template.breaks(Outcome::Unpaired),
        _ => false,
    };
    let chosen: Vec<&Template> = templates.iter().filter(is_breakable).collect();
    let keys: Vec<Keys> = ground.units.iter().map(Keys::new).collect();
    chosen.iter().map(|template| against(ground, &keys, template, n_plants)).collect()
}

fn against(ground: &Ground, keys: &[Keys], template: &Template, n_plants: usize) -> Planted {
    // What other templates look at has no say here.
    let events: Vec<Events> =
        ground.events.iter().map(|unit| unit.only(|row| row.kind == template.kind)).collect();
    let all: Vec<&Events> = events.iter().collect();
    let mut candidates = followers(&all, template, MIN_EXAMPLES);
    shuffle(&mut candidates);
    let n_candidates = candidates.len();
    let mut edits = Vec::new();
    for candidate in candidates {
        if edits.len() == n_plants {
            break;
        }
        let unit = candidate.unit;
        let site = Site {
            program: &ground.units[unit],
            keys: &keys[unit],
            known: ground.known,
            events: &events[unit],
            event: &events[unit].rows[candidate.row],
        };
        if let Some(edit) = site.edit(template.kind, &candidate) {
            edits.push((candidate, edit));
        }
    }
    let outcomes: Vec<_> = edits
        .par_iter()
        .map(|(candidate, edit)| {
            let changed = extracted(ground, keys, candidate, edit);
            find(&all, template, candidate, &changed)
        })
        .collect();
    let mut planted = Planted {
        template: template.id.clone(),
        candidates: n_candidates,
        planted: outcomes.len(),
        found: 0,
        ranks_in_rule: Vec::new(),
        ranks_in_template: Vec::new(),
        missed: Vec::new(),
    };
    for outcome in outcomes {
        match outcome {
            Ok((in_rule, in_template)) => {
                planted.found += 1;
                planted.ranks_in_rule.push(in_rule);
                planted.ranks_in_template.push(in_template);
            }
            Err(missed) => planted.missed.push(missed),
        }
    }
    planted
}

/// The events of the function as the edit leaves it.
fn extracted(ground: &Ground, keys: &[Keys], candidate: &Follower, edit: &Edit) -> Events {
    let program = &ground.units[candidate.unit];
    let Some(body) = &program.functions[edit.function].body else { return Events::default() };
    let mut body = body.clone();
    edit.apply(&mut body);
    extract_body(program, &keys[candidate.unit], ground.known, edit.function, &body)
}

/// The rank of the deviation within its rule and its template, or the place that was missed.
fn find(
    all: &[&Events],
    template: &Template,
    candidate: &Follower,
    changed: &Events,
) -> Result<(usize, usize), String> {
    let unit = all[candidate.unit];
    let event = &unit.rows[candidate.row];
    let text = |symbol| unit.strings.get(symbol);
    let others = unit.only(|row| row.function != event.function);
    let mut all = all.to_vec();
    all[candidate.unit] = &others;
    all.push(changed);
    let mut in_rule = 0;
    let slot = |deviation: &findings::Deviation, index: usize, text: &str| {
        let name = template.slots.get(index);
        name.is_none_or(|name| deviation.slots.get(name).is_some_and(|slot| slot == text))
    };
    let deviations = deviations(&all, std::slice::from_ref(template));
    for (index, deviation) in deviations.iter().enumerate() {
        let is_rule = slot(deviation, 0, &candidate.a) && slot(deviation, 1, &candidate.b);
        in_rule += usize::from(is_rule);
        let place = &deviation.place;
        if is_rule && place.function == text(event.function) && place.file == text(event.file) {
            return Ok((in_rule, index + 1));
        }
    }
    let rule = (shown(&candidate.a), shown(&candidate.b));
    Err(format!("{}:{} {} {rule:?}", text(event.file), event.line, text(event.function)))
}

/// A fixed order without pattern, the same on every machine.
fn shuffle(candidates: &mut [Follower]) {
    let mut state = SEED;
    for index in (1..candidates.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        candidates.swap(index, (state % (index as u64 + 1)) as usize);
    }
}

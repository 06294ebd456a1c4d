//! One run, asked what its violations cause: it is run once more with each of them put right.

use interpret::{Inputs, Limits};

use super::is_number;
use super::run::{Course, Event, Key, corrections, course};
use crate::search::Search;

/// Violations of one run that are put right.
pub const MAX_CAUSES: usize = 10;

/// A violation of a run, and what comes of putting it right.
pub struct Cause {
    pub event: Event,
    /// What is not violated any more.
    pub went: Vec<Event>,
    /// What is violated all the same.
    pub stays: Vec<Event>,
}

/// What the violations of a run cause, in its order, and the instructions it took to find out.
pub fn ask(
    search: &Search,
    inputs: &Inputs,
    limits: &Limits,
    found: &Course,
    max_steps: u64,
) -> (Vec<Cause>, u64) {
    let mut causes = Vec::new();
    let mut n_steps = 0;
    for (index, event) in found.events.iter().enumerate().take(MAX_CAUSES) {
        let later = &found.events[index + 1..];
        if n_steps > max_steps || later.is_empty() {
            break;
        }
        let mut cause = Cause { event: *event, went: Vec::new(), stays: Vec::new() };
        for right in corrections(event.key) {
            let without = course(search, inputs, limits, &[right]);
            n_steps += without.n_steps;
            if without.is_unclear {
                continue;
            }
            for other in later {
                // Any number that fits will do for what is made from it.
                let is_own = !right.is_nearest || other.by == Some(event.key);
                if without.has(other.key) {
                    cause.stays.push(*other);
                } else if is_own
                    && !cause.went.contains(other)
                    && is_told(search, found, &without, other.key)
                {
                    cause.went.push(*other);
                }
            }
        }
        causes.push(cause);
    }
    by_numbers(&mut causes);
    (causes, n_steps)
}

/// Whether a run that does not violate something tells that it would not. One that ends at
/// another violation tells that only of places that it came to.
fn is_told(search: &Search, with: &Course, without: &Course, key: Key) -> bool {
    without.last.is_none_or(|last| {
        with.last == Some(last) || last.0 == key.0 || without.came_as_often(with, search, key)
    })
}

/// An access that is made from a number which another cause had made wrong is of that number's
/// doing, even if the number that was meant would do no better.
fn by_numbers(causes: &mut [Cause]) {
    let mut more: Vec<(Key, Event)> = Vec::new();
    for cause in causes.iter() {
        for event in &cause.went {
            let Some(by) = event.by.filter(|by| *by != cause.event.key) else { continue };
            if cause.went.iter().any(|middle| middle.key == by) {
                more.push((by, *event));
            }
        }
    }
    for (by, event) in more {
        if let Some(cause) = causes.iter_mut().find(|cause| cause.event.key == by)
            && !cause.went.contains(&event)
        {
            cause.went.push(event);
        }
    }
}

/// What a run violates whichever of its violations is put right.
pub fn alone<'a>(found: &'a Course, causes: &'a [Cause]) -> impl Iterator<Item = &'a Event> {
    let has_cause = |index: usize, event: &Event| {
        found.events[..index].iter().any(|before| {
            let known = causes.iter().find(|cause| cause.event == *before);
            !corrections(before.key).is_empty()
                && known.is_none_or(|cause| !cause.stays.contains(event))
        })
    };
    let hard = found.events.iter().enumerate().filter(|(_, event)| !event.is_soft);
    hard.filter(move |(index, event)| !has_cause(*index, event)).map(|(_, event)| event)
}

/// Whether what stays with a violation put right has other causes. A number that is the one meant
/// may be wrong all the same.
pub fn leaves_alone(cause: &Cause) -> &[Event] {
    if is_number(cause.event.key.1) { &[] } else { &cause.stays }
}

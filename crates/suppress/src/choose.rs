//! Which definition a failure leads to.

use run::suppressed::{Culprit, Event, Plan, Run};

/// The first value the failing place used whose definition is known and not suppressed yet.
/// The runtime names them in the order of suspicion: what the address was computed from
/// before what it is an offset into, pointers that lead nowhere before others.
pub(crate) fn choose(run: &Run, plan: &Plan) -> Option<Culprit> {
    run.culprits.iter().copied().find(|culprit| {
        culprit.event.is_some_and(|event| {
            let is_whole = |(site, from): &(u32, Event)| {
                *site == culprit.site && from.thread == event.thread && from.event <= event.event
            };
            !plan.points.contains(&event) && !plan.sites.iter().any(is_whole)
        })
    })
}

/// How often one statement may be found before all its later executions are suppressed: an
/// overflow that corrupts many places one by one is one corruption.
const SAME_STATEMENT: usize = 3;

/// Adds the definition to what is suppressed.
pub(crate) fn extend(plan: &mut Plan, found: &[(Event, u32)], event: Event, site: u32) {
    let is_same = |(e, s): &&(Event, u32)| *s == site && e.thread == event.thread;
    let earlier: Vec<Event> = found.iter().filter(is_same).map(|(event, _)| *event).collect();
    if earlier.len() + 1 >= SAME_STATEMENT {
        let from = earlier.iter().copied().fold(event, Event::min);
        plan.sites.retain(|(s, from)| *s != site || from.thread != event.thread);
        plan.sites.push((site, from));
    }
    plan.points.push(event);
    plan.points.sort_unstable();
    plan.points.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_found_again_and_again_is_suppressed_as_a_whole() {
        let mut plan = Plan::default();
        let at = |event| Event { thread: 1, event };
        extend(&mut plan, &[], at(30), 7);
        extend(&mut plan, &[(at(30), 7)], at(20), 7);
        assert_eq!((plan.points.clone(), plan.sites.clone()), (vec![at(20), at(30)], vec![]));
        // Another thread's executions are not the same ones.
        extend(&mut plan, &[(at(30), 7), (at(20), 7)], Event { thread: 0, event: 9 }, 7);
        assert_eq!(plan.sites, []);
        extend(&mut plan, &[(at(30), 7), (at(20), 7)], at(25), 7);
        assert_eq!(plan.sites, [(7, at(20))]);
    }
}

//! Which definition a failure leads to.

use run::suppressed::{Culprit, Plan, Run};

/// The first value the failing place used whose definition is known and not suppressed yet.
/// The runtime names them in the order of suspicion: what the address was computed from
/// before what it is an offset into, pointers that lead nowhere before others.
pub(crate) fn choose(run: &Run, plan: &Plan) -> Option<Culprit> {
    run.culprits.iter().copied().find(|culprit| {
        culprit.event.is_some_and(|event| {
            let is_whole = |(site, from): &(u32, u32)| *site == culprit.site && *from <= event;
            !plan.points.contains(&event) && !plan.sites.iter().any(is_whole)
        })
    })
}

/// How often one statement may be found before all its later executions are suppressed: an
/// overflow that corrupts many places one by one is one corruption.
const SAME_STATEMENT: usize = 3;

/// Adds the definition to what is suppressed.
pub(crate) fn extend(plan: &mut Plan, found: &[(u32, u32)], event: u32, site: u32) {
    let earlier: Vec<u32> =
        found.iter().filter(|(_, s)| *s == site).map(|(event, _)| *event).collect();
    if earlier.len() + 1 >= SAME_STATEMENT {
        let from = earlier.iter().copied().fold(event, u32::min);
        plan.sites.retain(|(s, _)| *s != site);
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
        extend(&mut plan, &[], 30, 7);
        extend(&mut plan, &[(30, 7)], 20, 7);
        assert_eq!((plan.points.clone(), plan.sites.clone()), (vec![20, 30], vec![]));
        extend(&mut plan, &[(30, 7), (20, 7)], 25, 7);
        assert_eq!(plan.sites, [(7, 20)]);
    }
}

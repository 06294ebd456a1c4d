//! Everything the tests tell of one statement: its IVMPs, and its values in failing and in
//! passing runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use base::Cancel;
use findings::values::{Ivmp, Number, SiteValues, ValueSet};
use findings::{Findings, Place};
use llvm::instrument::{Site, SiteKind, ValueType};
use run::{Hit, Suite};

use crate::parallel;
use crate::request::{Built, finished, ranked, search_of};
use crate::session::{LocateError, Session};
use crate::{Ivmps, Request, RequestError, Search, Searcher, StatementId};

/// Which statement to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The most suspicious one.
    Top,
    /// The one in this line of this file.
    At(Place),
}

/// A statement looked at.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Where it is; the line may be any of its lines.
    pub place: Place,
    pub sites: Vec<SiteValues>,
    /// The ranked list, where the top of it was asked for, and tests that were set aside.
    pub findings: Findings,
    pub n_failing: usize,
    pub n_passing: usize,
}

/// Confirmed IVMPs looked at per test.
const MAX_IVMPS: usize = 20;

/// Events of a failing run whose instances are looked at: a loop that runs away would have a
/// statement tried a million times, and patterns show much earlier.
const MAX_EVENTS: u64 = 20_000;

/// Distinct sets of values looked at per site, in failing and in passing runs each.
const MAX_SETS: usize = 2_000;

/// Builds the program, runs the tests and looks at one statement. `lines` says which lines belong
/// to the statement at a place.
pub fn examine(
    request: &Request,
    which: &Which,
    lines: &dyn Fn(&Place) -> RangeInclusive<u32>,
    cancel: &Cancel,
) -> Result<Examined, RequestError> {
    let suite = Suite::load(&request.tests, &request.allowed)?;
    let built = Built::new(&request.build, cancel)?;
    let session = Session::start(&built.program, &suite, request.options, cancel)?;
    let n_failing = session.failing().len();
    if n_failing == 0 {
        return Err(LocateError::NoFailingTest.into());
    }
    let (place, findings) = match which {
        Which::At(place) => (place.clone(), finished(&session, None, &[])),
        Which::Top => {
            let findings = ranked(request, &session)?.findings(&session);
            let top = findings.statements.first().map(|statement| statement.place.clone());
            (top.ok_or(LocateError::NoFailingTest)?, findings)
        }
    };
    let statements = statements_in(&session, &place.file, &lines(&place));
    let search = match search_of(request, &session) {
        Search::Reduced => Search::Reduced,
        Search::Full | Search::Every => Search::Every,
    };
    let all = Searcher::new(&session, search);
    let searcher = Searcher { kept: MAX_IVMPS, max_events: MAX_EVENTS, ..all };
    let ivmps = searcher.run_statements(&statements)?;
    let sites = site_values(&session, &statements, &ivmps)?;
    let n_passing = session.tests.len() - n_failing;
    Ok(Examined { place, sites, findings, n_failing, n_passing })
}

fn statements_in(session: &Session<'_>, file: &str, lines: &RangeInclusive<u32>) -> BTreeSet<u32> {
    let same = |a: &str| {
        let full = |path: &str| std::fs::canonicalize(path).ok();
        a == file || Path::new(a).ends_with(file) || full(a).is_some_and(|a| full(file) == Some(a))
    };
    let places = session.statements.places.iter().enumerate();
    let inside = places.filter(|(_, place)| lines.contains(&place.line) && same(&place.file));
    inside.map(|(number, _)| number as u32).collect()
}

fn site_values(
    session: &Session<'_>,
    statements: &BTreeSet<u32>,
    ivmps: &Ivmps,
) -> Result<Vec<SiteValues>, LocateError> {
    let of_site = session.statements.of_site.iter().enumerate();
    let sites: BTreeSet<u32> =
        of_site.filter(|(_, s)| statements.contains(s)).map(|(site, _)| site as u32).collect();
    let mut values: BTreeMap<u32, SiteValues> = BTreeMap::new();
    for site in &sites {
        let is_branch = session.program.sites[*site as usize].kind == SiteKind::Branch;
        values.insert(*site, SiteValues { is_branch, ..SiteValues::default() });
    }
    for ivmp in statements.iter().flat_map(|s| ivmps.of(StatementId(*s))) {
        let site = &session.program.sites[ivmp.hit.replacement.site as usize];
        if let Some(values) = values.get_mut(&ivmp.hit.replacement.site) {
            values.ivmps.push(as_ivmp(site, &ivmp.hit));
        }
    }
    let runs = parallel::map(session.tests.len(), session.options.jobs, |test| {
        session.runner().values_at(&session.tests[test].test, &sites)
    });
    let mut seen: BTreeMap<(u32, bool), BTreeSet<Vec<u64>>> = BTreeMap::new();
    for (test, run) in session.tests.iter().zip(runs) {
        for (site, sets) in run? {
            let all = seen.entry((site, test.passed)).or_default();
            all.extend(sets.into_iter().take(MAX_SETS.saturating_sub(all.len())));
        }
    }
    for ((number, passed), sets) in seen {
        let site = &session.program.sites[number as usize];
        let Some(values) = values.get_mut(&number) else { continue };
        let of_runs = if passed { &mut values.passing } else { &mut values.failing };
        of_runs.extend(sets.iter().map(|set| value_set(site, set)));
    }
    Ok(values.into_values().collect())
}

fn value_set(site: &Site, values: &[u64]) -> ValueSet {
    let types = [site.ty].into_iter().chain(leaf_types(site));
    values.iter().zip(types).map(|(bits, ty)| number(*bits, ty)).collect()
}

/// Where nothing is computed, what is used is what is defined.
fn leaf_types(site: &Site) -> impl Iterator<Item = ValueType> + '_ {
    site.leaves.iter().filter(|_| site.is_computed).map(|leaf| leaf.ty)
}

fn as_ivmp(site: &Site, hit: &Hit) -> Ivmp {
    let mut original = vec![hit.original];
    original.extend(&hit.leaves);
    let original = value_set(site, &original);
    let mut alternate: ValueSet = vec![None; original.len()];
    alternate[0] = number(hit.replacement.value, site.ty);
    if let Some(leaf) = hit.leaf.map(|leaf| leaf as usize)
        && leaf + 1 < original.len()
    {
        // The other values stay what they are.
        alternate[1..].copy_from_slice(&original[1..]);
        alternate[leaf + 1] = number(hit.leaf_alternate, site.leaves[leaf].ty);
    }
    Ivmp { original, alternate }
}

/// Addresses differ from run to run and say nothing.
fn number(bits: u64, ty: ValueType) -> Option<Number> {
    if ty.is_boolean {
        return Some(Number::Integer(i128::from(bits != 0)));
    }
    if ty.is_float {
        let float = match ty.bits {
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        return Some(Number::Float(float));
    }
    if !ty.is_replaceable {
        return None;
    }
    let shift = 64 - u32::from(ty.bits.clamp(1, 64));
    let shifted = bits << shift;
    Some(Number::Integer(if ty.is_unsigned {
        i128::from(shifted >> shift)
    } else {
        i128::from((shifted as i64) >> shift)
    }))
}

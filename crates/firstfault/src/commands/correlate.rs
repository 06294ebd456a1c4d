//! `firstfault correlate`: what other tools found, in one graph with what we find.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use base::Cancel;
use correlate::Imported;
use findings::Notice;

use super::{Outcome, check};
use crate::args::CorrelateArgs;

pub fn run(args: &CorrelateArgs, cancel: &Cancel) -> Result<Outcome> {
    let mut foreign = Imported { faults: Vec::new(), alone: args.alone };
    for path in &args.import {
        match read(path) {
            Ok(faults) => foreign.faults.extend(faults),
            // The other reports are still of use.
            Err(error) if args.import.len() > 1 => crate::log::warning(&format!("{error:#}")),
            Err(error) => return Err(error),
        }
    }
    if foreign.faults.is_empty() && args.alone {
        bail!("there is nothing to correlate: no report has a result with a place");
    }
    check::run_with(&args.check, &foreign, cancel)
}

fn read(path: &Path) -> Result<Vec<findings::Fault>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let read =
        report::sarif::read(&bytes).with_context(|| format!("cannot use {}", path.display()))?;
    if read.faults.is_empty() && read.n_unplaced == 0 {
        crate::log::warning(&format!("{} has no results", path.display()));
    }
    if read.n_unplaced > 0 {
        let n = read.n_unplaced;
        crate::log::warning(&format!("{}: {n} results have no usable place", path.display()));
    }
    Ok(read.faults)
}

/// What other tools reported about places where we see nothing of the kind.
pub fn unplaced(foreign: &Imported, placed: &BTreeSet<usize>) -> Vec<Notice> {
    let all = foreign.faults.iter().enumerate();
    all.filter(|(index, _)| !placed.contains(index))
        .map(|(_, fault)| Notice {
            place: fault.place.clone(),
            message: format!(
                "not correlated: {}: {} [{}]",
                correlate::why_unplaced(fault),
                fault.message,
                fault.rule
            ),
        })
        .collect()
}

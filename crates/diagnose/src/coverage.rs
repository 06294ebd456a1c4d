//! Which lines run: code that nothing reaches any more speaks against a change.

use std::collections::BTreeSet;

use program::{BlockId, FunctionId};

use crate::Request;
use crate::repair::Others;
use crate::workshop::Bench;
use explore::judge::{Given, Judge, Outcome};

/// What the program does as it is.
pub struct Coverage {
    /// Lines that it ran on some input.
    pub lines: BTreeSet<(usize, u32)>,
    /// What it did with each of the samples.
    pub samples: Vec<Outcome>,
    pub failing: Outcome,
}

impl Coverage {
    pub fn of(
        bench: &Bench,
        judge: &Judge,
        failing: &Given,
        others: &Others,
        request: &Request,
    ) -> Self {
        let failing = judge.run(None, failing);
        let mut covered = failing.covered.clone();
        let samples: Vec<Outcome> =
            others.samples.iter().map(|sample| judge.run(None, sample)).collect();
        covered.extend(samples.iter().flat_map(|outcome| &outcome.covered));
        for other in &others.violating {
            covered.extend(judge.run(None, other).covered);
        }
        for test in &request.tests {
            covered.extend(judge.run(None, &Given::Test(test.clone())).covered);
        }
        Self { lines: lines_of(bench, &covered), samples, failing }
    }
}

pub fn lines_of(
    bench: &Bench,
    covered: &BTreeSet<(FunctionId, BlockId)>,
) -> BTreeSet<(usize, u32)> {
    let program = &bench.program;
    let mut lines = BTreeSet::new();
    for (function, block) in covered {
        let Some(body) = &program.functions[*function].body else { continue };
        for inst in body.blocks[*block].inst_ids() {
            let loc = &program.locs[body.insts[inst].loc];
            let path = program.files.get(loc.file).map(|file| file.path.as_str());
            let file = bench.paths.iter().position(|known| Some(known.as_str()) == path);
            lines.extend(file.filter(|_| loc.line > 0).map(|file| (file, loc.line)));
        }
    }
    lines
}

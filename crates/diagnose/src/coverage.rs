//! Which lines run: code that nothing reaches any more speaks against a change.

use std::collections::BTreeSet;

use program::{BlockId, FunctionId};

use crate::Request;
use crate::judge::{Given, Judge};
use crate::repair::Others;
use crate::workshop::Bench;

/// Lines that the program ran on some input.
pub struct Coverage {
    pub lines: BTreeSet<(usize, u32)>,
}

impl Coverage {
    pub fn of(
        bench: &Bench,
        judge: &Judge,
        failing: &Given,
        others: &Others,
        request: &Request,
    ) -> Self {
        let mut covered = judge.run(None, failing).covered;
        for other in others.samples.iter().chain(&others.violating) {
            covered.extend(judge.run(None, other).covered);
        }
        for test in &request.tests {
            covered.extend(judge.run(None, &Given::Test(test.clone())).covered);
        }
        Self { lines: lines_of(bench, &covered) }
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

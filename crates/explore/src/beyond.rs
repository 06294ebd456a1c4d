//! What lies beyond violations that were not asked for.

use base::Cancel;
use interpret::{Inputs, Limits, MAX_PASSED, PassedOver, Point};
use program::{FunctionId, Program};

use crate::ending::{Property, loc_of};
use crate::memo::Memo;
use crate::search::{BOUNDS, Explored, Search, Violation};

/// Searches that each pass over what the one before them ended at.
const MAX_SEARCHES: usize = 4;

impl Search<'_> {
    /// Searches on past other violations than those in `wanted` as long as none of these is
    /// found, and adds what is found to `explored`.
    pub fn run_beyond(
        &self,
        memo: &mut Memo,
        wanted: &dyn Fn(&Violation) -> bool,
        explored: &mut Explored,
        cancel: &Cancel,
    ) {
        let mut passed: Vec<PassedOver> = Vec::new();
        for _ in 0..MAX_SEARCHES {
            if explored.violations.iter().any(wanted) || cancel.is_cancelled() {
                return;
            }
            let n_before = passed.len();
            for violation in &explored.violations {
                let one = self.passing(violation);
                if one.line > 0 && passed.len() < MAX_PASSED && !passed.contains(&one) {
                    passed.push(one);
                }
            }
            if passed.len() == n_before {
                break;
            }
            let mut all = [None; MAX_PASSED];
            all.iter_mut().zip(&passed).for_each(|(place, one)| *place = Some(*one));
            // It begins with no inputs, as other searches do.
            let seed = (Inputs::default(), Limits { arguments: 0, passed: all, ..BOUNDS[0] });
            let max_runs = self.max_runs / 2;
            let search = Search { seed: Some(&seed), max_runs, ..*self };
            let found = search.run(memo, wanted, cancel);
            explored.n_runs += found.n_runs;
            explored.n_checks += found.n_checks;
            explored.n_steps += found.n_steps;
            explored.violations.extend(found.violations);
            explored.unmodelled = explored.unmodelled.take().or(found.unmodelled);
        }
        if let Some(first) = explored.violations.first() {
            // Whatever else ended the search, this is what somebody can do something about.
            let (place, rule) = (told(self.program, first.at), first.property.rule());
            let why = format!("runs end at another violation, in {place} ({rule})");
            explored.incomplete = Some(why);
        }
    }

    fn passing(&self, violation: &Violation) -> PassedOver {
        let line = self.program.locs[loc_of(self.program, violation.at)].line;
        let kind = match violation.property {
            Property::Fault(kind) => Some(kind),
            Property::Assertion => None,
        };
        PassedOver { line, kind }
    }
}

/// The file and line of a violation.
pub fn told(program: &Program, at: (FunctionId, Point)) -> String {
    let loc = &program.locs[loc_of(program, at)];
    let path = program.files.get(loc.file).map_or("", |file| &file.path);
    format!("{path}:{}", loc.line)
}

//! Figures about the facts of a program, for benchmarks and for judging precision.

use program::{Op, Program};
use serde::Serialize;

use crate::{CallKind, Facts, Version};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    pub functions: usize,
    pub blocks: usize,
    pub instructions: usize,
    pub objects: usize,
    pub cells: usize,
    pub escaped_objects: usize,
    /// Accesses (loads and stores), and the cells they may touch on average.
    pub accesses: usize,
    pub average_points_to: f64,
    /// Accesses whose pointer points nowhere known: dead code, or a hole in the facts.
    pub accesses_to_nothing: usize,
    pub accesses_to_one: usize,
    pub indirect_calls: usize,
    /// Calls through pointers with targets and without unknown ones.
    pub resolved_indirect_calls: usize,
    pub average_targets: f64,
    pub loads: usize,
    /// Loads whose value comes from one write, or from the caller unchanged.
    pub loads_with_one_definition: usize,
    pub memory_versions: usize,
    pub loops: usize,
    pub loops_with_inductions: usize,
    pub loops_with_trip_counts: usize,
    pub loops_with_constant_trips: usize,
    pub irreducible_blocks: usize,
    pub recursive_functions: usize,
    pub no_return_functions: usize,
    pub allocator_wrappers: usize,
}

impl Facts {
    pub fn stats(&self, program: &Program) -> Stats {
        let mut stats = Stats {
            objects: self.pointers.objects.len(),
            cells: self.pointers.cells.len(),
            escaped_objects: self.pointers.objects.iter().filter(|o| o.escapes).count(),
            ..Stats::default()
        };
        let mut touched = 0;
        for (id, function) in program.functions.iter_enumerated() {
            stats.no_return_functions += usize::from(self.no_return.function(id));
            let Some(body) = &function.body else { continue };
            stats.functions += 1;
            stats.blocks += body.blocks.len();
            stats.instructions += body.insts.len();
            stats.recursive_functions += usize::from(self.calls.is_recursive(id));
            stats.allocator_wrappers += usize::from(self.summaries.of(id).returns_fresh);
            for inst in &body.insts {
                if let Op::Load(access) | Op::Store { access, .. } = &inst.op {
                    let n = self.pointers.of(id, access.ptr).len();
                    stats.accesses += 1;
                    touched += n;
                    stats.accesses_to_nothing += usize::from(n == 0);
                    stats.accesses_to_one += usize::from(n == 1);
                }
            }
            self.count_loops(id.0 as usize, &mut stats);
            self.count_memory(id.0 as usize, &mut stats);
        }
        stats.average_points_to = touched as f64 / stats.accesses.max(1) as f64;
        self.count_calls(program, &mut stats);
        stats
    }

    fn count_loops(&self, function: usize, stats: &mut Stats) {
        if let Some(cfg) = &self.cfgs[function] {
            stats.irreducible_blocks += cfg.loops.irreducible().len();
        }
        for known in &self.loops[function].loops {
            stats.loops += 1;
            stats.loops_with_inductions += usize::from(!known.inductions.is_empty());
            stats.loops_with_trip_counts += usize::from(!known.trip_counts.is_empty());
            stats.loops_with_constant_trips += usize::from(known.max_trips().is_some());
        }
    }

    fn count_memory(&self, function: usize, stats: &mut Stats) {
        let memory = &self.memory[function];
        stats.memory_versions += memory.groups.iter().map(|g| g.versions.len()).sum::<usize>();
        for reaching in memory.all_reaching() {
            stats.loads += 1;
            let is_one = match memory.version(*reaching) {
                Version::Entry | Version::Write { is_certain: true, .. } => true,
                Version::Write { .. } | Version::Merge { .. } => false,
            };
            stats.loads_with_one_definition += usize::from(is_one);
        }
    }

    fn count_calls(&self, program: &Program, stats: &mut Stats) {
        let mut targets = 0;
        for id in program.functions.ids() {
            for call in self.calls.calls(id).iter().filter(|c| c.kind == CallKind::Pointer) {
                stats.indirect_calls += 1;
                let n = self.calls.targets(call).len();
                targets += n;
                stats.resolved_indirect_calls += usize::from(n > 0 && !call.is_open);
            }
        }
        stats.average_targets = targets as f64 / stats.indirect_calls.max(1) as f64;
    }
}

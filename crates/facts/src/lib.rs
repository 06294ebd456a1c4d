//! Facts computed once per program, which every analysis stands on.
//!
//! [`Facts::compute`] runs the parts in the order they need each other; each part is a
//! module of its own and says what it assumes. All of them are deterministic at any
//! number of threads.

pub mod callgraph;
pub mod cfg;
pub mod checks;
pub mod csr;
pub mod effects;
pub mod externals;
pub mod loops;
pub mod members;
pub mod memory;
pub mod octagon;
pub mod pointsto;
mod queries;
pub mod ranges;
pub mod reaches;
mod scc;
pub mod set;
mod stats;
mod summaries;
pub mod users;
pub mod wraps;

pub use callgraph::{Call, CallGraph, CallKind};
pub use cfg::{Cfg, ControlEdge, Loop, LoopId, NoReturn};
pub use checks::{Check, CheckKind, Checks, Proved, Stage};
pub use effects::{CellEffects, EffectContext, Effects};
pub use loops::{FunctionLoops, Induction, LoopFacts, TripCount};
pub use memory::{FunctionMemory, MemoryTrace, Version};
pub use pointsto::{Cell, CellId, Object, ObjectId, ObjectKind, PointsTo};
pub use ranges::{Interval, Nullness, Ranges};
pub use set::SparseSet;
pub use stats::Stats;
pub use summaries::{Summaries, Summary};

use program::{Function, FunctionId, Program};
use rayon::prelude::*;

use crate::pointsto::{Types, Wrappers};
use crate::users::Users;

/// What to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Memory SSA for the loads of every function. Default: on.
    pub memory: bool,
    /// Value ranges. Default: on.
    pub ranges: bool,
    /// Functions that code outside the program calls although the program does, too.
    pub entries: Vec<FunctionId>,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: true, ranges: true, entries: Vec::new() }
    }
}

/// Everything known about a program; see the modules for each part.
///
/// Per-function vectors are indexed by `FunctionId`; functions without body have `None`.
#[derive(Clone, Debug)]
pub struct Facts {
    pub cfgs: Vec<Option<Cfg>>,
    pub users: Vec<Users>,
    pub loops: Vec<FunctionLoops>,
    pub no_return: NoReturn,
    pub pointers: PointsTo,
    pub calls: CallGraph,
    pub effects: Effects,
    pub memory: Vec<FunctionMemory>,
    pub ranges: Ranges,
    pub summaries: Summaries,
}

impl Facts {
    pub fn compute(program: &Program, options: &Options) -> Facts {
        let no_return = NoReturn::compute(program);
        let functions = program.functions.as_slice();
        let local: Vec<_> = functions
            .par_iter()
            .map(|function| local_facts(program, function, &no_return))
            .collect();
        let mut cfgs = Vec::with_capacity(local.len());
        let mut users = Vec::with_capacity(local.len());
        let mut loops = Vec::with_capacity(local.len());
        for (cfg, function_users, function_loops) in local {
            cfgs.push(cfg);
            users.push(function_users);
            loops.push(function_loops);
        }
        let canonical = pointsto::canonical_functions(program);
        let direct = pointsto::direct_calls(program, &canonical);
        let order = scc::components(functions.len(), |id| direct.row(id as usize).to_vec());
        let wrappers = Wrappers::compute(program, &canonical, &order, &cfgs, &users);
        let pointers =
            pointsto::compute(program, &canonical, &direct, &wrappers, &users, &options.entries);
        let calls = CallGraph::new(program, &canonical, &pointers);
        let types = Types::new(program);
        let context = EffectContext { program, pointers: &pointers, calls: &calls, types: &types };
        let effects = Effects::compute(&context, &cfgs);
        let memory = if options.memory {
            function_memory(&context, &effects, &cfgs)
        } else {
            vec![FunctionMemory::default(); functions.len()]
        };
        let ranges = if options.ranges {
            Ranges::compute(&context, &effects, &cfgs, &users)
        } else {
            Ranges::none(functions.len())
        };
        let summaries =
            Summaries::compute(&context, &effects, &wrappers, &no_return, &cfgs, &users);
        Facts { cfgs, users, loops, no_return, pointers, calls, effects, memory, ranges, summaries }
    }
}

fn local_facts(
    program: &Program,
    function: &Function,
    no_return: &NoReturn,
) -> (Option<Cfg>, Users, FunctionLoops) {
    let Some(body) = &function.body else {
        return (None, Users::default(), FunctionLoops::default());
    };
    let cfg = Cfg::new(body, |inst| no_return.ends_flow(&body.insts[inst]));
    let users = Users::new(body, function.params.len());
    let loops = FunctionLoops::new(body, &cfg, &program.constants);
    (Some(cfg), users, loops)
}

fn function_memory(
    context: &EffectContext,
    effects: &Effects,
    cfgs: &[Option<Cfg>],
) -> Vec<FunctionMemory> {
    let ids: Vec<_> = context.program.functions.ids().collect();
    ids.into_par_iter()
        .map(|id| match (&context.program.functions[id].body, &cfgs[id.0 as usize]) {
            (Some(body), Some(cfg)) => FunctionMemory::new(context, effects, id, body, cfg),
            _ => FunctionMemory::default(),
        })
        .collect()
}

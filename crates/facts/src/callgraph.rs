//! Who calls whom: direct calls, calls through pointers with their possible targets, and
//! callbacks made by library functions.

use program::{Callee, FunctionId, InstId, Op, Program};

use crate::csr::Csr;
use crate::pointsto::PointsTo;

/// How a call names its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    Direct,
    Pointer,
    /// The instruction calls a library function, which calls the targets.
    Callback,
    /// Likewise, in a thread of their own.
    Thread,
}

/// A call instruction and where it may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub inst: InstId,
    pub kind: CallKind,
    /// May go to code outside the program that no model describes.
    pub is_open: bool,
    row: u32,
}

/// The call graph of a program.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// Sorted by instruction; one with callbacks stands more than once.
    calls: Vec<Vec<Call>>,
    targets: Csr<FunctionId>,
    callers: Csr<(FunctionId, InstId)>,
    /// Cycles of functions that call each other, callees before callers.
    components: Vec<Vec<FunctionId>>,
    component_of: Vec<u32>,
    recursive: Vec<bool>,
    entries: Vec<FunctionId>,
    thread_entries: Vec<FunctionId>,
    canonical: Vec<FunctionId>,
    has_outside_callers: Vec<bool>,
}

impl CallGraph {
    pub(crate) fn new(program: &Program, canonical: &[FunctionId], pointers: &PointsTo) -> Self {
        let mut graph = CallGraph { canonical: canonical.to_vec(), ..Self::default() };
        graph.collect_calls(program, pointers);
        let n = program.functions.len();
        let mut pairs = Vec::new();
        for (caller, calls) in graph.calls.iter().enumerate() {
            for call in calls {
                let site = (FunctionId(caller as u32), call.inst);
                pairs.extend(graph.targets(call).iter().map(|target| (target.0, site)));
            }
        }
        graph.callers = Csr::from_pairs(n, &pairs);
        let callees = |id: u32| graph.callees(FunctionId(id)).iter().map(|f| f.0).collect();
        let components = crate::scc::components(n, callees);
        graph.component_of = vec![0; n];
        graph.recursive = vec![false; n];
        for (index, component) in components.iter().enumerate() {
            for &id in component {
                graph.component_of[id as usize] = index as u32;
                let calls_itself =
                    || graph.callees(FunctionId(id)).binary_search(&FunctionId(id)).is_ok();
                graph.recursive[id as usize] = component.len() > 1 || calls_itself();
            }
        }
        let to_ids = |component: Vec<u32>| component.into_iter().map(FunctionId).collect();
        graph.components = components.into_iter().map(to_ids).collect();
        graph.find_entries(program, pointers);
        graph
    }

    fn collect_calls(&mut self, program: &Program, pointers: &PointsTo) {
        let mut sites: Vec<Vec<&crate::pointsto::CallSite>> =
            vec![Vec::new(); program.functions.len()];
        for site in &pointers.sites {
            sites[site.caller.0 as usize].push(site);
        }
        for (id, function) in program.functions.iter_enumerated() {
            let mut calls = Vec::new();
            for (inst, op) in function.body.iter().flat_map(|body| body.insts.iter_enumerated()) {
                if let Op::Call(call) = &op.op
                    && let Callee::Function(target) = call.callee
                {
                    let target = self.canonical[target.0 as usize];
                    let called = &program.functions[target];
                    let is_open =
                        called.body.is_none() && crate::externals::lookup(&called.name).is_none();
                    let row = self.targets.len() as u32;
                    self.targets.push_row([target]);
                    calls.push(Call { inst, kind: CallKind::Direct, is_open, row });
                }
            }
            for site in &sites[id.0 as usize] {
                let kind = match (site.is_callback, site.is_thread) {
                    (false, _) => CallKind::Pointer,
                    (true, false) => CallKind::Callback,
                    (true, true) => CallKind::Thread,
                };
                let row = self.targets.len() as u32;
                self.targets.push_row(site.targets.iter().copied());
                calls.push(Call { inst: site.inst, kind, is_open: site.is_open, row });
            }
            calls.sort_by_key(|call| (call.inst, call.kind));
            self.calls.push(calls);
        }
    }

    fn find_entries(&mut self, program: &Program, pointers: &PointsTo) {
        self.has_outside_callers = pointers.entered.clone();
        for (id, function) in program.functions.iter_enumerated() {
            let starts = &*function.name == "main"
                || function.is_constructor
                || function.is_destructor
                || pointers.entered[id.0 as usize];
            if function.body.is_some() && starts {
                self.entries.push(id);
                self.has_outside_callers[id.0 as usize] = true;
            }
        }
        for calls in &self.calls {
            for call in calls.iter().filter(|call| call.kind == CallKind::Thread) {
                self.thread_entries.extend(self.targets.row(call.row as usize));
            }
        }
        self.thread_entries.sort_unstable();
        self.thread_entries.dedup();
    }

    /// The calls a function makes, by instruction; intrinsics are left out.
    pub fn calls(&self, function: FunctionId) -> &[Call] {
        &self.calls[function.0 as usize]
    }

    /// What a call instruction does: its own call first, then callbacks.
    pub fn calls_at(&self, function: FunctionId, inst: InstId) -> &[Call] {
        let calls = self.calls(function);
        let start = calls.partition_point(|call| call.inst < inst);
        let end = start + calls[start..].partition_point(|call| call.inst == inst);
        &calls[start..end]
    }

    /// Where a call may lead within the program and to known external functions; sorted.
    pub fn targets(&self, call: &Call) -> &[FunctionId] {
        self.targets.row(call.row as usize)
    }

    /// Everything a function calls, sorted.
    pub fn callees(&self, function: FunctionId) -> Vec<FunctionId> {
        let calls = self.calls(function).iter();
        let mut callees: Vec<FunctionId> =
            calls.flat_map(|call| self.targets(call)).copied().collect();
        callees.sort_unstable();
        callees.dedup();
        callees
    }

    /// Call sites that may lead to a function.
    pub fn callers(&self, function: FunctionId) -> &[(FunctionId, InstId)] {
        self.callers.row(function.0 as usize)
    }

    /// Whether `callers` lists every call there can be.
    pub fn all_callers_known(&self, function: FunctionId) -> bool {
        !self.has_outside_callers[function.0 as usize] && !self.callers(function).is_empty()
    }

    /// Cycles of functions that call each other, callees before callers.
    pub fn bottom_up(&self) -> &[Vec<FunctionId>] {
        &self.components
    }

    /// The cycle a function belongs to, as an index of [`bottom_up`](Self::bottom_up).
    pub fn component(&self, function: FunctionId) -> usize {
        self.component_of[function.0 as usize] as usize
    }

    pub fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive[function.0 as usize]
    }

    /// `main`, constructors, and functions that code outside the program may call.
    pub fn entries(&self) -> &[FunctionId] {
        &self.entries
    }

    pub fn thread_entries(&self) -> &[FunctionId] {
        &self.thread_entries
    }

    /// The definition that calls of this function lead to.
    pub fn canonical(&self, function: FunctionId) -> FunctionId {
        self.canonical[function.0 as usize]
    }

    /// Components in groups that do not call each other, callees' groups first: what can
    /// be worked on at the same time.
    pub fn levels(&self) -> Vec<Vec<u32>> {
        let mut level_of = vec![0usize; self.components.len()];
        let mut levels: Vec<Vec<u32>> = Vec::new();
        for (index, component) in self.components.iter().enumerate() {
            let below = component
                .iter()
                .flat_map(|&function| self.callees(function))
                .map(|callee| self.component(callee))
                .filter(|&callee| callee != index)
                .map(|callee| level_of[callee] + 1)
                .max()
                .unwrap_or(0);
            level_of[index] = below;
            if levels.len() <= below {
                levels.resize(below + 1, Vec::new());
            }
            levels[below].push(index as u32);
        }
        levels
    }
}

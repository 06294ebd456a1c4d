//! Allocator wrappers: functions that return memory they just allocated and keep no
//! pointer to it. Their callers see an object of their own, or a program that allocates
//! through one function would have one heap object.

use program::{Body, Callee, Const, FunctionId, InstId, Op, Operand, Program, Terminator, Ty};
use rustc_hash::FxHashSet;

use crate::cfg::Cfg;
use crate::csr::Csr;
use crate::externals;
use crate::users::Users;

/// For each wrapper, the calls inside it whose memory it returns.
#[derive(Clone, Debug, Default)]
pub struct Wrappers {
    allocations: Vec<Vec<InstId>>,
    /// Parameters a function may store away, as a bit mask of the first 64.
    keeps: Vec<u64>,
}

impl Wrappers {
    pub fn compute(
        program: &Program,
        canonical: &[FunctionId],
        order: &[Vec<u32>],
        cfgs: &[Option<Cfg>],
        users: &[Users],
    ) -> Self {
        let n = program.functions.len();
        let mut wrappers = Self { allocations: vec![Vec::new(); n], keeps: vec![u64::MAX; n] };
        let infer = Infer { program, canonical };
        // Callees first; members of a cycle are taken to keep everything.
        for component in order {
            for &id in component {
                let function = FunctionId(id);
                let Some(body) = &program.functions[function].body else {
                    let name = &program.functions[function].name;
                    wrappers.keeps[id as usize] = external_keeps(name);
                    continue;
                };
                let users = &users[id as usize];
                let keeps = infer.kept_params(&wrappers, function, body, users);
                let allocations = cfgs[id as usize]
                    .as_ref()
                    .map(|cfg| infer.returned_allocations(&wrappers, function, body, cfg, users));
                wrappers.keeps[id as usize] = keeps;
                wrappers.allocations[id as usize] = allocations.unwrap_or_default();
            }
        }
        wrappers
    }

    pub fn is_wrapper(&self, function: FunctionId) -> bool {
        !self.allocations[function.0 as usize].is_empty()
    }

    /// The calls inside a wrapper whose memory it returns.
    pub fn allocations(&self, function: FunctionId) -> &[InstId] {
        &self.allocations[function.0 as usize]
    }

    pub fn is_allocation(&self, function: FunctionId, inst: InstId) -> bool {
        self.allocations(function).contains(&inst)
    }

    /// Whether a function may store the pointer it gets as this argument where it
    /// outlives the call, or return it.
    pub fn keeps(&self, function: FunctionId, param: usize) -> bool {
        param >= 64 || self.keeps[function.0 as usize] >> param & 1 == 1
    }
}

fn external_keeps(name: &str) -> u64 {
    let Some(external) = externals::lookup(name) else { return u64::MAX };
    let mut mask = 0u64;
    let kept = external.keeps.iter().chain(external.stores.iter().map(|(_, value)| value));
    for &index in kept.chain(external.callbacks.iter().flat_map(|callback| &callback.passes)) {
        mask |= 1 << index;
    }
    match external.returned {
        externals::Returned::Argument(index) | externals::Returned::Within(index) => {
            mask | 1 << index
        }
        _ => mask,
    }
}

struct Infer<'a> {
    program: &'a Program,
    canonical: &'a [FunctionId],
}

impl Infer<'_> {
    fn kept_params(
        &self,
        known: &Wrappers,
        function: FunctionId,
        body: &Body,
        users: &Users,
    ) -> u64 {
        let params = &self.program.functions[function].params;
        let mut mask = 0;
        for (index, param) in params.iter().enumerate().take(64) {
            if param.ty == Ty::Ptr
                && self.is_kept(known, body, users, Operand::Param(index as u32), true)
            {
                mask |= 1 << index;
            }
        }
        mask
    }

    /// Whether a pointer, or one derived from it, is stored, converted or handed to
    /// somebody who keeps it. Returning counts where `or_returned`.
    fn is_kept(
        &self,
        known: &Wrappers,
        body: &Body,
        users: &Users,
        pointer: Operand,
        or_returned: bool,
    ) -> bool {
        let mut seen: FxHashSet<InstId> = FxHashSet::default();
        let mut work: Vec<(Operand, InstId)> =
            users.of(pointer).iter().map(|&user| (pointer, user)).collect();
        if or_returned && users.returns(pointer) {
            return true;
        }
        while let Some((value, user)) = work.pop() {
            let is_value = |operand: Operand| operand == value;
            let passes_on = match &body.insts[user].op {
                Op::Load(_)
                | Op::Compare { .. }
                | Op::MemSet { .. }
                | Op::UninitMemory { .. }
                | Op::Bind { .. } => false,
                Op::MemCopy { .. } => false,
                Op::Store { value: stored, .. } => {
                    if is_value(*stored) {
                        return true;
                    }
                    false
                }
                Op::Phi(_) | Op::Select { .. } | Op::Address(_) => true,
                Op::Convert(_) => body.insts[user].ty == Ty::Ptr,
                Op::Call(call) => {
                    let Callee::Function(callee) = call.callee else { return true };
                    let callee = self.canonical[callee.0 as usize];
                    let mut args = call.args.iter().enumerate();
                    if args.any(|(at, arg)| is_value(*arg) && known.keeps(callee, at)) {
                        return true;
                    }
                    false
                }
                _ => return true,
            };
            if passes_on && seen.insert(user) {
                let derived = Operand::Inst(user);
                if or_returned && users.returns(derived) {
                    return true;
                }
                work.extend(users.of_inst(user).iter().map(|&next| (derived, next)));
            }
        }
        false
    }

    /// Calls whose fresh memory this function returns, if it keeps none of it.
    fn returned_allocations(
        &self,
        known: &Wrappers,
        function: FunctionId,
        body: &Body,
        cfg: &Cfg,
        users: &Users,
    ) -> Vec<InstId> {
        if self.program.functions[function].result != Ty::Ptr {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut seen: FxHashSet<InstId> = FxHashSet::default();
        let mut work: Vec<Operand> = cfg
            .returns()
            .iter()
            .filter_map(|&block| match body.blocks[block].terminator {
                Terminator::Return(value) => value,
                _ => None,
            })
            .collect();
        while let Some(operand) = work.pop() {
            let Operand::Inst(inst) = operand else { continue };
            if !seen.insert(inst) {
                continue;
            }
            match &body.insts[inst].op {
                Op::Phi(operands) => work.extend(operands.iter().map(|(_, operand)| *operand)),
                Op::Select { then, otherwise, .. } => work.extend([*then, *otherwise]),
                Op::Convert(conversion) => work.push(conversion.value),
                Op::Call(call) => {
                    if let Callee::Function(callee) = call.callee
                        && self.is_allocator(known, self.canonical[callee.0 as usize])
                    {
                        found.push(inst);
                    }
                }
                _ => {}
            }
        }
        found.sort_unstable();
        let kept = |inst: &InstId| self.is_kept(known, body, users, Operand::Inst(*inst), false);
        if found.iter().any(kept) { Vec::new() } else { found }
    }

    fn is_allocator(&self, known: &Wrappers, function: FunctionId) -> bool {
        let callee = &self.program.functions[function];
        match callee.body {
            Some(_) => known.is_wrapper(function),
            None => externals::lookup(&callee.name).is_some_and(|external| external.is_allocator),
        }
    }
}

/// Functions called directly, by their canonical ids.
pub(crate) fn direct_calls(program: &Program, canonical: &[FunctionId]) -> Csr<u32> {
    Csr::from_rows(program.functions.iter().map(|function| {
        let mut callees: Vec<u32> = Vec::new();
        for inst in function.body.iter().flat_map(|body| &body.insts) {
            if let Op::Call(call) = &inst.op
                && let Callee::Function(callee) = call.callee
            {
                callees.push(canonical[callee.0 as usize].0);
            }
        }
        callees.sort_unstable();
        callees.dedup();
        callees
    }))
}

/// Where calls of each function really go: an alias leads to the function it stands for,
/// a declaration to the definition the linker would choose.
pub(crate) fn canonical_functions(program: &Program) -> Vec<FunctionId> {
    let mut by_name = rustc_hash::FxHashMap::default();
    for (id, function) in program.functions.iter_enumerated() {
        if function.body.is_some() && function.linkage != program::Linkage::Internal {
            by_name.entry(&function.name[..]).or_insert(id);
        }
    }
    let resolve = |id: FunctionId| {
        let function = &program.functions[id];
        if function.body.is_some() {
            return id;
        }
        let target = function.alias_of.as_deref().unwrap_or(&function.name);
        by_name.get(target).copied().unwrap_or(id)
    };
    program.functions.ids().map(resolve).collect()
}

/// Functions whose address is used as a value anywhere in the program, sorted.
pub(crate) fn address_taken(program: &Program) -> Vec<FunctionId> {
    let mut taken: Vec<FunctionId> = program
        .constants
        .iter()
        .filter_map(|constant| match constant {
            Const::Function(function) => Some(*function),
            _ => None,
        })
        .collect();
    taken.sort_unstable();
    taken.dedup();
    taken
}

//! Values that may never have been set, as far as assignments tell.

use std::sync::OnceLock;

use facts::Facts;
use facts::memory::Version;
use facts::pointsto::ObjectKind;
use program::{Body, Callee, FunctionId, InstId, Op, Operand, Terminator};
use rustc_hash::FxHashSet;

use crate::code::Code;
use crate::observer::SMALL_DEPTH;

pub struct Unset<'a, 'p> {
    code: &'a Code<'p>,
    facts: &'a Facts,
    /// Functions that may return a value never set.
    returning: Vec<bool>,
    /// For each function those whose code its paths pass, once somebody has asked.
    near: Vec<OnceLock<Members>>,
}

/// A set of functions, one bit for each.
type Members = Vec<u64>;

/// Values one question may go through.
const MAX_VALUES: usize = 64;

impl<'a, 'p> Unset<'a, 'p> {
    pub fn new(code: &'a Code<'p>, facts: &'a Facts) -> Self {
        let n = code.program.functions.len();
        let near = (0..n).map(|_| OnceLock::new()).collect();
        let mut unset = Self { code, facts, returning: vec![false; n], near };
        for component in facts.calls.bottom_up() {
            // Within a cycle nothing is known yet of the others.
            if let [_, _, ..] = component.as_slice() {
                for function in component {
                    unset.returning[function.0 as usize] = true;
                }
            }
            for function in component {
                unset.returning[function.0 as usize] = unset.returns_unset(*function);
            }
        }
        unset
    }

    fn returns_unset(&self, function: FunctionId) -> bool {
        let Some(body) = &self.code.program.functions[function].body else { return false };
        body.blocks.iter().any(|block| match block.terminator {
            Terminator::Return(Some(value)) => self.may_be(function, value),
            _ => false,
        })
    }

    /// Whether a value of a function may be one that was never set. False is certain.
    pub fn may_be(&self, function: FunctionId, operand: Operand) -> bool {
        let Some(body) = &self.code.program.functions[function].body else { return true };
        let mut tracing = Tracing {
            unset: self,
            function,
            body,
            seen: FxHashSet::default(),
            versions: FxHashSet::default(),
        };
        tracing.value(operand)
    }

    /// Whether a path of a function passes the code of another: what that made is then seen
    /// as it left it.
    fn is_near(&self, function: FunctionId, other: FunctionId) -> bool {
        let near = self.near[function.0 as usize].get_or_init(|| self.members_near(function));
        near[other.0 as usize / 64] & 1 << (other.0 % 64) != 0
    }

    fn members_near(&self, function: FunctionId) -> Members {
        let mut members = vec![0; self.near.len().div_ceil(64)];
        let mut add = |function: &FunctionId| {
            let (word, bit) = (function.0 as usize / 64, 1 << (function.0 % 64));
            let is_new = members[word] & bit == 0;
            members[word] |= bit;
            is_new
        };
        add(&function);
        let mut newest = vec![function];
        for _ in 0..=SMALL_DEPTH {
            let callees = newest.iter().flat_map(|f| self.facts.calls.callees(*f));
            newest = callees.filter(|callee| add(callee)).collect();
        }
        members
    }
}

struct Tracing<'u, 'a, 'p> {
    unset: &'u Unset<'a, 'p>,
    function: FunctionId,
    body: &'p Body,
    seen: FxHashSet<InstId>,
    versions: FxHashSet<(u32, u32)>,
}

impl Tracing<'_, '_, '_> {
    fn value(&mut self, operand: Operand) -> bool {
        let Operand::Inst(inst) = operand else { return false };
        if !self.seen.insert(inst) {
            return false;
        }
        if self.seen.len() + self.versions.len() > MAX_VALUES {
            return true;
        }
        match &self.body.insts[inst].op {
            Op::Uninit { .. } => true,
            Op::Load(_) => self.load(inst),
            Op::AtomicUpdate { .. } | Op::CompareExchange { .. } => true,
            Op::Phi(edges) => edges.iter().any(|(_, value)| self.value(*value)),
            Op::Select { then, otherwise, .. } => self.value(*then) || self.value(*otherwise),
            Op::Convert(conversion) => self.value(conversion.value),
            Op::Extract { aggregate, .. } => self.value(*aggregate),
            Op::Call(call) => match call.callee {
                Callee::Function(function) => {
                    let function = self.unset.facts.calls.canonical(function);
                    self.unset.returning[function.0 as usize]
                }
                Callee::Pointer(_) => true,
                Callee::Intrinsic(_) => false,
            },
            _ => false,
        }
    }

    fn load(&mut self, inst: InstId) -> bool {
        let Op::Load(access) = &self.body.insts[inst].op else { return true };
        let facts = self.unset.facts;
        let cells = facts.pointers.of(self.function, access.ptr);
        let mut own = false;
        for object in facts.pointers.objects_in(cells) {
            match facts.pointers.objects[object].kind {
                ObjectKind::Local { function, .. } | ObjectKind::Heap { function, .. } => {
                    own |= self.unset.is_near(self.function, function);
                }
                _ => {}
            }
        }
        if !own {
            return false;
        }
        let memory = &facts.memory[self.function.0 as usize];
        let Some(reaching) = memory.reaching(inst) else { return true };
        self.version(reaching.group, reaching.version)
    }

    fn version(&mut self, group: u32, version: u32) -> bool {
        if !self.versions.insert((group, version)) {
            return false;
        }
        if self.seen.len() + self.versions.len() > MAX_VALUES {
            return true;
        }
        let memory = &self.unset.facts.memory[self.function.0 as usize];
        match &memory.groups[group as usize].versions[version as usize] {
            // Memory of this function is unset when it starts; memory of callees does not
            // exist yet.
            Version::Entry => true,
            Version::Write { inst, previous, is_certain } => {
                let unsets = match &self.body.insts[*inst].op {
                    Op::Store { value, .. } => self.value(*value),
                    Op::MemSet { .. } => false,
                    _ => true,
                };
                unsets || (!is_certain && self.version(group, *previous))
            }
            Version::Merge { operands, .. } => {
                operands.iter().any(|(_, version)| self.version(group, *version))
            }
        }
    }
}

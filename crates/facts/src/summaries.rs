//! What a caller wants to know about a function in one line each.

use base::IdVec;
use program::{Body, Callee, Const, ConstId, FunctionId, InstId, Op, Operand, Terminator, Ty};

use crate::cfg::{Cfg, NoReturn};
use crate::effects::{EffectContext, EffectKind, Effects, Origin, Origins};
use crate::externals;
use crate::pointsto::Wrappers;
use crate::set::SparseSet;
use crate::users::Users;

/// Facts about one function; parameters beyond the 64th are not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Control never comes back.
    pub never_returns: bool,
    /// Parameters whose target may be freed.
    pub frees: Vec<u32>,
    /// Parameters that may be stored where they outlive the call, or handed to code that
    /// may do so; returning one counts.
    pub keeps: Vec<u32>,
    /// Parameters that may be returned, themselves or with an offset.
    pub returns_param: Vec<u32>,
    /// Parameters dereferenced on every path that returns.
    pub always_dereferences: Vec<u32>,
    /// May return memory allocated during the call that nobody else points to.
    pub returns_fresh: bool,
    /// All values it returns, if these are a few constants (as signed numbers), sorted.
    pub returns_constants: Option<Vec<i64>>,
}

/// Summaries of all functions.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    functions: IdVec<FunctionId, Summary>,
}

const MAX_CONSTANTS: usize = 16;

impl Summaries {
    pub fn of(&self, function: FunctionId) -> &Summary {
        &self.functions[function]
    }

    pub(crate) fn compute(
        context: &EffectContext,
        effects: &Effects,
        wrappers: &Wrappers,
        no_return: &NoReturn,
        cfgs: &[Option<Cfg>],
        users: &[Users],
    ) -> Self {
        let n = context.program.functions.len();
        let mut summaries = Self { functions: IdVec::filled(Summary::default(), n) };
        for &function in context.calls.bottom_up().iter().flatten() {
            let called = &context.program.functions[function];
            let mut summary = Summary {
                never_returns: no_return.function(function),
                frees: freed_params(context, effects, function),
                ..Summary::default()
            };
            let pointer_params = called.params.iter().enumerate().filter(|(_, p)| p.ty == Ty::Ptr);
            summary.keeps = pointer_params
                .filter(|(index, _)| wrappers.keeps(function, *index))
                .map(|(index, _)| index as u32)
                .collect();
            match (&called.body, &cfgs[function.0 as usize]) {
                (Some(body), Some(cfg)) => {
                    let users = &users[function.0 as usize];
                    let view = View { context, summaries: &summaries, function, body, cfg, users };
                    view.fill(wrappers, &mut summary);
                }
                _ => fill_external(&called.name, &mut summary),
            }
            summaries.functions[function] = summary;
        }
        summaries
    }
}

fn freed_params(context: &EffectContext, effects: &Effects, function: FunctionId) -> Vec<u32> {
    let through = effects.through_params(function).iter();
    let mut frees: Vec<u32> =
        through.filter(|e| e.kind == EffectKind::Free).map(|e| e.param).collect();
    // In recursion effects are told as cells: compare with what parameters point to.
    let freed = &effects.of_function(function).frees;
    if context.calls.is_recursive(function) && !freed.is_empty() {
        for index in 0..context.program.functions[function].params.len() as u32 {
            let cells = context.pointers.of(function, Operand::Param(index));
            let objects: SparseSet =
                context.pointers.objects_in(cells).into_iter().map(|object| object.0).collect();
            if objects.intersects(freed) {
                frees.push(index);
            }
        }
    }
    frees.sort_unstable();
    frees.dedup();
    frees
}

fn fill_external(name: &str, summary: &mut Summary) {
    let Some(model) = externals::lookup(name) else { return };
    summary.returns_fresh = model.returned == externals::Returned::Fresh;
    if let externals::Returned::Argument(index) | externals::Returned::Within(index) =
        model.returned
    {
        summary.returns_param.push(index.into());
    }
    let touched = model.reads.iter().chain(&model.writes);
    let touched = touched.chain(model.copies.iter().map(|(_, from)| from));
    summary.always_dereferences = touched.map(|&index| index.into()).collect();
    summary.always_dereferences.sort_unstable();
    summary.always_dereferences.dedup();
}

struct View<'a> {
    context: &'a EffectContext<'a>,
    summaries: &'a Summaries,
    function: FunctionId,
    body: &'a Body,
    cfg: &'a Cfg,
    users: &'a Users,
}

impl View<'_> {
    fn fill(&self, wrappers: &Wrappers, summary: &mut Summary) {
        let program = self.context.program;
        let params = &program.functions[self.function].params;
        summary.returns_fresh = wrappers.is_wrapper(self.function);
        let origins = Origins::new(program, self.body, params, self.cfg);
        let returned = self.returned_values();
        for &value in &returned {
            if let Origin::Param { index, .. } = origins.of(value) {
                summary.returns_param.push(index);
            }
        }
        summary.returns_param.sort_unstable();
        summary.returns_param.dedup();
        summary.returns_constants = self.constants(&returned);
        summary.always_dereferences = (0..params.len().min(64) as u32)
            .filter(|&index| params[index as usize].ty == Ty::Ptr && self.always_derefs(index))
            .collect();
    }

    /// The values returned, phis and selections taken apart.
    fn returned_values(&self) -> Vec<Operand> {
        let mut seen = vec![false; self.body.insts.len()];
        let mut values = Vec::new();
        let mut work: Vec<Operand> = self
            .cfg
            .returns()
            .iter()
            .filter_map(|&block| match self.body.blocks[block].terminator {
                Terminator::Return(value) => value,
                _ => None,
            })
            .collect();
        while let Some(value) = work.pop() {
            match value {
                Operand::Inst(inst) => {
                    if std::mem::replace(&mut seen[inst.0 as usize], true) {
                        continue;
                    }
                    match &self.body.insts[inst].op {
                        Op::Phi(operands) => work.extend(operands.iter().map(|(_, v)| *v)),
                        Op::Select { then, otherwise, .. } => work.extend([*then, *otherwise]),
                        _ => values.push(value),
                    }
                }
                _ => values.push(value),
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    fn constants(&self, returned: &[Operand]) -> Option<Vec<i64>> {
        if returned.is_empty() || returned.len() > MAX_CONSTANTS {
            return None;
        }
        let mut constants = Vec::new();
        for value in returned {
            match *value {
                Operand::Const(id) => constants.push(self.constant(id)?),
                Operand::Inst(inst) => constants.extend(self.callee_constants(inst)?),
                Operand::Param(_) => return None,
            }
        }
        constants.sort_unstable();
        constants.dedup();
        (constants.len() <= MAX_CONSTANTS).then_some(constants)
    }

    fn constant(&self, id: ConstId) -> Option<i64> {
        match self.context.program.constants.get(id)? {
            Const::Int { value, .. } => i64::try_from(*value).ok(),
            Const::Null | Const::Zero(Ty::Int(_) | Ty::Ptr) => Some(0),
            _ => None,
        }
    }

    /// `return f();` returns what `f` returns.
    fn callee_constants(&self, inst: InstId) -> Option<Vec<i64>> {
        let Op::Call(call) = &self.body.insts[inst].op else { return None };
        let Callee::Function(callee) = call.callee else { return None };
        let callee = self.context.calls.canonical(callee);
        self.summaries.of(callee).returns_constants.clone()
    }

    /// Whether an access through the parameter lies on every path to a return.
    fn always_derefs(&self, index: u32) -> bool {
        let returns = self.cfg.returns();
        if returns.is_empty() {
            return false;
        }
        let on_every_path = |inst: InstId| {
            let block = self.body.insts[inst].block;
            self.cfg.is_reachable(block)
                && returns.iter().all(|&exit| self.cfg.dominates(block, exit))
        };
        let mut work = vec![Operand::Param(index)];
        while let Some(pointer) = work.pop() {
            for &user in self.users.of(pointer) {
                if self.derefs(user, pointer) && on_every_path(user) {
                    return true;
                }
                if let Op::Address(address) = &self.body.insts[user].op
                    && address.base == pointer
                {
                    work.push(Operand::Inst(user));
                }
            }
        }
        false
    }

    fn derefs(&self, user: InstId, pointer: Operand) -> bool {
        match &self.body.insts[user].op {
            Op::Load(access) => access.ptr == pointer,
            Op::Store { access, .. }
            | Op::AtomicUpdate { access, .. }
            | Op::CompareExchange { access, .. } => access.ptr == pointer,
            Op::Call(call) => {
                let Callee::Function(callee) = call.callee else { return false };
                let callee = self.context.calls.canonical(callee);
                let known = &self.summaries.of(callee).always_dereferences;
                let mut args = call.args.iter().enumerate();
                args.any(|(at, arg)| *arg == pointer && known.contains(&(at as u32)))
            }
            _ => false,
        }
    }
}

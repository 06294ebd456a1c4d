//! The search over paths of one outermost function: runs states, forks them at branches,
//! enters calls, and asks the observer at every instruction.

mod rounds;
mod start;

use std::rc::Rc;

use logic::{Comparison, FormulaId, TermId, Terms};
use program::{
    BlockId, Body, Call, Callee, FunctionId, InstId, LocId, Op, Operand, Terminator, Ty,
};
use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::entry::Input;
use crate::machine::arith::Arith;
use crate::machine::exec::Exec;
use crate::machine::state::{Answered, Phase};
use crate::machine::trail::What;
use crate::machine::{Context, Feasible, Frame, State, SymbolKind, Value};

use self::rounds::FirstRound;

/// What a search is for. Called at every instruction of every path, in execution order.
pub trait Observer<'p> {
    /// Before the instruction runs.
    fn observe(&mut self, context: &mut Context<'p>, state: &mut State, inst: InstId);

    /// Answers a call with a model: its result is set in `state`, other ways it can go are
    /// added to `forks`. False where there is no model.
    fn model(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) -> bool;

    /// Before control leaves the block it is in.
    fn ends(&mut self, _context: &mut Context<'p>, _state: &mut State) {}

    /// Control has left its block for `target`, or for the caller where there is none.
    fn passes(
        &mut self,
        _context: &mut Context<'p>,
        _state: &mut State,
        _target: Option<BlockId>,
        _forks: &mut Vec<State>,
    ) {
    }

    /// After an instruction that is not a call ran.
    fn after(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    );

    /// Whether a call of this function is worth following in this state.
    fn enters(&mut self, state: &State, callee: FunctionId) -> bool;

    /// A function of the path returns; its locals are still there.
    fn returns(&mut self, context: &mut Context<'p>, state: &mut State, loc: LocId);

    /// Whether anything is wanted of a path that comes to this block of the outermost
    /// function.
    fn wants(&self, block: BlockId) -> bool;

    /// Nothing more is wanted.
    fn is_done(&self) -> bool;
}

/// Added to the depth of calls in paths on which a fault has happened.
const AFTER_A_FAULT: u32 = 1 << 16;

/// Bounds of one search, in work and never in time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions run over all paths.
    pub instructions: u64,
    /// States that may wait at once.
    pub waiting: usize,
    /// Calls nested below the outermost function.
    pub depth: usize,
    /// Loops of at most so many iterations are run one by one.
    pub unroll: u32,
    /// Iterations of other loops that are run exactly before the rest is taken as a whole.
    pub exact: u32,
    /// Paths that may pass a block: keeps the work linear in the size of the code.
    pub visits: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instructions: 20_000, waiting: 256, depth: 8, unroll: 6, exact: 1, visits: 12 }
    }
}

/// Why a search did not see all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cutoff {
    Budget,
    Depth,
    LongLoop,
    ComputedGoto,
}

pub struct Search<'a, 'p> {
    pub context: Context<'p>,
    pub code: &'a Code<'p>,
    pub limits: Limits,
    waiting: Vec<State>,
    pub n_instructions: u64,
    /// The first reason why paths were left out, and where.
    pub cutoff: Option<(Cutoff, LocId)>,
    /// How often paths were left out.
    n_cuts: u32,
    /// Loops entered, by the state that entered: whether its first iteration came to an end.
    first_rounds: Vec<FirstRound>,
    /// How often paths passed a block, by depth of the call.
    visits: FxHashMap<(u32, FunctionId, BlockId), u32>,
}

impl<'a, 'p> Search<'a, 'p> {
    pub fn new(context: Context<'p>, code: &'a Code<'p>, limits: Limits) -> Self {
        Self {
            context,
            code,
            limits,
            waiting: Vec::new(),
            n_instructions: 0,
            cutoff: None,
            n_cuts: 0,
            first_rounds: Vec::new(),
            visits: FxHashMap::default(),
        }
    }

    /// Follows the paths from the start of `function`.
    pub fn run(&mut self, function: FunctionId, inputs: &[Input], observer: &mut dyn Observer<'p>) {
        let Some(state) = self.start(function, inputs) else { return };
        self.waiting.push(state);
        while let Some(state) = self.waiting.pop() {
            if observer.is_done() {
                return;
            }
            if self.n_instructions >= self.limits.instructions {
                let loc = self.loc_of(&state);
                self.cut(Cutoff::Budget, loc);
                return;
            }
            if self.comes_about(&state) {
                self.follow(state, observer);
            }
        }
    }

    pub(crate) fn body(&self, function: FunctionId) -> &'p Body {
        self.code.program.functions[function].body.as_ref().expect("a frame has a body")
    }

    fn loc_of(&self, state: &State) -> LocId {
        let frame = state.top();
        self.body(frame.function).blocks[frame.block].loc
    }

    fn cut(&mut self, reason: Cutoff, loc: LocId) {
        self.n_cuts += 1;
        self.cutoff.get_or_insert((reason, loc));
    }

    /// Runs a state until it ends or forks.
    fn follow(&mut self, mut state: State, observer: &mut dyn Observer<'p>) {
        loop {
            let frame = state.top();
            let body = self.body(frame.function);
            let block = &body.blocks[frame.block];
            let id = frame.next;
            if id < block.end {
                self.n_instructions += 1;
                state.n_steps += 1;
                if self.n_instructions > self.limits.instructions || observer.is_done() {
                    if !observer.is_done() {
                        self.cut(Cutoff::Budget, body.insts[id].loc);
                    }
                    return;
                }
                state.top_mut().next = InstId(id.0 + 1);
                if !self.instruction(&mut state, id, body, observer) {
                    return;
                }
                continue;
            }
            if !state.sets_the_scene() {
                observer.ends(&mut self.context, &mut state);
            }
            match &block.terminator {
                Terminator::Jump(target) => {
                    // No transition stands at a jump, so the state goes one way.
                    let mut ways = Vec::new();
                    observer.passes(&mut self.context, &mut state, Some(*target), &mut ways);
                    if !wants(observer, &state, *target) || !self.enter_block(&mut state, *target) {
                        return;
                    }
                }
                Terminator::Return(value) => {
                    let mut ways = Vec::new();
                    observer.passes(&mut self.context, &mut state, None, &mut ways);
                    for mut way in ways {
                        if self.leave_function(&mut way, *value, block.loc, observer) {
                            self.push(way);
                        }
                    }
                    if state.path.is_dead {
                        return;
                    }
                    if !self.leave_function(&mut state, *value, block.loc, observer) {
                        return;
                    }
                }
                Terminator::Unreachable => return,
                _ => return self.branch(state, body, observer),
            }
        }
    }

    /// Runs one instruction; false where the path ends at it.
    fn instruction(
        &mut self,
        state: &mut State,
        id: InstId,
        body: &'p Body,
        observer: &mut dyn Observer<'p>,
    ) -> bool {
        let inst = &body.insts[id];
        if matches!(inst.op, Op::Phi(_)) {
            return true;
        }
        observer.observe(&mut self.context, state, id);
        if state.path.is_dead {
            return false;
        }
        if let Op::Call(call) = &inst.op {
            return self.call(state, id, call, observer);
        }
        if let Some(forked) = self.fork_select(state, id, body) {
            self.push(forked);
        }
        Exec { context: &mut self.context, state }.run(id);
        let mut forks = Vec::new();
        observer.after(&mut self.context, state, id, &mut forks);
        forks.into_iter().for_each(|fork| self.push(fork));
        !state.path.is_dead
    }

    /// A select between pointers is a branch: the state takes one side, the result the other.
    fn fork_select(&mut self, state: &mut State, id: InstId, body: &'p Body) -> Option<State> {
        let inst = &body.insts[id];
        let (Op::Select { condition, .. }, Ty::Ptr) = (&inst.op, inst.ty) else { return None };
        let value = Exec { context: &mut self.context, state }.operand(*condition);
        let mut arith = Arith { context: &mut self.context, memory: &state.memory, loc: inst.loc };
        let holds = arith.truth(value);
        let fails = self.context.terms.not(holds);
        let frame = state.top().number;
        let may_hold = self.context.feasible(&state.path, &[holds]) != Feasible::No;
        let may_fail = self.context.feasible(&state.path, &[fails]) != Feasible::No;
        let other = (may_hold && may_fail).then(|| {
            let mut other = state.clone();
            other.top_mut().next = id;
            other.path.assume(fails, inst.loc, Some(frame));
            other
        });
        let taken = if may_hold { holds } else { fails };
        state.path.assume(taken, inst.loc, Some(frame));
        other
    }

    fn push(&mut self, state: State) {
        if self.waiting.len() >= self.limits.waiting {
            let loc = self.loc_of(&state);
            return self.cut(Cutoff::Budget, loc);
        }
        self.waiting.push(state);
    }

    fn branch(&mut self, mut state: State, body: &'p Body, observer: &mut dyn Observer<'p>) {
        let block = &body.blocks[state.top().block];
        let loc = block.loc;
        let targets = match &block.terminator {
            Terminator::Branch { condition, then, otherwise } => {
                let value =
                    Exec { context: &mut self.context, state: &mut state }.operand(*condition);
                let mut arith = Arith { context: &mut self.context, memory: &state.memory, loc };
                let holds = arith.truth(value);
                let fails = self.context.terms.not(holds);
                vec![(fails, *otherwise), (holds, *then)]
            }
            Terminator::Switch { value, cases, default } => {
                self.switch_targets(&mut state, *value, cases, *default)
            }
            Terminator::Indirect { targets, .. } => {
                self.cut(Cutoff::ComputedGoto, loc);
                targets.iter().map(|target| (Terms::TRUE, *target)).collect()
            }
            _ => return,
        };
        let wanted = |(_, target): &(FormulaId, BlockId)| wants(observer, &state, *target);
        let targets = targets.into_iter().filter(wanted).collect();
        self.fork(state, targets, loc, observer);
    }

    fn switch_targets(
        &mut self,
        state: &mut State,
        operand: Operand,
        cases: &[(program::ConstId, BlockId)],
        default: BlockId,
    ) -> Vec<(FormulaId, BlockId)> {
        let mut exec = Exec { context: &mut self.context, state };
        let bits = crate::machine::exec::width(exec.operand_ty(operand));
        let Value::Int(term) = exec.operand(operand) else {
            return cases
                .iter()
                .map(|(_, target)| (Terms::TRUE, *target))
                .chain([(Terms::TRUE, default)])
                .collect();
        };
        let term = self.context.wrap(term, bits, true);
        let mut by_target: Vec<(BlockId, Vec<FormulaId>)> = Vec::new();
        let mut none = Vec::new();
        for (constant, target) in cases {
            let program::Const::Int { value, .. } = self.code.program.constants[*constant] else {
                continue;
            };
            let value = self.context.constant(value);
            let equal = self.context.terms.compare(Comparison::Eq, term, value);
            none.push(self.context.terms.not(equal));
            match by_target.iter_mut().find(|(known, _)| known == target) {
                Some((_, formulas)) => formulas.push(equal),
                None => by_target.push((*target, vec![equal])),
            }
        }
        let mut targets = vec![(self.context.terms.and(&none), default)];
        for (target, formulas) in by_target {
            targets.push((self.context.terms.or(&formulas), target));
        }
        targets
    }

    /// Continues along every target whose condition the path allows. The last is followed
    /// first.
    fn fork(
        &mut self,
        state: State,
        targets: Vec<(FormulaId, BlockId)>,
        loc: LocId,
        observer: &mut dyn Observer<'p>,
    ) {
        let n_targets = targets.len();
        let mut open: Vec<(FormulaId, BlockId)> = Vec::new();
        for (formula, target) in targets {
            if self.context.feasible(&state.path, &[formula]) != Feasible::No {
                open.push((formula, target));
            }
        }
        let forks = open.len() > 1;
        let (function, frame) = (state.top().function, state.top().number);
        let n_open = open.len();
        let mut state = Some(state);
        for (index, (formula, target)) in open.into_iter().enumerate() {
            // The last needs no copy.
            let next = if index + 1 == n_open { state.take() } else { state.clone() };
            let Some(mut next) = next else { break };
            self.taint_loops(&mut next, formula, target);
            if self.skips_loop(&next, target) {
                next.path.assume_without_evidence(formula, loc, frame);
            } else if forks {
                let is_callers = self.is_callers(&next, formula);
                next.path.choose(formula, loc, frame, is_callers);
            } else {
                next.path.assume(formula, loc, Some(frame));
            }
            if n_targets > 1 || formula != Terms::TRUE {
                let (depth, from) = (next.depth(), next.top().block);
                let branch = What::Branch { formula, from, to: target };
                next.trail.push(branch, loc, function, depth);
            }
            next.n_forks += u32::from(forks);
            let mut ways = Vec::new();
            observer.passes(&mut self.context, &mut next, Some(target), &mut ways);
            ways.push(next);
            for mut way in ways {
                if !way.path.is_dead && self.enter_block(&mut way, target) {
                    self.push(way);
                }
            }
        }
    }

    /// Whether a test inside a call is of something its caller holds and nobody knows: a function
    /// has its tests for all its callers, and they say nothing about this one.
    fn is_callers(&mut self, state: &State, formula: FormulaId) -> bool {
        let frame = state.top();
        let symbols = self.context.symbols_in(formula);
        state.depth() > 0
            && symbols.iter().any(|symbol| {
                let left = self.context.left.get(symbol);
                let is_older = left.is_some_and(|left| left.frame < frame.number);
                self.context.symbols.get(*symbol).kind == SymbolKind::Unknown
                    && (is_older || (symbol.0 as usize) < frame.n_symbols)
            })
    }

    /// Moves to `target` and runs its phis; false where the path is not followed further.
    fn enter_block(&mut self, state: &mut State, target: BlockId) -> bool {
        let frame = state.top();
        let (function, from) = (frame.function, frame.block);
        let body = self.body(function);
        if let Some(shape) = self.code.shape(function) {
            let nest = &shape.cfg.loops;
            while let Some(run) = state.top().loops.last().copied() {
                if nest.contains(run.id, target) {
                    break;
                }
                // Leaving in an iteration that only sets the scene: the others cover it.
                if matches!(run.phase, Phase::Earlier { .. }) {
                    return false;
                }
                state.top_mut().loops.pop();
            }
            if let Some(id) = nest.headed_by(target) {
                let again = state.top().loops.last().is_some_and(|run| run.id == id);
                let goes_on = if again {
                    self.next_iteration(state, id)
                } else {
                    self.enter_loop(state, id, from, body)
                };
                if !goes_on {
                    return false;
                }
            }
        }
        if !self.visit(state, target, body) {
            return false;
        }
        self.run_phis(state, from, target, body);
        let frame = state.top_mut();
        frame.from = Some(from);
        frame.block = target;
        frame.next = body.blocks[target].first;
        true
    }

    /// Counts a path through a block; false where enough came this way.
    fn visit(&mut self, state: &State, block: BlockId, body: &Body) -> bool {
        // What happens after a fault is not crowded out by the paths that lead to it.
        let depth = state.depth() + u32::from(!state.wrong.is_empty()) * AFTER_A_FAULT;
        let key = (depth, state.top().function, block);
        let visits = self.visits.entry(key).or_default();
        *visits += 1;
        let goes_on = *visits <= self.limits.visits;
        if !goes_on {
            self.cut(Cutoff::Budget, body.blocks[block].loc);
        }
        goes_on
    }

    /// Blocks some path passed, sorted.
    pub fn visited(&self) -> Vec<(FunctionId, BlockId)> {
        let mut visited: Vec<_> = self.visits.keys().map(|(_, f, block)| (*f, *block)).collect();
        visited.sort_unstable();
        visited.dedup();
        visited
    }

    fn run_phis(&mut self, state: &mut State, from: BlockId, target: BlockId, body: &'p Body) {
        let mut values = Vec::new();
        for id in body.blocks[target].inst_ids() {
            match &body.insts[id].op {
                Op::Phi(operands) => {
                    let mut exec = Exec { context: &mut self.context, state };
                    let operand = operands.iter().find(|(block, _)| *block == from);
                    let value = match operand {
                        Some((_, Operand::Const(_))) if exec.is_null_of_macro(id, from) => {
                            exec.null_without_evidence(id)
                        }
                        Some((_, operand)) => exec.operand(*operand),
                        None => Value::Unknown,
                    };
                    values.push((id, value));
                }
                Op::Bind { .. } => {}
                _ => break,
            }
        }
        for (id, value) in values {
            state.top_mut().set(id, value);
        }
    }

    fn call(
        &mut self,
        state: &mut State,
        id: InstId,
        call: &'p Call,
        observer: &mut dyn Observer<'p>,
    ) -> bool {
        if self.run_intrinsic(state, id, call) {
            return true;
        }
        let inst = &self.body(state.top().function).insts[id];
        let callee = match &call.callee {
            Callee::Function(function) => Some(*function),
            Callee::Pointer(operand) => {
                match (Exec { context: &mut self.context, state }.operand(*operand)) {
                    Value::Function(function) => Some(function),
                    _ => None,
                }
            }
            Callee::Intrinsic(_) => None,
        };
        // A pointer that leads to one function says more than where pointers like it lead.
        let is_known_pointer = matches!(call.callee, Callee::Pointer(_))
            && callee.is_some_and(|callee| self.code.ownership().role(callee).is_none());
        let mut forks = Vec::new();
        if !is_known_pointer && observer.model(&mut self.context, state, id, &mut forks) {
            let never_returns = self.code.never_returns(inst);
            let note = |state: &mut State| {
                let (result, caller) = (state.top().value(id), state.top().function);
                let depth = state.depth();
                state.trail.push(What::Modelled { callee, result }, inst.loc, caller, depth);
            };
            for mut fork in forks {
                if !never_returns {
                    note(&mut fork);
                    self.push(fork);
                }
            }
            note(state);
            return !state.path.is_dead && !never_returns;
        }
        if let Some(function) = callee {
            let enters = self.code.program.functions[function].body.is_some()
                && !self.code.program.functions[function].is_variadic
                && state.frames.len() <= self.limits.depth
                && !state.frames.iter().any(|frame| frame.function == function)
                && observer.enters(state, function);
            if enters {
                self.enter_function(state, id, call, function);
                return true;
            }
        }
        if self.code.never_returns(inst) {
            return false;
        }
        self.skip_call(state, id, call);
        true
    }

    fn enter_function(
        &mut self,
        state: &mut State,
        id: InstId,
        call: &'p Call,
        function: FunctionId,
    ) {
        let info = &self.code.program.functions[function];
        let mut exec = Exec { context: &mut self.context, state };
        let mut params: Vec<Value> = call.args.iter().map(|arg| exec.operand(*arg)).collect();
        params.resize(info.params.len(), Value::Unknown);
        let body = self.body(function);
        let number = state.n_frames;
        state.n_frames += 1;
        let (caller, depth) = (state.top().function, state.depth());
        let loc = self.body(caller).insts[id].loc;
        state.trail.push(What::Entered { function, call: id }, loc, caller, depth);
        let mut frame = Frame::new(function, number, body.insts.len(), params.into(), Some(id));
        frame.next = body.blocks[Body::ENTRY].first;
        frame.n_symbols = self.context.symbols.count();
        state.memory.frame = number;
        state.frames.push(frame);
    }

    /// Returns to the caller; false where the path ends.
    fn leave_function(
        &mut self,
        state: &mut State,
        value: Option<Operand>,
        loc: LocId,
        observer: &mut dyn Observer<'p>,
    ) -> bool {
        if state.top().loops.iter().any(|run| matches!(run.phase, Phase::Earlier { .. })) {
            return false;
        }
        let value = value.map(|value| Exec { context: &mut self.context, state }.operand(value));
        if let Some(value) = value {
            state.top_mut().returned = Some(value);
        }
        if !state.sets_the_scene() {
            let loc = self.returning_statement(state, loc);
            observer.returns(&mut self.context, state, loc);
        }
        let Some(call) = state.top().call else { return false };
        let (from, number) = (state.top().function, state.top().number);
        let params = state.top().params.clone();
        state.frames.pop();
        state.memory.frame = state.top().number;
        let (function, depth) = (state.top().function, state.depth());
        let is_ignored = value.is_some() && !self.code.is_used(function, call);
        let is_trusted = value.is_none() || is_ignored || self.code.is_tested(function, call);
        let to = state.n_frames - 1;
        state.answered.push(Answered { from: number, to, value, is_trusted, is_ignored, params });
        let at = self.body(function).insts[call].loc;
        state.trail.push(What::Returned { call, from, value }, at, function, depth);
        if let Some(value) = value {
            state.top_mut().set(call, value);
        }
        true
    }

    /// All `return` statements share one block at the end: the one taken jumped there.
    fn returning_statement(&self, state: &State, loc: LocId) -> LocId {
        let frame = state.top();
        let body = self.body(frame.function);
        let Some(from) = frame.from else { return loc };
        let only_joins = body.blocks[frame.block]
            .inst_ids()
            .all(|id| matches!(body.insts[id].op, Op::Phi(_) | Op::Load(_) | Op::Bind { .. }));
        let jumped = &body.blocks[from];
        match jumped.terminator {
            Terminator::Jump(_) if only_joins && jumped.loc.is_known() => jumped.loc,
            _ => loc,
        }
    }

    /// An absolute value is a branch: on each side the number itself is what later tests bound.
    fn run_abs(&mut self, state: &mut State, id: InstId, term: TermId) {
        let ty = self.body(state.top().function).insts[id].ty;
        let number = self.context.wrap(term, crate::machine::exec::width(ty), true);
        let (zero, negated) = (self.context.constant(0), self.context.terms.scale(-1, number));
        let below = self.context.terms.compare(Comparison::Lt, number, zero);
        let above = self.context.terms.not(below);
        let is_below = self.context.feasible(&state.path, &[below]) != Feasible::No;
        let is_above = self.context.feasible(&state.path, &[above]) != Feasible::No;
        if is_below && is_above {
            let mut other = state.clone();
            other.path.assume(below, LocId::UNKNOWN, None);
            other.top_mut().set(id, Value::Int(negated));
            self.push(other);
        }
        let (side, result) = if is_above { (above, number) } else { (below, negated) };
        state.path.assume(side, LocId::UNKNOWN, None);
        state.top_mut().set(id, Value::Int(result));
    }

    /// Mathematics that needs no model: its result is as well known as its argument.
    fn run_intrinsic(&mut self, state: &mut State, id: InstId, call: &'p Call) -> bool {
        let Some(name) = self.code.callee_name(call) else { return false };
        let name = name.split('.').next().unwrap_or(name);
        let Some(arg) = call.args.first() else { return false };
        let value = Exec { context: &mut self.context, state }.operand(*arg);
        if let (Value::Int(term), "abs", Callee::Intrinsic(_)) = (value, name, &call.callee) {
            self.run_abs(state, id, term);
            return true;
        }
        let Value::Float(float) = value else { return false };
        let known = match name {
            "fabs" | "fabsf" | "fabsl" => float.known.map(f64::abs),
            "sqrt" | "sqrtf" | "sqrtl" => float.known.map(f64::sqrt),
            _ => return false,
        };
        let value = Value::Float(crate::machine::value::Float { known, name: None, ..float });
        state.top_mut().set(id, value);
        true
    }
}

/// Only paths of the outermost function are dropped early: others return to it.
fn wants<'p>(observer: &dyn Observer<'p>, state: &State, target: BlockId) -> bool {
    state.depth() > 0 || !state.wrong.is_empty() || observer.wants(target)
}

/// Values of the arguments of a call, as its caller has them.
pub fn arguments(context: &mut Context, state: &mut State, call: &Call) -> Rc<[Value]> {
    let mut exec = Exec { context, state };
    call.args.iter().map(|arg| exec.operand(*arg)).collect()
}

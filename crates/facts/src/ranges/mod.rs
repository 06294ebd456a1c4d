//! Ranges of values, by abstract interpretation over each function, with results and
//! arguments passed between functions.
//!
//! Callees come first, with anything for their parameters; then, callers first, functions
//! whose callers are all known are run again with the arguments they can get.

mod arithmetic;
pub mod conditions;
pub mod domain;
mod external;
mod initial;
pub mod interval;
#[cfg(test)]
mod interval_tests;
pub mod solver;

pub use domain::{Domain, Wrap};
pub use initial::InitialValues;
pub use interval::Interval;

use program::{BlockId, FunctionId, InstId, Op, Operand, Param, Program, Terminator};
use rayon::prelude::*;

use self::conditions::Conditions;
use self::solver::{FunctionInput, Solution, operand_width, value_at, width};
use crate::callgraph::CallKind;
use crate::cfg::Cfg;
use crate::effects::{EffectContext, Effects};
use crate::users::Users;

/// Whether a pointer can be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nullness {
    /// Control does not get there.
    Unreachable,
    Null,
    NotNull,
    Maybe,
}

/// The ranges of one function.
#[derive(Clone, Debug)]
pub struct FunctionRanges {
    solution: Solution<Interval>,
    conditions: Conditions,
    /// Of the returned value.
    pub result: Interval,
    /// Of the arguments it can be called with; everything where callers are unknown.
    pub params: Vec<Interval>,
}

/// The ranges of a program.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    functions: Vec<Option<FunctionRanges>>,
}

/// What the analysis of all functions reads.
pub(crate) struct RangeContext<'a> {
    pub effects: &'a EffectContext<'a>,
    pub initial: InitialValues,
    pub cfgs: &'a [Option<Cfg>],
    pub users: &'a [Users],
}

impl Ranges {
    pub(crate) fn compute(
        context: &EffectContext,
        effects: &Effects,
        cfgs: &[Option<Cfg>],
        users: &[Users],
    ) -> Self {
        let initial = InitialValues::compute(context, effects);
        let context = RangeContext { effects: context, initial, cfgs, users };
        let n = context.effects.program.functions.len();
        let mut ranges = Self { functions: vec![None; n] };
        let levels = context.effects.calls.levels();
        let components = context.effects.calls.bottom_up();
        let functions_of = |level: &Vec<u32>| -> Vec<FunctionId> {
            level.iter().flat_map(|&index| components[index as usize].iter().copied()).collect()
        };
        for level in &levels {
            let solved: Vec<_> = functions_of(level)
                .into_par_iter()
                .map(|function| (function, ranges.solve(&context, function, None)))
                .collect();
            for (function, found) in solved {
                ranges.functions[function.0 as usize] = found;
            }
        }
        for level in levels.iter().rev() {
            let solved: Vec<_> = functions_of(level)
                .into_par_iter()
                .filter_map(|function| {
                    let arguments = ranges.arguments(&context, function)?;
                    Some((function, ranges.solve(&context, function, Some(arguments))))
                })
                .collect();
            for (function, found) in solved {
                ranges.functions[function.0 as usize] = found;
            }
        }
        ranges
    }

    /// Nothing known about any of so many functions.
    pub(crate) fn none(n_functions: usize) -> Self {
        Self { functions: vec![None; n_functions] }
    }

    fn solve(
        &self,
        context: &RangeContext,
        function: FunctionId,
        arguments: Option<Vec<Interval>>,
    ) -> Option<FunctionRanges> {
        let program = context.effects.program;
        let called = &program.functions[function];
        let (body, cfg) = (called.body.as_ref()?, context.cfgs[function.0 as usize].as_ref()?);
        let params = arguments.unwrap_or_else(|| unknown_arguments(&called.params));
        let known = self.functions[function.0 as usize].as_ref();
        let conditions = match known {
            Some(known) => known.conditions.clone(),
            None => Conditions::new(body, called.params.len(), cfg, &program.constants),
        };
        let users = &context.users[function.0 as usize];
        let input = FunctionInput {
            program,
            body,
            params: &called.params,
            cfg,
            users,
            conditions: &conditions,
        };
        let outside = |inst: InstId| self.outside_value(context, function, body, inst);
        let solution = solver::solve(&input, params.clone(), &outside);
        let mut result = Interval::EMPTY;
        for &block in cfg.returns() {
            if let Terminator::Return(Some(value)) = body.blocks[block].terminator
                && solution.reached[block.0 as usize]
                && let Some(bits) = operand_width(&input, value)
            {
                result = result.join(&value_at(&input, &solution.values, block, value, bits));
            }
        }
        Some(FunctionRanges { solution, conditions, result, params })
    }

    /// Results of loads and calls that come from outside the function.
    fn outside_value(
        &self,
        context: &RangeContext,
        function: FunctionId,
        body: &program::Body,
        inst: InstId,
    ) -> Option<Interval> {
        let bits = width(body.insts[inst].ty)?;
        match &body.insts[inst].op {
            Op::Load(access) if access.bit_field.is_none() => {
                let cells = context.effects.pointers.of(function, access.ptr);
                context.initial.of_load(cells, bits)
            }
            Op::Call(_) => self.call_result(context, function, inst, bits),
            _ => None,
        }
    }

    fn call_result(
        &self,
        context: &RangeContext,
        function: FunctionId,
        inst: InstId,
        bits: u32,
    ) -> Option<Interval> {
        let calls = context.effects.calls;
        let own = calls.calls_at(function, inst).first()?;
        if own.is_open || !matches!(own.kind, CallKind::Direct | CallKind::Pointer) {
            return None;
        }
        let mut joined = Interval::EMPTY;
        for &target in calls.targets(own) {
            let called = &context.effects.program.functions[target];
            let result = match &called.body {
                None => external::result_of(&called.name, bits)?,
                Some(_) if width(called.result) != Some(bits) => return None,
                Some(_) => self.functions[target.0 as usize].as_ref()?.result,
            };
            joined = joined.join(&result);
        }
        (!joined.is_bottom()).then_some(joined)
    }

    /// The arguments a function can get, where all callers are known and some argument
    /// is limited.
    fn arguments(&self, context: &RangeContext, function: FunctionId) -> Option<Vec<Interval>> {
        let (program, calls) = (context.effects.program, context.effects.calls);
        if !calls.all_callers_known(function) || calls.is_recursive(function) {
            return None;
        }
        let params = &program.functions[function].params;
        let mut joined = vec![Interval::EMPTY; params.len()];
        for &(caller, inst) in calls.callers(function) {
            let is_own = |kind: CallKind| matches!(kind, CallKind::Direct | CallKind::Pointer);
            if calls
                .calls_at(caller, inst)
                .iter()
                .any(|call| !is_own(call.kind) && calls.targets(call).contains(&function))
            {
                return None;
            }
            let body = program.functions[caller].body.as_ref()?;
            let Op::Call(call) = &body.insts[inst].op else { return None };
            let block = body.insts[inst].block;
            if !self.is_reached(caller, block) {
                continue;
            }
            for (index, param) in params.iter().enumerate() {
                let Some(bits) = width(param.ty) else { continue };
                let value = match call.args.get(index) {
                    Some(&arg) => self.at(context, caller, block, arg, bits),
                    None => Interval::all(bits),
                };
                joined[index] = joined[index].join(&value);
            }
        }
        let unknown = unknown_arguments(params);
        let mut is_limited = false;
        for (value, unknown) in joined.iter_mut().zip(&unknown) {
            if value.is_bottom() {
                *value = *unknown;
            }
            is_limited |= value != unknown;
        }
        is_limited.then_some(joined)
    }

    fn is_reached(&self, function: FunctionId, block: BlockId) -> bool {
        self.functions[function.0 as usize]
            .as_ref()
            .is_some_and(|known| known.solution.reached[block.0 as usize])
    }

    fn at(
        &self,
        context: &RangeContext,
        function: FunctionId,
        block: BlockId,
        operand: Operand,
        bits: u32,
    ) -> Interval {
        let place = Place {
            program: context.effects.program,
            cfg: context.cfgs[function.0 as usize].as_ref(),
            users: &context.users[function.0 as usize],
            function,
        };
        self.with_input(&place, |input, known| match operand_width(input, operand) {
            Some(own) if own == bits => {
                value_at(input, &known.solution.values, block, operand, bits)
            }
            _ => Interval::all(bits),
        })
        .unwrap_or_else(|| Interval::all(bits))
    }

    pub fn of_function(&self, function: FunctionId) -> Option<&FunctionRanges> {
        self.functions[function.0 as usize].as_ref()
    }

    /// The range of an operand where `block` runs; empty where it never does, none for
    /// values that are not followed.
    pub(crate) fn range_at(
        &self,
        place: &Place,
        block: BlockId,
        operand: Operand,
    ) -> Option<Interval> {
        self.with_input(place, |input, known| {
            let bits = operand_width(input, operand)?;
            if !known.solution.reached[block.0 as usize] {
                return Some(Interval::EMPTY);
            }
            Some(value_at(input, &known.solution.values, block, operand, bits))
        })?
    }

    fn with_input<R>(
        &self,
        place: &Place,
        run: impl FnOnce(&FunctionInput, &FunctionRanges) -> R,
    ) -> Option<R> {
        let known = self.functions[place.function.0 as usize].as_ref()?;
        let called = &place.program.functions[place.function];
        let input = FunctionInput {
            program: place.program,
            body: called.body.as_ref()?,
            params: &called.params,
            cfg: place.cfg?,
            users: place.users,
            conditions: &known.conditions,
        };
        Some(run(&input, known))
    }

    /// Whether control can reach a block, as far as ranges tell.
    pub fn can_reach(&self, function: FunctionId, block: BlockId) -> bool {
        match &self.functions[function.0 as usize] {
            Some(known) => known.solution.reached.get(block.0 as usize) == Some(&true),
            None => true,
        }
    }
}

/// A function with what queries about it read.
pub(crate) struct Place<'a> {
    pub program: &'a Program,
    pub cfg: Option<&'a Cfg>,
    pub users: &'a Users,
    pub function: FunctionId,
}

fn unknown_arguments(params: &[Param]) -> Vec<Interval> {
    params
        .iter()
        .map(|param| match width(param.ty) {
            // Storage the compiler passes is always there.
            Some(64) if param.by_value.is_some() || param.is_struct_return => {
                solver::not_null::<Interval>()
            }
            Some(bits) => Interval::all(bits),
            None => Interval::all(64),
        })
        .collect()
}

impl Nullness {
    /// Of a pointer with this range.
    pub fn of(range: Interval) -> Self {
        match Interval::compare(program::Predicate::Eq, &range, &Interval::constant(64, 0)) {
            _ if range.is_bottom() => Nullness::Unreachable,
            Some(true) => Nullness::Null,
            Some(false) => Nullness::NotNull,
            None => Nullness::Maybe,
        }
    }
}

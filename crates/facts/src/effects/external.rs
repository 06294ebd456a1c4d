//! The effects of functions outside the program, relative to their arguments.

use program::{FunctionId, InstId, Op, Program};

use super::{EffectKind, ParamEffect};
use crate::externals::{self, External};
use crate::loops::constant_value;
use crate::pointsto::Shift;

/// The effects of a modelled external function, for callers that know nothing of the
/// arguments: sizes are unknown, and no more than `n_args` arguments exist.
pub(super) fn param_effects(model: &External, n_args: usize) -> Vec<ParamEffect> {
    let mut effects = Vec::new();
    let mut add = |param: u8, kind: EffectKind| {
        let shift = Shift::default();
        effects.push(ParamEffect { param: u32::from(param), shift, size: None, kind });
    };
    let from = |start: Option<u8>| start.map_or(0..0, |start| start..n_args.min(16) as u8);
    model.writes.iter().copied().for_each(|param| add(param, EffectKind::Write));
    from(model.writes_from).for_each(|param| add(param, EffectKind::Write));
    model.copies.iter().filter_map(|(to, _)| *to).for_each(|to| add(to, EffectKind::Write));
    model.stores.iter().for_each(|(to, _)| add(*to, EffectKind::Write));
    model.reads.iter().copied().for_each(|param| add(param, EffectKind::Read));
    from(model.reads_from).for_each(|param| add(param, EffectKind::Read));
    model.copies.iter().for_each(|(_, from)| add(*from, EffectKind::Read));
    model.frees.iter().copied().for_each(|param| add(param, EffectKind::Free));
    effects.sort_by_key(|effect| (effect.param, effect.kind));
    effects.dedup();
    effects
}

/// How many bytes a call of a modelled function touches at most, where its size argument
/// is constant.
pub(super) fn known_size(
    program: &Program,
    caller: FunctionId,
    inst: InstId,
    target: FunctionId,
) -> Option<u64> {
    let called = &program.functions[target];
    if called.body.is_some() {
        return None;
    }
    let argument = externals::lookup(&called.name)?.size_argument?;
    let body = program.functions[caller].body.as_ref()?;
    let Op::Call(call) = &body.insts.get(inst)?.op else { return None };
    let size = constant_value(*call.args.get(argument as usize)?, body, &program.constants)?;
    u64::try_from(size).ok()
}

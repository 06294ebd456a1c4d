//! Error states: what a fault leaves behind where it happens, for those who ask what it
//! causes. The corrupted value gets a symbol of its own, bound to what the machine makes of
//! it: whatever mentions the symbol later depends on the fault.

use logic::{Comparison, Interval, SymbolId, TermId};
use program::{InstId, LocId, Op, Operand, Ty};
use spec::ast::{Arg, Condition, ExprKind, VarIndex};
use spec::lower::Argument;

use crate::machine::attributes::Attributes;
use crate::machine::exec::{is_signed, width};
use crate::machine::memory::ObjectId;
use crate::machine::state::UsedUp;
use crate::machine::strings::Length;
use crate::machine::{Context, State, SymbolKind, Value};
use crate::observer::Corrupted;
use crate::query::{At, FaultKey, Query};
use crate::semantics::asking::Specified;
use crate::semantics::compiled::How;

impl<'p> Specified<'_, 'p> {
    /// The attribute an error state is about, and of what.
    fn subject(&self, query: &Query) -> Option<(&'static str, &Argument)> {
        let observed = self.compiled.observed(query);
        let (attribute, var) = subject(observed.error_state.as_ref()?)?;
        let How::Matched(bindings) = &self.asked(query).how else { return None };
        Some((attribute, bindings.get(var)?))
    }

    /// What is lost for good: the error state of a leak is that there is less to hand out. One
    /// leak in a loop uses up all there is.
    pub fn use_up(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        fault: FaultKey,
        query: &Query,
        object: ObjectId,
    ) {
        let error_state = self.compiled.observed(query).error_state.as_ref();
        let repeats = state.frames.iter().any(|frame| !frame.loops.is_empty());
        if !repeats || error_state.and_then(subject).is_none_or(|(name, _)| name != "Avail") {
            return;
        }
        let pointer = Value::Pointer { object, offset: context.constant(0) };
        let loc = query.loc(self.code.program);
        let held = Attributes { context, state, loc }.get(pointer, "State");
        if let Some(Value::Int(held)) = held {
            state.used_up.push(UsedUp { state: held, by: fault });
        }
    }

    /// What goes wrong before the instruction runs: where it writes, or what it uses.
    pub fn corrupted_before(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
    ) -> Corrupted {
        let At::Inst(inst) = query.at else { return Corrupted::Nothing };
        if self.is_stopped(query) {
            return Corrupted::Ends;
        }
        let Some((attribute, subject)) = self.subject(query) else { return Corrupted::Nothing };
        let loc = query.loc(self.code.program);
        match attribute {
            "Len" | "Offset" => self.stray_write(context, state, query, inst, loc),
            "Init" => match subject {
                Argument::Operand(Operand::Inst(operand)) => {
                    arbitrary(context, state, self.type_of(state, *operand), *operand, loc)
                }
                _ => Corrupted::Later,
            },
            _ => Corrupted::Later,
        }
    }

    /// What goes wrong with the instruction itself.
    pub fn corrupted_after(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
    ) -> Corrupted {
        let At::Inst(inst) = query.at else { return Corrupted::Nothing };
        let Some((attribute, subject)) = self.subject(query) else { return Corrupted::Nothing };
        let loc = query.loc(self.code.program);
        match attribute {
            "Len" => {
                let subject = subject.clone();
                let pointer = self.lowered(context, state, loc).value(&subject);
                pointer.map_or(Corrupted::Nothing, |pointer| length(context, state, pointer, loc))
            }
            "Value" if is_result(subject, inst) => self.wrong_result(context, state, inst, loc),
            // What is read from where nothing is, or is no more, can be anything.
            "Size" | "State" | "Held" | "Init" => {
                arbitrary(context, state, self.type_of(state, inst), inst, loc)
            }
            _ => Corrupted::Nothing,
        }
    }

    /// An operand with a value the machine does not go on with: a null pointer to follow,
    /// a zero to divide by.
    pub fn is_stopped(&self, query: &Query) -> bool {
        let fault = self.compiled.rules.fault(self.compiled.observed(query).fault);
        let At::Inst(inst) = query.at else { return false };
        fault.severity == spec::ast::Severity::Error
            && self.subject(query).is_some_and(|(attribute, subject)| {
                attribute == "Value" && !is_result(subject, inst)
            })
    }

    fn type_of(&self, state: &State, inst: InstId) -> (Ty, bool, Box<str>) {
        let function = &self.code.program.functions[state.top().function];
        let Some(inst) = function.body.as_ref().and_then(|body| body.insts.get(inst)) else {
            return (Ty::Void, false, "".into());
        };
        let signed = match &self.code.program.types.get(inst.ctype) {
            Some(program::CType::Int { signed, .. }) => *signed,
            _ => false,
        };
        (inst.ty, signed, "".into())
    }

    /// A store or copy whose place or length is wrong: the length of what it writes, or the
    /// place, becomes a value of its own.
    fn stray_write(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        inst: InstId,
        loc: LocId,
    ) -> Corrupted {
        let Some(body) = &self.code.program.functions[state.top().function].body else {
            return Corrupted::Nothing;
        };
        match &body.insts[inst].op {
            Op::Store { access, .. } => {
                let Operand::Inst(pointer) = access.ptr else { return Corrupted::Later };
                let Value::Pointer { object, offset } = state.top().value(pointer) else {
                    return Corrupted::Later;
                };
                let (symbol, term) = stands_for(context, state, offset, 64, true, loc);
                state.top_mut().set(pointer, Value::Pointer { object, offset: term });
                Corrupted::By(symbol)
            }
            Op::Call(call) => {
                let How::Matched(bindings) = &self.asked(query).how else {
                    return Corrupted::Later;
                };
                let n_vars = self.compiled.observed(query).vars.len();
                let bound = (0..n_vars as u32).filter_map(|var| bindings.get(VarIndex(var)));
                let length = bound
                    .filter_map(|argument| match argument {
                        Argument::Operand(operand @ Operand::Inst(id)) => Some((*operand, *id)),
                        _ => None,
                    })
                    .find(|(operand, id)| {
                        call.args.contains(operand)
                            && matches!(state.top().value(*id), Value::Int(_))
                    });
                let Some((_, id)) = length else { return Corrupted::Later };
                let Value::Int(term) = state.top().value(id) else { return Corrupted::Later };
                let (symbol, term) = stands_for(context, state, term, 64, false, loc);
                state.top_mut().set(id, Value::Int(term));
                Corrupted::By(symbol)
            }
            _ => Corrupted::Later,
        }
    }

    /// The result of arithmetic or of a conversion, as the machine has it.
    fn wrong_result(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        loc: LocId,
    ) -> Corrupted {
        let Some(body) = &self.code.program.functions[state.top().function].body else {
            return Corrupted::Nothing;
        };
        let Value::Int(term) = state.top().value(inst) else { return Corrupted::Nothing };
        let (bits, signed) =
            (width(body.insts[inst].ty), is_signed(context, body.insts[inst].ctype));
        let (symbol, term) = stands_for(context, state, term, bits, signed, loc);
        state.top_mut().set(inst, Value::Int(term));
        Corrupted::By(symbol)
    }
}

fn subject(condition: &Condition) -> Option<(&'static str, VarIndex)> {
    let (Condition::Compare { left: expr, .. } | Condition::Holds(expr)) = condition else {
        return None;
    };
    match &expr.kind {
        ExprKind::Attr { attribute, args } => match args.first()? {
            Arg::Var(var) => Some((attribute.name(), *var)),
            _ => None,
        },
        _ => None,
    }
}

fn is_result(subject: &Argument, inst: InstId) -> bool {
    matches!(subject, Argument::Operand(Operand::Inst(result)) if *result == inst)
}

/// A new symbol that equals what the machine makes of `term`.
fn stands_for(
    context: &mut Context,
    state: &mut State,
    term: TermId,
    bits: u32,
    signed: bool,
    loc: LocId,
) -> (SymbolId, TermId) {
    // What the machine does, also where the language says nothing about it.
    let value = context.terms.wrap(term, bits, signed);
    let zero = context.constant(0);
    let mentioned = context.terms.compare(Comparison::Eq, value, zero);
    let symbols = context.symbols_in(mentioned);
    let kind = |kind| symbols.iter().any(|symbol| context.symbols.get(*symbol).kind == kind);
    // As certain as what it is made from.
    let kind = if kind(SymbolKind::Entry) {
        SymbolKind::Entry
    } else if kind(SymbolKind::Unknown) {
        SymbolKind::Unknown
    } else {
        SymbolKind::Chosen
    };
    let fresh = context.fresh(Interval::of_width(bits, signed), kind, "", loc);
    let equal = context.terms.compare(Comparison::Eq, fresh, value);
    state.path.assume(equal, LocId::UNKNOWN, None);
    let symbol = context.terms.as_symbol(fresh).expect("a fresh symbol is one");
    (symbol, fresh)
}

/// The value of `inst` can be anything its type holds.
fn arbitrary(
    context: &mut Context,
    state: &mut State,
    (ty, signed, name): (Ty, bool, Box<str>),
    inst: InstId,
    loc: LocId,
) -> Corrupted {
    let Ty::Int(bits @ 2..) = ty else { return Corrupted::Nothing };
    let domain = Interval::of_width(bits, signed);
    let fresh = context.fresh(domain, SymbolKind::Chosen, name, loc);
    state.top_mut().set(inst, Value::Int(fresh));
    context.terms.as_symbol(fresh).map_or(Corrupted::Nothing, Corrupted::By)
}

/// The string at `pointer` has outgrown its buffer.
fn length(context: &mut Context, state: &mut State, pointer: Value, loc: LocId) -> Corrupted {
    let Some(Length::Known(units)) = (Attributes { context, state, loc }).length(pointer, 1) else {
        return Corrupted::Nothing;
    };
    let (symbol, units) = stands_for(context, state, units, 64, false, loc);
    Attributes { context, state, loc }.set_length(pointer, units, 1, true);
    Corrupted::By(symbol)
}

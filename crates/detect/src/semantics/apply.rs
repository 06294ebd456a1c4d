//! Effects of models, applied to the state of a path.

use logic::{FormulaId, TermId, Terms};
use program::{InstId, LocId, Operand, Ty};
use spec::attribute::AttributeId;
use spec::lower::{Argument, Effect, UNDEF};

use crate::code::Code;
use crate::machine::access::make_nullable;
use crate::machine::addresses;
use crate::machine::attributes::Attributes;
use crate::machine::memory::{Content, Data, Object, ObjectKind};
use crate::machine::value::Float;
use crate::machine::{Context, Feasible, State, SymbolKind, Value};
use crate::semantics::lowered::{Lowered, machine_type};

/// A point whose effects are being applied. Forked states are complete: they go on after
/// the instruction.
pub struct Applying<'c, 'p> {
    pub code: &'c Code<'p>,
    pub context: &'c mut Context<'p>,
    /// The call or instruction.
    pub inst: InstId,
    pub loc: LocId,
}

impl<'p> Applying<'_, 'p> {
    /// Applies the effects in order; each state that results is one way it can go.
    pub fn apply(&mut self, state: State, effects: &[Effect]) -> Vec<State> {
        let mut states = vec![state];
        for effect in effects {
            let mut next = Vec::new();
            for state in states {
                self.apply_one(state, effect, &mut next);
            }
            states = next;
        }
        states
    }

    fn apply_one(&mut self, mut state: State, effect: &Effect, out: &mut Vec<State>) {
        match effect {
            Effect::Assign { attribute, args, value } => {
                self.assign(&mut state, *attribute, args, Some(*value));
                out.push(state);
            }
            Effect::Forget { attribute, args, .. } => {
                self.assign(&mut state, *attribute, args, None);
                out.push(state);
            }
            Effect::Assume(formula) => {
                state.path.assume(*formula, LocId::UNKNOWN, None);
                if !state.path.is_dead {
                    out.push(state);
                }
            }
            Effect::When { condition, then, otherwise } => {
                self.when(state, *condition, then, otherwise, out);
            }
            Effect::May { first, otherwise } => {
                if self.may_be_null(&mut state, first) {
                    out.extend(self.apply(state, otherwise));
                } else {
                    out.extend(self.apply(state.clone(), first));
                    out.extend(self.apply(state, otherwise));
                }
            }
            Effect::Either(alternatives) => {
                for alternative in alternatives {
                    out.extend(self.apply(state.clone(), alternative));
                }
            }
        }
    }

    fn when(
        &mut self,
        state: State,
        condition: FormulaId,
        then: &[Effect],
        otherwise: &[Effect],
        out: &mut Vec<State>,
    ) {
        let negation = self.context.terms.not(condition);
        let sides = [(condition, then), (negation, otherwise)];
        for (formula, effects) in sides {
            if self.context.feasible(&state.path, &[formula]) != Feasible::No {
                let mut side = state.clone();
                side.path.assume(formula, LocId::UNKNOWN, None);
                out.extend(self.apply(side, effects));
            }
        }
    }

    /// `may Value(result) := 0` needs no second path: the pointer gets a bit that says so.
    fn may_be_null(&mut self, state: &mut State, first: &[Effect]) -> bool {
        let [Effect::Assign { attribute, args, value }] = first else { return false };
        let is_result = matches!(args.as_slice(), [Argument::Operand(Operand::Inst(inst))]
            if *inst == self.inst);
        if attribute.name() != "Value"
            || !is_result
            || self.context.terms.as_constant(*value) != Some(0)
        {
            return false;
        }
        let Value::Pointer { object, .. } = state.top().value(self.inst) else { return false };
        let name = self.callee_name(state);
        let target = state.memory.get_mut(object);
        if target.null != Terms::FALSE {
            return false;
        }
        make_nullable(self.context, target, SymbolKind::Chosen, &name);
        true
    }

    fn callee_name(&self, state: &State) -> String {
        let body = self.code.program.functions[state.top().function].body.as_ref();
        let op = body.and_then(|body| body.insts.get(self.inst)).map(|inst| &inst.op);
        match op {
            Some(program::Op::Call(call)) => {
                self.code.callee_name(call).map_or(String::new(), |name| format!("{name}()"))
            }
            _ => String::new(),
        }
    }

    fn assign(
        &mut self,
        state: &mut State,
        attribute: AttributeId,
        args: &[Argument],
        value: Option<TermId>,
    ) {
        let Some(argument) = args.first() else { return };
        match attribute.name() {
            "Value" => self.assign_value(state, argument, value),
            "Len" => self.assign_length(state, argument, value),
            "Size" => self.assign_size(state, argument, value),
            "Init" => {
                let holds = value.and_then(|value| self.context.terms.as_constant(value));
                let data = match holds {
                    Some(0) => Data::Uninit,
                    _ => Data::Unknown { input: false },
                };
                self.assign_contents(state, argument, data);
            }
            "Input" => {
                let is_pointer =
                    matches!(self.value(state, argument), Some(Value::Pointer { .. }));
                if is_pointer {
                    self.assign_contents(state, argument, Data::Unknown { input: true });
                }
            }
            name => {
                let Some(target) = self.value(state, argument) else { return };
                let target = state.resource_mut(self.context, target, self.loc);
                let to = value.map_or(Value::Unknown, Value::Int);
                Attributes { context: self.context, state, loc: self.loc }.set(target, name, to);
            }
        }
    }

    fn value(&mut self, state: &mut State, argument: &Argument) -> Option<Value> {
        let mut lowered = Lowered {
            code: self.code,
            context: self.context,
            state,
            loc: self.loc,
            objects: Vec::new(),
        };
        lowered.value(argument)
    }

    fn assign_value(&mut self, state: &mut State, argument: &Argument, value: Option<TermId>) {
        match argument {
            Argument::Operand(Operand::Inst(inst)) if *inst == self.inst => {
                let ty = self.code.program.functions[state.top().function]
                    .body
                    .as_ref()
                    .map_or(Ty::Void, |body| body.insts[*inst].ty);
                if let Some(term) = value {
                    let value = self.typed(state, term, ty);
                    state.top_mut().set(*inst, value);
                }
            }
            Argument::Pointee(pointer) => self.assign_pointee(state, pointer, argument, value),
            _ => {}
        }
    }

    fn assign_pointee(
        &mut self,
        state: &mut State,
        pointer: &Argument,
        argument: &Argument,
        value: Option<TermId>,
    ) {
        let function = &self.code.program.functions[state.top().function];
        let ctype = spec::facts::c_type(self.code.program, function, argument);
        let ty = ctype.and_then(|ctype| machine_type(self.code, ctype));
        let Some(Value::Pointer { object, offset }) = self.value(state, pointer) else { return };
        let (data, size) = match (value, ty) {
            (Some(term), Some(ty)) => (Data::Value(self.typed(state, term, ty)), ty.size()),
            (None, Some(ty)) => (Data::Unknown { input: false }, ty.size()),
            (_, None) => (Data::Unknown { input: false }, 8),
        };
        let size = self.context.constant(i128::from(size));
        state.memory.get_mut(object).write(offset, size, data, self.loc);
    }

    /// A number of a specification as a value of a machine type.
    fn typed(&mut self, state: &State, term: TermId, ty: Ty) -> Value {
        match ty {
            Ty::Float(_) => {
                let known = self.context.terms.as_constant(term).map(|known| known as f64);
                let zero = self.context.constant(0);
                let is_zero = self.context.terms.compare(logic::Comparison::Eq, term, zero);
                Value::Float(Float { known, is_zero, name: Some(term) })
            }
            Ty::Ptr => addresses::from_term(self.context, &state.memory, term),
            Ty::Int(1) => {
                let zero = self.context.constant(0);
                Value::Bool(self.context.terms.compare(logic::Comparison::Ne, term, zero))
            }
            _ => Value::Int(term),
        }
    }

    fn assign_length(&mut self, state: &mut State, argument: &Argument, value: Option<TermId>) {
        let Some(target) = self.value(state, argument) else { return };
        let unit = {
            let lowered = Lowered {
                code: self.code,
                context: self.context,
                state,
                loc: self.loc,
                objects: Vec::new(),
            };
            lowered.unit_width(argument)
        };
        let length = value.filter(|value| self.context.terms.as_constant(*value) != Some(UNDEF));
        match length {
            Some(bytes) => {
                let units = match unit {
                    1 => bytes,
                    unit => {
                        let unit = self.context.constant(i128::from(unit));
                        self.context.terms.divide(logic::Rounding::Floor, bytes, unit)
                    }
                };
                let input = {
                    let zero = self.context.constant(0);
                    let formula =
                        self.context.terms.compare(logic::Comparison::Eq, bytes, zero);
                    self.context.symbols_in(formula).iter().any(|symbol| {
                        self.context.symbols.get(*symbol).kind == SymbolKind::Chosen
                    })
                };
                Attributes { context: self.context, state, loc: self.loc }
                    .set_length(target, units, unit, input);
            }
            None => self.assign_contents(state, argument, Data::Unknown { input: false }),
        }
    }

    fn assign_size(&mut self, state: &mut State, argument: &Argument, value: Option<TermId>) {
        let Some(Value::Pointer { object, offset }) = self.value(state, argument) else { return };
        let size = value.map(|value| self.context.terms.add(value, offset));
        let object = state.memory.get_mut(object);
        object.size = size;
        object.has_start = true;
    }

    /// The memory from the pointer to the end of its object changes.
    fn assign_contents(&mut self, state: &mut State, argument: &Argument, data: Data) {
        let Some(value @ Value::Pointer { object, offset }) = self.value(state, argument) else {
            return;
        };
        let room = Attributes { context: self.context, state, loc: self.loc }.room(value);
        let has_start = state.memory.get(object).has_start;
        let target = state.memory.get_mut(object);
        match room {
            Some(room) if has_start => target.write(offset, room, data, self.loc),
            _ => {
                target.log = None;
                target.content = match data {
                    Data::Unknown { input: true } => Content::Input,
                    Data::Uninit => Content::Uninit(self.loc),
                    _ => Content::Unknown,
                };
            }
        }
    }

    /// What a call returns before its model says more: for a pointer that the model gives a
    /// size or state, a new object.
    pub fn prepare_result(&mut self, state: &mut State, ty: Ty, makes_object: bool) {
        let (function, name) = (state.top().function, self.callee_name(state));
        if ty == Ty::Void {
            return;
        }
        let value = if ty == Ty::Ptr && makes_object {
            let kind = ObjectKind::Heap { function, call: self.inst };
            let mut object = Object::new(kind, &name, None, Content::Unknown);
            object.loc = self.loc;
            let object = state.memory.add(object);
            Value::Pointer { object, offset: self.context.constant(0) }
        } else {
            let mut exec = crate::machine::exec::Exec { context: self.context, state };
            let ctype = exec.state.top().function;
            let ctype = self.code.program.functions[ctype]
                .body
                .as_ref()
                .map_or(program::TypeId::UNKNOWN, |body| body.insts[self.inst].ctype);
            exec.made_up(ty, ctype, self.loc, SymbolKind::Unknown, &name)
        };
        state.top_mut().set(self.inst, value);
    }
}

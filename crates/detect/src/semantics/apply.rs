//! Effects of models, applied to the state of a path.

use logic::{FormulaId, TermId, Terms};
use program::{InstId, LocId, Operand, Ty};
use spec::attribute::AttributeId;
use spec::lower::{Argument, Effect, UNDEF};
use spec::rules::Rules;

use crate::code::Code;
use crate::describe;
use crate::machine::access::make_nullable;
use crate::machine::addresses;
use crate::machine::attributes::Attributes;
use crate::machine::exec::describe_value;
use crate::machine::memory::{Content, Data, Object, ObjectId, ObjectKind};
use crate::machine::trail::What;
use crate::machine::value::Float;
use crate::machine::{Context, Feasible, State, SymbolKind, Value};
use crate::semantics::lowered::{Lowered, machine_type};
use spec::text::name_code;

/// A point whose effects are being applied. Forked states are complete: they go on after
/// the instruction.
pub struct Applying<'c, 'p> {
    pub code: &'c Code<'p>,
    pub rules: &'c Rules,
    pub context: &'c mut Context<'p>,
    /// The call or instruction.
    pub inst: InstId,
    pub loc: LocId,
    /// How many bytes are written through which pointer, where a model says so.
    pub extents: Vec<(Argument, TermId)>,
}

impl<'p> Applying<'_, 'p> {
    /// Applies the effects in order; each state that results is one way it can go.
    pub fn apply(&mut self, state: State, effects: &[Effect]) -> Vec<State> {
        // What memory holds is settled before what strings it makes.
        let mut effects: Vec<&Effect> = effects.iter().collect();
        effects.sort_by_key(|effect| match effect {
            Effect::Assign { attribute, .. } | Effect::Forget { attribute, .. } => {
                match attribute.name() {
                    "Size" => 0,
                    "Init" => 1,
                    "Input" => 2,
                    _ => 3,
                }
            }
            _ => 3,
        });
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
            Effect::Copy { target, source, plus } => {
                self.copy(&mut state, target, source, *plus);
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
            Effect::May { first, otherwise } if self.is_used_up(&state, otherwise) => {
                let call = (state.top().function, self.inst);
                if !state.refused.contains(&call) {
                    state.refused.push(call);
                }
                out.extend(self.apply(state, first));
            }
            Effect::May { first, otherwise } => {
                if otherwise.iter().all(|effect| self.is_about_result(effect))
                    && self.may_be_null(&mut state, first)
                {
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

    /// Whether an alternative would hand out a resource there is no more of.
    fn is_used_up(&self, state: &State, effects: &[Effect]) -> bool {
        let is_left = |value: &TermId| state.used_up.iter().all(|used_up| used_up.state != *value);
        effects.iter().any(|effect| match effect {
            Effect::Assign { attribute, value, .. } => {
                attribute.name() == "State" && !is_left(value)
            }
            _ => false,
        })
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

    /// Whether an effect touches nothing but what the call returns.
    fn is_about_result(&self, effect: &Effect) -> bool {
        let is_result = |argument: &Argument| matches!(argument, Argument::Operand(Operand::Inst(inst)) if *inst == self.inst);
        match effect {
            Effect::Assign { args, .. } | Effect::Forget { args, .. } => args.iter().all(is_result),
            Effect::Assume(_) => true,
            _ => false,
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
                let name = match (&call.callee, body) {
                    (program::Callee::Pointer(pointer), Some(body)) => {
                        let function = state.top().function;
                        describe_value(self.context, body, function, *pointer, 0)
                    }
                    _ => self.code.callee_name(call).unwrap_or_default().to_owned(),
                };
                if name.is_empty() { name } else { format!("{name}()") }
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
            "Len" => self.assign_length(state, argument, value, 1),
            "WLen" => self.assign_length(state, argument, value, 4),
            // A new object starts at its start.
            "Offset" => {}
            "Size" => self.assign_size(state, argument, value),
            "Fill" => {
                let unit = value.map_or(Value::Unknown, Value::Int);
                self.assign_contents(state, argument, Data::Fill { unit, width: 1 });
            }
            "Init" => {
                let holds = value.and_then(|value| self.context.terms.as_constant(value));
                match holds {
                    Some(0) => self.assign_contents(state, argument, Data::Uninit),
                    _ if self.was_just_written(state, argument) => {}
                    _ => self.assign_contents(state, argument, Data::Unknown { input: false }),
                }
            }
            "Input" => {
                let holds = value.and_then(|value| self.context.terms.as_constant(value));
                match self.value(state, argument) {
                    _ if holds == Some(0) => {}
                    Some(Value::Pointer { .. }) => {
                        self.assign_contents(state, argument, Data::Unknown { input: true });
                    }
                    _ => self.choose_result(state, argument),
                }
            }
            name => {
                let Some(target) = self.value(state, argument) else { return };
                // States belong to objects: a null pointer has none.
                if matches!(target, Value::Int(_)) && self.is_pointer(state, argument) {
                    return;
                }
                let target = match name {
                    "Held" => {
                        let place = state.place_mut(self.context, target, self.loc);
                        self.forget_aliases(state, target, place, name);
                        place
                    }
                    _ => state.resource_mut(self.context, target, self.loc),
                };
                let to = value.map_or(Value::Unknown, Value::Int);
                if let Value::Pointer { object, .. } = target {
                    self.remember_state(state, object, value);
                }
                Attributes { context: self.context, state, loc: self.loc }.set(target, name, to);
            }
        }
    }

    /// A pointer that code nobody followed left behind may lead to a place that was met before:
    /// what that holds is no longer known.
    fn forget_aliases(&mut self, state: &mut State, target: Value, place: Value, name: &str) {
        let is_left_behind = |owner: &Object| {
            owner.kind == ObjectKind::Pointee && matches!(owner.content, Content::Unknown)
        };
        let (Some((owner, _)), Some((place, _))) = (target.as_pointer(), place.as_pointer()) else {
            return;
        };
        if !is_left_behind(state.memory.get(owner)) {
            return;
        }
        for other in state.memory.ids() {
            let object = state.memory.get(other);
            if other == place || !object.attributes.contains_key(name) {
                continue;
            }
            let ObjectKind::Handle(address) = object.kind else { continue };
            let holder = addresses::from_term(self.context, &state.memory, address).as_pointer();
            let may_be_same = holder.is_some_and(|(holder, _)| {
                let holder = state.memory.get(holder);
                holder.kind == ObjectKind::Pointee || holder.escaped
            });
            if may_be_same {
                state.memory.get_mut(other).attributes.remove(name);
            }
        }
    }

    /// For the steps of a report: who brought the object into which state. That a call makes
    /// an object is said by its result.
    fn remember_state(&self, state: &mut State, object: ObjectId, value: Option<TermId>) {
        let callee = self.callee_name(state);
        let name = state.memory.get(object).name.to_string();
        if name == callee {
            return;
        }
        let name = match name.is_empty() {
            true => "it".to_owned(),
            false => describe::object(self.context.program, state, object),
        };
        let code = value.and_then(|value| self.context.terms.as_constant(value));
        let note =
            match code.and_then(|code| self.rules.names().find(|name| name_code(name) == code)) {
                Some(word) => format!("{name} is {word} by {callee}"),
                None => format!("{callee} changes the state of {name}"),
            };
        let (function, depth) = (state.top().function, state.depth());
        state.trail.push(What::Effect(note.into(), Some(object)), self.loc, function, depth);
    }

    fn is_pointer(&self, state: &State, argument: &Argument) -> bool {
        let Argument::Operand(operand) = argument else { return false };
        let function = &self.code.program.functions[state.top().function];
        let constants = &self.code.program.constants;
        let body = function.body.as_ref();
        body.is_some_and(|body| body.operand_ty(*operand, &function.params, constants) == Ty::Ptr)
    }

    fn value(&mut self, state: &mut State, argument: &Argument) -> Option<Value> {
        let mut lowered = Lowered {
            code: self.code,
            context: self.context,
            state,
            loc: self.loc,
            inst: Some(self.inst),
            speaks_of_memory: true,
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

    fn assign_length(
        &mut self,
        state: &mut State,
        argument: &Argument,
        value: Option<TermId>,
        width: u64,
    ) {
        let Some(target) = self.value(state, argument) else { return };
        match value {
            Some(units) if self.context.terms.as_constant(units) == Some(UNDEF) => {
                self.end_without_zero(state, argument, target, width);
            }
            Some(units) => {
                let zero = self.context.constant(0);
                let formula = self.context.terms.compare(logic::Comparison::Eq, units, zero);
                let symbols = self.context.symbols_in(formula);
                let input = symbols
                    .iter()
                    .any(|symbol| self.context.symbols.get(*symbol).kind == SymbolKind::Chosen);
                Attributes { context: self.context, state, loc: self.loc }
                    .set_length(target, units, width, input);
            }
            None => self.assign_contents(state, argument, Data::Unknown { input: false }),
        }
    }

    /// The bytes written end without a zero: a scan of the string goes on after them.
    fn end_without_zero(
        &mut self,
        state: &mut State,
        argument: &Argument,
        target: Value,
        width: u64,
    ) {
        let Value::Pointer { object, offset } = target else { return };
        let Some(bytes) = self.extent(state, argument) else { return };
        let Some(length) =
            (Attributes { context: self.context, state, loc: self.loc }).length(target, width)
        else {
            return;
        };
        if matches!(length, crate::machine::strings::Length::Known(_)) {
            let data = Data::NonZero { input: self.was_input(state, object) };
            state.memory.get_mut(object).write(offset, bytes, data, self.loc);
        }
    }

    fn was_input(&self, state: &State, object: crate::machine::memory::ObjectId) -> bool {
        // A scan for the terminator may have left its own mark on top.
        state.memory.get(object).writes().take(3).any(|write| {
            matches!(write.data, Data::Unknown { input: true } | Data::String { input: true, .. })
        })
    }

    /// Whether this very instruction already wrote contents through the pointer.
    fn was_just_written(&mut self, state: &mut State, argument: &Argument) -> bool {
        let Some(Value::Pointer { object, offset }) = self.value(state, argument) else {
            return false;
        };
        let newest = state.memory.get(object).writes().next();
        newest.is_some_and(|write| {
            write.loc == self.loc
                && write.offset == offset
                && matches!(write.data, Data::Unknown { .. } | Data::String { .. })
        })
    }

    /// Bytes the model writes through a pointer, where it says so.
    fn extent(&mut self, state: &mut State, argument: &Argument) -> Option<TermId> {
        let known = self.extents.iter().find(|(pointer, _)| pointer == argument);
        if let Some((_, bytes)) = known {
            return Some(*bytes);
        }
        let value = self.value(state, argument)?;
        Attributes { context: self.context, state, loc: self.loc }.room(value)
    }

    /// The result comes from outside.
    fn choose_result(&mut self, state: &mut State, argument: &Argument) {
        if !matches!(argument, Argument::Operand(Operand::Inst(inst)) if *inst == self.inst) {
            return;
        }
        let function = &self.code.program.functions[state.top().function];
        let Some(body) = &function.body else { return };
        let inst = &body.insts[self.inst];
        if !matches!(inst.ty, Ty::Float(_)) {
            return;
        }
        let name = self.callee_name(state);
        let mut exec = crate::machine::exec::Exec { context: self.context, state };
        let value = exec.made_up(inst.ty, inst.ctype, self.loc, SymbolKind::Chosen, &name);
        state.top_mut().set(self.inst, value);
    }

    /// The target becomes another value plus a number, in the same object for a pointer.
    fn copy(&mut self, state: &mut State, target: &Argument, source: &Argument, plus: TermId) {
        let value = match self.value(state, source) {
            Some(Value::Pointer { object, offset }) => {
                Value::Pointer { object, offset: self.context.terms.add(offset, plus) }
            }
            Some(Value::Int(term)) => Value::Int(self.context.terms.add(term, plus)),
            Some(other) => other,
            None => return,
        };
        match target {
            Argument::Operand(Operand::Inst(inst)) if *inst == self.inst => {
                state.top_mut().set(*inst, value);
            }
            Argument::Pointee(pointer) => {
                if let Some(Value::Pointer { object, offset }) = self.value(state, pointer) {
                    let size = self.context.constant(8);
                    let data = Data::Value(value);
                    state.memory.get_mut(object).write(offset, size, data, self.loc);
                }
            }
            _ => {}
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
        let _ = value;
        let is_known = state.memory.get(object).has_start
            || self.extents.iter().any(|(pointer, _)| pointer == argument);
        let bytes = self.extent(state, argument);
        let target = state.memory.get_mut(object);
        match bytes {
            Some(bytes) if is_known => target.write(offset, bytes, data, self.loc),
            _ => {
                let content = match data {
                    Data::Unknown { input: true } => Content::Input,
                    Data::Uninit => Content::Uninit(self.loc),
                    _ => Content::Unknown,
                };
                target.forget(content, self.loc);
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
            // Where earlier iterations left theirs is not known, so neither is who has this.
            object.escaped = state.is_generalised();
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

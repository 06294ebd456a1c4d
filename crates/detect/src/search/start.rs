//! The state a search starts in: parameters as the outside or callers hand them over.

use logic::{Interval, Terms};
use program::{Body, FunctionId, LocId};

use super::Search;
use crate::entry::Input;
use crate::machine::access::{Wanted, make_up, suspect};
use crate::machine::exec::is_signed;
use crate::machine::memory::{Content, Memory};
use crate::machine::path::Path;
use crate::machine::trail::Trail;
use crate::machine::{Frame, State, SymbolKind, Value};
use crate::outside::{c_position, pointee_size};

impl Search<'_, '_> {
    pub(super) fn start(&mut self, function: FunctionId, inputs: &[Input]) -> Option<State> {
        let info = &self.code.program.functions[function];
        let body = info.body.as_ref()?;
        let mut memory = Memory::default();
        let mut params = Vec::new();
        for (index, param) in info.params.iter().enumerate() {
            let variable = param.variable.map(|variable| &body.variables[variable]);
            let c_index = variable.and_then(|v| v.parameter).map_or(index, |p| p as usize);
            let wanted = Wanted {
                ty: param.ty,
                signed: is_signed(&self.context, param.ctype),
                name: variable.map_or("", |variable| &variable.name),
                loc: variable.map_or(info.loc, |variable| variable.loc),
                member: None,
            };
            let is_input = inputs.iter().any(|input| input.position == c_index);
            let kind = if is_input { SymbolKind::Chosen } else { SymbolKind::Entry };
            let value = make_up(&mut self.context, &mut memory, wanted, kind);
            if let (Some(size), Value::Pointer { object, .. }) = (param.by_value, value) {
                let size = self.context.constant(i128::from(size));
                let object = memory.get_mut(object);
                object.size = Some(size);
                object.has_start = true;
                object.null = Terms::FALSE;
            } else if let (true, Value::Pointer { object, .. }) = (param.is_struct_return, value) {
                memory.get_mut(object).null = Terms::FALSE;
            } else if let (Value::Pointer { object, .. }, true) = (
                value,
                kind == SymbolKind::Chosen
                    || self.context.outside.leads(self.code.program, param.ctype),
            ) {
                memory.get_mut(object).is_outside = true;
            } else if kind == SymbolKind::Entry {
                let suspicion = self.context.suspects.of_parameter(function, index);
                suspect(&mut self.context, &mut memory, value, suspicion);
            }
            params.push(value);
        }
        if &*info.name == "main" && inputs.is_empty() {
            self.command_line(&mut memory, &mut params, body);
        }
        let frame = Frame::new(function, 0, body.insts.len(), params.into(), None);
        let mut state = State {
            frames: vec![frame],
            memory,
            path: Path::default(),
            trail: Trail::default(),
            n_frames: 1,
            n_forks: 0,
            unsure: Vec::new(),
            answered: Vec::new(),
            n_steps: 0,
            wrong: Vec::new(),
            used_up: Vec::new(),
            refused: Vec::new(),
        };
        for input in inputs {
            self.size_by_length(&mut state, *input);
        }
        state.top_mut().next = body.blocks[Body::ENTRY].first;
        self.visits.insert((0, function, Body::ENTRY), 1);
        Some(state)
    }

    /// Who starts a program says how many arguments it has, and what they are. The first is its
    /// name.
    fn command_line(&mut self, memory: &mut Memory, params: &mut [Value], body: &Body) {
        const MAX_ARGUMENTS: i128 = 1 << 20;
        let [count @ Value::Int(_), Value::Pointer { object, .. }, ..] = params else { return };
        let variable = body.variables.iter().find(|variable| variable.parameter == Some(0));
        let (name, loc) = variable.map_or(("", LocId::UNKNOWN), |found| (&*found.name, found.loc));
        let domain = Interval::new(1, MAX_ARGUMENTS);
        let number = self.context.fresh(domain, SymbolKind::Chosen, name, loc);
        *count = Value::Int(number);
        let strings = self.context.terms.scale(8, number);
        let size = self.context.terms.add_constant(strings, 8);
        let array = memory.get_mut(*object);
        array.size = Some(size);
        array.has_start = true;
        array.before = None;
        array.null = Terms::FALSE;
        array.null_bit = None;
        array.content = Content::Arguments { count: number };
    }

    /// The outside hands over a buffer together with its length.
    fn size_by_length(&mut self, state: &mut State, input: Input) {
        let info = &self.code.program.functions[state.top().function];
        let position = |position| (0..info.params.len()).find(|i| c_position(info, *i) == position);
        let (Some(data), Some(length)) =
            (position(input.position), input.length.and_then(position))
        else {
            return;
        };
        let (Value::Pointer { object, .. }, Value::Int(count)) =
            (state.top().params[data], state.top().params[length])
        else {
            return;
        };
        let unit = pointee_size(self.code.program, info.params[data].ctype);
        let (low, high) = (self.context.constant(0), self.context.constant(1 << 47));
        let exists = self.context.terms.within(count, low, high);
        state.path.assume(exists, LocId::UNKNOWN, None);
        let size = self.context.terms.scale(i128::from(unit), count);
        let object = state.memory.get_mut(object);
        object.size = Some(size);
        object.has_start = true;
        object.before = None;
    }
}

//! Calls of functions that have no model: what they return, and what they leave in memory they
//! were handed, is made up by type. Runs that saw such a call prove nothing about the program.

use program::{CType, Function, FunctionId, Ty, TypeId};

use crate::Stop;
use crate::exec::{Arguments, Machine};
use crate::inputs::Input;
use crate::parameters::scalars;
use crate::streams::Failure;
use crate::value::{Bits, Value};

/// Bytes behind a pointer that are made up, and what of them is an input.
const MAX_BYTES: u64 = 1 << 16;
const MAX_INPUTS: usize = 64;
/// Bytes of a text that such a function returns.
const TEXT_BYTES: u64 = 16;
/// Numbers of made-up objects that no call made: those that other units define.
const OBJECTS: u32 = 1 << 30;

impl Machine<'_> {
    /// Functions without a model that the run called, as it called them. What follows from them
    /// may not happen.
    pub fn made_up(&self) -> &[FunctionId] {
        &self.inputs.made_up
    }

    /// Whether the run saw anything that was made up: such a call, or an object that is defined
    /// outside the program.
    pub fn is_made_up(&self) -> bool {
        !self.inputs.made_up.is_empty() || self.memory.has_read_outside
    }

    /// What the run could not follow, and made up: the first such call, or an object that is
    /// defined outside the program.
    pub fn guessed(&self) -> Option<String> {
        let call = self.inputs.guessed.first().map(|id| format!("a call of {}", self.name_of(*id)));
        let object =
            self.memory.has_read_outside.then(|| "an object outside the program".to_owned());
        call.or(object)
    }

    /// The function that runs gives a result that is one of many, and maybe none it can give.
    pub(crate) fn note_made_up(&mut self) {
        self.inputs.made_up.extend(self.inputs.called);
    }

    /// What is neither part of the program nor known here.
    pub(crate) fn call_unknown(
        &mut self,
        function: &Function,
        passed: &Arguments,
    ) -> Result<Option<Value>, Stop> {
        let call = self.inputs.made_up.len() as u32;
        self.note_made_up();
        if self.inputs.stdin.is_some() {
            // A test's outcome is known: it is not to be guessed at.
            return Err(Stop::Unsupported(format!("a call of {}", function.name)));
        }
        self.spend()?;
        // Declarations without a prototype say nothing of the parameters; the call does.
        let tys = function.params.iter().map(|param| &param.ty).chain(passed.tys);
        let takes_pointers = tys.clone().any(|ty| *ty == Ty::Ptr) || !passed.by_value.is_empty();
        let is_number = matches!(function.result, Ty::Int(_) | Ty::Float(_) | Ty::Void);
        if is_number && !takes_pointers {
            // A value from outside, of which a program may ask for more and more.
            return self.outside(function.result);
        }
        self.inputs.guessed.extend(self.inputs.called);
        let mut n_bytes = 0;
        for (index, value) in passed.values.iter().enumerate() {
            if passed.by_value.iter().any(|(copied, _)| *copied as usize == index) {
                continue;
            }
            let declared = function.params.get(index).map(|param| param.ctype);
            let ctype = passed.ctypes.get(index).copied();
            let is_pointer = passed.tys.get(index) == Some(&Ty::Ptr);
            if let (true, Some(pointer)) = (is_pointer, value.bits()) {
                let ctype = [declared, ctype]
                    .into_iter()
                    .flatten()
                    .find(|ctype| matches!(self.program.resolved_type(*ctype), CType::Pointer(_)));
                self.hand_over(pointer, ctype, call, &mut n_bytes)?;
            }
        }
        self.make_up(function.result, self.result_of(passed.ctype), call, n_bytes)
    }

    fn result_of(&self, ctype: TypeId) -> TypeId {
        match self.program.resolved_type(ctype) {
            CType::Function { result, .. } => *result,
            _ => TypeId::UNKNOWN,
        }
    }

    /// Memory that a call may have written is from here on what it left there.
    fn hand_over(
        &mut self,
        pointer: Bits,
        ctype: Option<TypeId>,
        call: u32,
        n_bytes: &mut u32,
    ) -> Result<(), Stop> {
        let at = self.pinned(pointer) as u64;
        let pointee = ctype.map_or(TypeId::UNKNOWN, |ctype| self.program.pointee(ctype));
        if !pointer.is_known() || self.is_read_only(pointee) {
            return Ok(());
        }
        let Some(room) = self.memory.room(at) else { return Ok(()) };
        let room = room.min(MAX_BYTES);
        let mut n_inputs = 0;
        let (size, pieces) = scalars(self.program, pointee).unwrap_or((1, vec![(0, 1, false)]));
        // What lies behind the one object that the type speaks of is only filled where it is
        // unset: it may be an array.
        for start in (0..room).step_by(size as usize) {
            for (offset, bytes, is_pointer) in &pieces {
                let place = start + offset;
                if place + bytes > room {
                    continue;
                }
                let is_set = self.memory.is_set(at + place, *bytes);
                let is_kept = *is_pointer || *bytes == 1 || start > 0;
                if is_set && is_kept {
                    continue;
                }
                let is_input = !is_pointer && n_inputs < MAX_INPUTS;
                let value = match is_input {
                    true => {
                        let byte = *n_bytes;
                        self.take_input(Input::MadeUp { call, byte }, *bytes as u32 * 8)
                    }
                    false => Bits::known(0),
                };
                *n_bytes += *bytes as u32;
                n_inputs += usize::from(is_input);
                self.memory.store(at + place, *bytes, value)?;
            }
        }
        self.memory.settle(at, room)
    }

    /// What is `const` is not written, and code is not.
    fn is_read_only(&self, pointee: TypeId) -> bool {
        let mut ctype = pointee;
        for _ in 0..8 {
            match self.program.types.get(ctype) {
                Some(CType::Const(_) | CType::Function { .. }) => return true,
                Some(CType::Typedef { target, .. }) => ctype = *target,
                Some(CType::Volatile(inner) | CType::Restrict(inner)) => ctype = *inner,
                _ => return false,
            }
        }
        false
    }

    /// A result of this type.
    fn make_up(
        &mut self,
        ty: Ty,
        ctype: TypeId,
        call: u32,
        n_bytes: u32,
    ) -> Result<Option<Value>, Stop> {
        let limit = self.inputs.outside_limit.unwrap_or(u32::MAX);
        let is_asked = (self.inputs.outside.len() as u32) < limit;
        Ok(match ty {
            Ty::Void => None,
            Ty::Ptr if self.fails(Failure::Resource) => Some(Value::known(0)),
            Ty::Ptr => {
                let pointee = self.program.pointee(ctype);
                Some(self.made_up_object(pointee, call, n_bytes)?.into())
            }
            Ty::Aggregate(bytes) => {
                let n_parts = if bytes > 16 { bytes / 16 } else { bytes.div_ceil(8) };
                Some(Value::Parts((0..n_parts).map(|_| Value::known(0)).collect()))
            }
            Ty::Int(_) | Ty::Float(_) if is_asked => self.outside(ty)?,
            _ => Some(Value::known(0)),
        })
    }

    /// An object of unknown size that begins with one of this type.
    pub(crate) fn made_up_object(
        &mut self,
        ctype: TypeId,
        call: u32,
        mut at_byte: u32,
    ) -> Result<Bits, Stop> {
        let (size, pieces) = scalars(self.program, ctype).unwrap_or((1, vec![(0, 1, false)]));
        let length = if size == 1 { TEXT_BYTES } else { size };
        let address = self.memory.allocate_open(length)?;
        self.memory.fill(address, length, Bits::known(0))?;
        let last = if size == 1 { TEXT_BYTES - 1 } else { size };
        let places = (0..last).step_by(size as usize);
        let places = places.flat_map(|start| pieces.iter().map(move |piece| (start, piece)));
        for (start, (offset, bytes, is_pointer)) in places.take(MAX_INPUTS) {
            if !is_pointer {
                let value =
                    self.take_input(Input::MadeUp { call, byte: at_byte }, *bytes as u32 * 8);
                self.memory.store(address + start + offset, *bytes, value)?;
            }
            at_byte += *bytes as u32;
        }
        Ok(Bits::known(address.into()))
    }

    /// Objects that the program uses and other code defines hold something from the start.
    pub(crate) fn make_up_objects(&mut self) -> Result<(), Stop> {
        let program = self.program;
        let mut number = OBJECTS;
        for (id, global) in program.globals.iter_enumerated() {
            let is_outside = global.init.is_none() && global.alias_of.is_none();
            let at = self.global(id);
            if !is_outside || global.size == 0 || !self.memory.is_outside(at) {
                continue;
            }
            let text = match &*global.name {
                "program_invocation_name" | "program_invocation_short_name" | "__progname" => {
                    Some(self.new_text("program")?)
                }
                "environ" | "__environ" => {
                    let list = self.memory.allocate(8, false)?;
                    self.memory.fill(list, 8, Bits::known(0))?;
                    Some(list)
                }
                _ => None,
            };
            if let Some(text) = text {
                self.memory.store(at, 8, Bits::known(text.into()))?;
                self.memory.define(at);
                continue;
            }
            let mut n_inputs = 0;
            let pieces = scalars(program, global.ctype).map(|(_, pieces)| pieces);
            for (offset, bytes, is_pointer) in pieces.unwrap_or_default() {
                if offset + bytes > global.size {
                    continue;
                }
                let value = match is_pointer {
                    // A handle: something that can be passed on.
                    true => Bits::known(self.memory.allocate_open(TEXT_BYTES)?.into()),
                    false if n_inputs < MAX_INPUTS => {
                        let input = Input::MadeUp { call: number, byte: offset as u32 };
                        self.take_input(input, bytes as u32 * 8)
                    }
                    false => Bits::known(0),
                };
                n_inputs += usize::from(!is_pointer);
                self.memory.store(at + offset, bytes, value)?;
            }
            self.memory.settle(at, global.size)?;
            number += 1;
        }
        Ok(())
    }

    /// What a function that is known by its kind alone gives: one of these numbers.
    pub(crate) fn one_of_many(&mut self, most: u32) -> Result<Value, Stop> {
        self.note_made_up();
        Ok(self.outside_below(most)?.into())
    }
}

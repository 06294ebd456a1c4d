//! The attributes specifications speak of, as the machine knows them.

use logic::{Comparison, FormulaId, TermId, Terms};
use program::LocId;

use super::access::{Reader, Wanted};
use super::context::Context;
use super::memory::{Data, ObjectKind};
use super::state::State;
use super::strings::{Length, Scanner};
use super::symbols::SymbolKind;
use super::value::Value;

/// Reads and writes attributes of values in a state.
pub struct Attributes<'c, 'p> {
    pub context: &'c mut Context<'p>,
    pub state: &'c mut State,
    pub loc: LocId,
}

impl Attributes<'_, '_> {
    /// Bytes from the pointer to the end of its object; `None` where nobody knows.
    pub fn room(&mut self, value: Value) -> Option<TermId> {
        let (object, offset) = value.as_pointer()?;
        let size = self.state.memory.get(object).size?;
        Some(self.context.terms.sub(size, offset))
    }

    /// Bytes from the start of the object to the pointer.
    pub fn offset(&mut self, value: Value) -> Option<TermId> {
        let (object, offset) = value.as_pointer()?;
        let object = self.state.memory.get(object);
        match object.before {
            _ if object.has_start => Some(offset),
            Some(before) => Some(self.context.terms.add(before, offset)),
            None => None,
        }
    }

    /// The length of the string at the pointer, in units of `width` bytes.
    pub fn length(&mut self, value: Value, width: u64) -> Option<Length> {
        let (object, offset) = value.as_pointer()?;
        let state = &mut *self.state;
        let mut scanner = Scanner {
            context: self.context,
            path: &mut state.path,
            memory: &mut state.memory,
            loc: self.loc,
            width,
        };
        Some(scanner.length(object, offset))
    }

    /// From now on a string of so many units stands at the pointer.
    pub fn set_length(&mut self, value: Value, units: TermId, width: u64, input: bool) {
        let Some((object, offset)) = value.as_pointer() else { return };
        let bytes = self.context.terms.scale(i128::from(width), units);
        let len = self.context.terms.add_constant(bytes, i128::from(width));
        let data = Data::String { units, width, input };
        self.state.memory.get_mut(object).write(offset, len, data, self.loc);
    }

    /// An attribute of the whole object, by name.
    pub fn get(&self, value: Value, name: &str) -> Option<Value> {
        let (object, _) = value.as_pointer()?;
        self.state.memory.get(object).attributes.get(name).copied()
    }

    pub fn set(&mut self, value: Value, name: &str, to: Value) {
        if let Some((object, _)) = value.as_pointer() {
            self.state.memory.get_mut(object).attributes.insert(name.into(), to);
        }
    }

    /// Holds where the pointer is null.
    pub fn is_null(&mut self, value: Value) -> Option<FormulaId> {
        match value {
            Value::Pointer { object, .. } => Some(self.state.memory.get(object).null),
            Value::Int(term) => {
                let zero = self.context.constant(0);
                Some(self.context.terms.compare(Comparison::Eq, term, zero))
            }
            Value::Function(_) => Some(Terms::FALSE),
            _ => None,
        }
    }

    /// Whether the bytes at the pointer hold a value: false where one surely is not.
    pub fn is_initialized(&mut self, value: Value, wanted: Wanted) -> bool {
        let Some((object, offset)) = value.as_pointer() else { return true };
        let state = &mut *self.state;
        let mut reader =
            Reader { context: self.context, path: &mut state.path, memory: &mut state.memory };
        !matches!(reader.read(object, offset, wanted), Value::Uninit(_))
    }

    /// Holds where the pointer leads to the start of what an allocation returned.
    pub fn is_heap(&self, value: Value) -> Option<bool> {
        let (object, _) = value.as_pointer()?;
        match self.state.memory.get(object).kind {
            ObjectKind::Heap { .. } => Some(true),
            ObjectKind::Pointee => None,
            ObjectKind::Local { .. } | ObjectKind::Global(_) | ObjectKind::Handle(_) => Some(false),
        }
    }

    /// Whether the value is up to outside input.
    pub fn is_input(&mut self, term: TermId) -> bool {
        let zero = self.context.constant(0);
        let formula = self.context.terms.compare(Comparison::Eq, term, zero);
        let symbols = self.context.symbols_in(formula);
        symbols.iter().any(|symbol| self.context.symbols.get(*symbol).kind == SymbolKind::Chosen)
    }
}

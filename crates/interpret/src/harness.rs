//! A run that starts in a function others call: what was there before is made up as it is read.
//!
//! Numbers that nobody set are inputs, byte by byte. A pointer leads to an object of its own of
//! the type it is read with, or is null; no two of them lead to the same. Objects that the
//! program writes may hold anything, and by default what they hold at first.

use program::{CType, Ty, TypeId};

use crate::Stop;
use crate::arithmetic::width;
use crate::exec::Machine;
use crate::inputs::{Input, Limits, Room};
use crate::nullable::nullable;
use crate::unset::UnsetBytes;
use crate::value::{Bits, Value};
use crate::world::{Buffered, Description};

/// Pointers that lead on in one run; the others are null.
const MAX_POINTERS: u32 = 200;
/// Pointers one behind the other.
const MAX_DEPTH: u32 = 5;
/// Bytes of a text that has no room behind it.
const TEXT: u64 = 40;
/// Bytes of an object whose size is not known, and of one that may be the first of many.
const UNKNOWN: u64 = 1024;
const SEVERAL: u64 = 4;
const LARGEST: u64 = 1 << 16;
/// Numbers of these pointers; those of parameters are smaller.
const FIRST_POINTER: u32 = 1 << 16;

/// What was made up behind pointers.
#[derive(Default)]
pub(crate) struct Made {
    n_pointers: u32,
    /// By address: how many pointers lie between the object and the parameters.
    depths: std::collections::BTreeMap<u64, u32>,
}

impl Machine<'_> {
    /// The arguments of the function that the run starts in.
    pub(crate) fn harnessed(&mut self, name: &str, limits: &Limits) -> Result<Vec<Value>, Stop> {
        let program = self.program;
        let mut functions = program.functions.iter_enumerated();
        let found = functions.find(|(_, f)| &*f.name == name && f.body.is_some());
        let (id, function) =
            found.ok_or_else(|| Stop::Unsupported(format!("no function {name}")))?;
        self.inputs.entry = Some(id);
        self.inputs.harness = limits.harness;
        let mut unset = UnsetBytes::new(&self.inputs.values, self.inputs.are_unknown);
        unset.adopt(&self.inputs.unknowns);
        unset.restrict();
        self.memory.unset = Some(unset);
        for global in self.notes.watch.map(|watch| watch.written.as_slice()).unwrap_or_default() {
            let at = self.global(*global);
            self.memory.make_up(at);
            self.inputs.made.depths.insert(at, 0);
        }
        let nullable = nullable(program, function);
        let mut arguments = Vec::new();
        for (index, param) in (0..).zip(&function.params) {
            let value = match (param.ty, param.by_value) {
                (_, Some(size)) => self.made(size, 0)?,
                (Ty::Int(bits), _) => self.take_input(Input::Parameter(index), bits),
                (Ty::Float(_), _) => Bits::known(self.inputs.values.get(Input::Parameter(index))),
                (Ty::Ptr, _)
                    if nullable.contains(&index) && self.is_possible(Input::IsNull(index)) =>
                {
                    Bits::known(0)
                }
                (Ty::Ptr, _) => self.made_behind(param.ctype, 0)?,
                (other, _) => {
                    return Err(Stop::Unsupported(format!("a parameter of type {other:?}")));
                }
            };
            arguments.push(value.into());
        }
        Ok(arguments)
    }

    /// A pointer that is read: where it was there before the run, what it leads to is made now.
    pub(crate) fn lead_on(
        &mut self,
        address: u64,
        ctype: TypeId,
        unset: Bits,
    ) -> Result<Bits, Stop> {
        if self.inputs.harness.is_none() || !self.memory.is_untouched(address, 8) {
            return Ok(unset);
        }
        let default = self.memory.default_of(address);
        let pointer = if default != 0 {
            Bits::known(default.into())
        } else {
            let number = self.inputs.made.n_pointers;
            let depth = self.inputs.made.depths.range(..=address).next_back();
            let depth = depth.map_or(0, |(_, depth)| depth + 1);
            self.inputs.made.n_pointers += 1;
            if number >= MAX_POINTERS
                || depth > MAX_DEPTH
                || self.is_possible(Input::IsNull(FIRST_POINTER + number))
            {
                Bits::known(0)
            } else {
                self.made_behind(ctype, depth)?
            }
        };
        self.memory.store(address, 8, pointer)?;
        Ok(pointer)
    }

    /// What a pointer of a type leads to.
    fn made_behind(&mut self, ctype: TypeId, depth: u32) -> Result<Bits, Stop> {
        let pointee = self.program.pointee(ctype);
        let size = self.program.size_of(pointee).unwrap_or(0);
        let is_function = matches!(self.program.resolved_type(pointee), CType::Function { .. });
        let is_text = size == 1 && self.program.is_signed(pointee) == Some(true);
        if is_text && self.inputs.harness == Some(Room::Exact) {
            let address = self.memory.allocate(TEXT, true)?;
            self.memory.fill(address, TEXT, Bits::known(0))?;
            self.memory.make_up(address);
            self.memory.store(address + TEXT - 1, 1, Bits::known(0))?;
            return Ok(Bits::known(address.into()));
        }
        match size {
            _ if is_function => Ok(Bits::known(self.memory.allocate_open(1)?.into())),
            0..=8 => self.made(UNKNOWN, depth),
            _ => self.made((size.saturating_mul(SEVERAL)).min(LARGEST), depth),
        }
    }

    /// An object of no known size, of which at least so much is there.
    fn made(&mut self, size: u64, depth: u32) -> Result<Bits, Stop> {
        let address = self.memory.allocate(size, true)?;
        self.memory.fill(address, size, Bits::known(0))?;
        self.memory.open(address);
        self.memory.make_up(address);
        self.inputs.made.depths.insert(address, depth);
        Ok(Bits::known(address.into()))
    }

    /// What a call through a pointer gives that was there before the run.
    pub(crate) fn call_made_up(&mut self, ctype: TypeId, result: Ty) -> Result<Value, Stop> {
        self.spend()?;
        let CType::Function { result: of, .. } = self.program.resolved_type(ctype) else {
            return Ok(Value::known(0));
        };
        Ok(match result {
            Ty::Void => Value::known(0),
            Ty::Ptr => self.made_behind(*of, 1)?.into(),
            Ty::Int(_) | Ty::Float(_) => {
                width(result)?;
                self.outside(result)?.unwrap_or(Value::known(0))
            }
            Ty::Aggregate(_) | Ty::Vector(_) => {
                return Err(Stop::Unsupported("a record from a function that is not known".into()));
            }
        })
    }

    /// A stream that was there before the run is one from which anything may be read.
    pub(crate) fn adopt_stream(&mut self, address: u64) -> bool {
        if self.inputs.harness.is_none() || !self.memory.is_untouched(address, 1) {
            return false;
        }
        let node = self.world.connection();
        let node = self.world.add(node);
        let description = Description {
            node,
            at: 0,
            can_read: true,
            can_write: true,
            appends: false,
            is_two_way: true,
            is_pipe: true,
            name: Vec::new(),
        };
        let Some(descriptor) = self.world.describe(description) else { return false };
        self.world.files.insert(address, Buffered { descriptor, ..Buffered::default() });
        true
    }
}

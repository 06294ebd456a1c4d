//! Where everything lies: addresses of globals, functions and labels, and constants' values.

use base::IdVec;
use program::{BlockId, Const, ConstId, FunctionId, GlobalId, Linkage, Program, Ty};

use crate::exec::Machine;
use crate::memory::Memory;
use crate::value::{Bits, Value, mask};
use crate::world::FILE_BYTES;
use crate::{FaultKind, Stop, float};

/// Addresses of code lie where no object does.
const FUNCTIONS: u64 = 1 << 62;
const LABELS: u64 = 1 << 61;

pub struct Layout {
    globals: IdVec<GlobalId, u64>,
    /// Where `stdin`, `stdout` and `stderr` point to; 0 where the program does not mention them.
    pub standard: [u64; 3],
}

const STANDARD: [&str; 3] = ["stdin", "stdout", "stderr"];

/// What an address of code means.
pub enum Target {
    Function(FunctionId),
    Label(BlockId),
}

impl Target {
    pub fn at(address: u128) -> Option<Self> {
        let address = address as u64;
        if address & FUNCTIONS != 0 {
            Some(Target::Function(FunctionId(((address ^ FUNCTIONS) / 16) as u32)))
        } else if address & LABELS != 0 {
            Some(Target::Label(BlockId((address ^ LABELS) as u32)))
        } else {
            None
        }
    }
}

impl Target {
    /// The function a call of this address means.
    pub fn function(program: &Program, address: u128) -> Result<FunctionId, Stop> {
        match Self::at(address) {
            Some(Target::Function(id)) if program.functions.get(id).is_some() => Ok(id),
            _ => Err(Stop::Fault(FaultKind::Null)),
        }
    }
}

/// What an object of the C library that programs may see holds at first.
fn library_value(name: &str) -> Option<u128> {
    Some(match name {
        "optind" | "opterr" => 1,
        "optopt" => u128::from(b'?'),
        "optarg" => 0,
        _ => return None,
    })
}

impl Layout {
    /// Every global in memory, with what its initialiser says.
    pub fn new(program: &Program, memory: &mut Memory) -> Result<Self, Stop> {
        let mut globals = IdVec::new();
        for global in &program.globals {
            globals.push(memory.allocate(global.size, false)?);
        }
        for (id, global) in program.globals.iter_enumerated() {
            let Some(name) = &global.alias_of else { continue };
            let mut others = program.globals.iter_enumerated();
            if let Some((other, _)) = others.find(|(_, other)| other.name == *name) {
                globals[id] = globals[other];
            }
        }
        let mut layout = Self { globals, standard: [0; 3] };
        for (id, global) in program.globals.iter_enumerated() {
            let standard = STANDARD.iter().position(|name| **name == *global.name);
            if let Some(number) = standard.filter(|_| global.init.is_none()) {
                let stream = memory.allocate(FILE_BYTES, false)?;
                memory.store(layout.globals[id], 8, Bits::known(u128::from(stream)))?;
                layout.standard[number] = stream;
                continue;
            }
            if let Some(value) = library_value(&global.name).filter(|_| global.init.is_none()) {
                memory.store(layout.globals[id], global.size, Bits::known(value))?;
                continue;
            }
            if global.init.is_none() && global.alias_of.is_none() {
                memory.leave_outside(layout.globals[id]);
            }
            let Some(pieces) = global.init.as_ref().filter(|_| global.alias_of.is_none()) else {
                continue;
            };
            memory.fill(layout.globals[id], global.size, Bits::known(0))?;
            for piece in pieces {
                let at = layout.globals[id] + piece.offset;
                layout.initialise(program, memory, at, piece.value)?;
            }
            if global.is_constant {
                memory.make_constant(layout.globals[id]);
            }
        }
        Ok(layout)
    }

    fn initialise(
        &self,
        program: &Program,
        memory: &mut Memory,
        at: u64,
        value: ConstId,
    ) -> Result<(), Stop> {
        match &program.constants[value] {
            Const::Bytes(bytes) => {
                let stores = bytes
                    .iter()
                    .zip(at..)
                    .map(|(byte, at)| memory.store(at, 1, Bits::known(u128::from(*byte))));
                stores.collect()
            }
            Const::Zero(ty) => memory.fill(at, ty.size(), Bits::known(0)),
            constant => {
                let value = self.constant(program, constant)?;
                let bits = value.bits().ok_or(Stop::Fault(FaultKind::Uninitialised))?;
                memory.store(at, bytes_of(constant.ty()), bits)
            }
        }
    }

    pub fn constant(&self, program: &Program, constant: &Const) -> Result<Value, Stop> {
        Ok(match constant {
            Const::Int { bits, value } => Value::known(*value as u128 & mask(*bits)),
            Const::Float { bits, as_f64_bits, .. } => {
                let encoded = float::encode(f64::from_bits(*as_f64_bits), *bits);
                let wide = || Stop::Unsupported(format!("a number of {bits} bits"));
                Value::known(encoded.ok_or_else(wide)?)
            }
            Const::Null => Value::known(0),
            Const::Global { global, offset } => {
                Value::known(u128::from(self.globals[*global].wrapping_add_signed(*offset)))
            }
            Const::Function(id) => {
                let id = resolve_alias(program, *id);
                let function = &program.functions[id];
                if function.linkage == Linkage::Weak && function.body.is_none() {
                    return Ok(Value::known(0));
                }
                Value::known(u128::from(FUNCTIONS | (u64::from(id.0) * 16)))
            }
            Const::Label { block, .. } => Value::known(u128::from(LABELS | u64::from(block.0))),
            Const::Zero(Ty::Aggregate(bytes)) => {
                let n_parts = if *bytes > 16 { bytes / 16 } else { bytes.div_ceil(8) };
                Value::Parts((0..n_parts).map(|_| Value::known(0)).collect())
            }
            Const::Zero(_) => Value::known(0),
            Const::Undef(Ty::Aggregate(_)) => Value::Parts(Vec::new()),
            Const::Undef(ty) => Bits::unset(ty.size() as u32 * 8).into(),
            Const::Aggregate { elements, .. } => {
                let parts =
                    elements.iter().map(|id| self.constant(program, &program.constants[*id]));
                Value::Parts(parts.collect::<Result<_, _>>()?)
            }
            Const::Bytes(_) | Const::Opaque { .. } => {
                return Err(Stop::Unsupported(format!("the constant {constant:?}")));
            }
        })
    }
}

impl Machine<'_> {
    /// Where a global lies.
    pub(crate) fn global(&self, id: GlobalId) -> u64 {
        self.layout.globals[id]
    }

    pub(crate) fn constant(&self, id: ConstId) -> Result<Value, Stop> {
        self.layout.constant(self.program, &self.program.constants[id])
    }
}

/// Bytes a constant initialises: an extended number leaves its padding alone.
fn bytes_of(ty: Ty) -> u64 {
    if ty == Ty::Float(80) { 10 } else { ty.size() }
}

/// The function that has the code of this one.
pub fn resolve_alias(program: &Program, id: FunctionId) -> FunctionId {
    let function = &program.functions[id];
    let Some(name) = function.alias_of.as_ref().filter(|_| function.body.is_none()) else {
        return id;
    };
    let mut others = program.functions.iter_enumerated();
    others.find(|(_, other)| other.name == *name).map_or(id, |(other, _)| other)
}

//! Parameters of a function that a run starts in, instead of in `main`.

use program::{CType, Program, Ty, TypeId};

use crate::Stop;
use crate::exec::Machine;
use crate::inputs::{Input, Limits};
use crate::nullable::nullable;
use crate::value::{Bits, Value};

impl Machine<'_> {
    pub(crate) fn unknown_parameters(
        &mut self,
        name: &str,
        limits: &Limits,
    ) -> Result<Vec<Value>, Stop> {
        let program = self.program;
        let mut functions = program.functions.iter_enumerated();
        let found = functions.find(|(_, f)| &*f.name == name && f.body.is_some());
        let (id, function) =
            found.ok_or_else(|| Stop::Unsupported(format!("no function {name}")))?;
        self.inputs.entry = Some(id);
        let nullable = nullable(program, function);
        let mut arguments = Vec::new();
        for (index, param) in (0..).zip(&function.params) {
            let value = match param.ty {
                Ty::Int(bits) => self.take_input(Input::Parameter(index), bits),
                Ty::Ptr if nullable.contains(&index) && self.is_possible(Input::IsNull(index)) => {
                    Bits::known(0)
                }
                Ty::Ptr => self.unknown_object(index, param.ctype, limits)?,
                other => return Err(Stop::Unsupported(format!("a parameter of type {other:?}"))),
            };
            arguments.push(value.into());
        }
        Ok(arguments)
    }

    /// Memory behind a pointer parameter: numbers are inputs, pointers are null.
    fn unknown_object(
        &mut self,
        parameter: u32,
        ctype: TypeId,
        limits: &Limits,
    ) -> Result<Bits, Stop> {
        let element = self.program.pointee(ctype);
        let (size, pieces) = scalars(self.program, element).unwrap_or((1, vec![(0, 1, false)]));
        let is_text = size == 1;
        let count = u64::from(if is_text { limits.argument_bytes + 1 } else { limits.elements });
        self.inputs.has_objects = true;
        let address = self.memory.allocate_open(size * count)?;
        self.memory.fill(address, size * count, Bits::known(0))?;
        for index in 0..count {
            for (offset, bytes, is_pointer) in &pieces {
                let at = index * size + offset;
                let is_end = is_text && index + 1 == count;
                if *is_pointer || is_end {
                    continue;
                }
                let input = Input::Pointee { parameter, offset: at as u32 };
                let value = self.take_input(input, *bytes as u32 * 8);
                self.memory.store(address + at, *bytes, value)?;
            }
        }
        Ok(Bits::known(u128::from(address)))
    }
}

/// Offset, bytes, and whether it is a pointer.
pub(crate) type Scalar = (u64, u64, bool);

/// The size of a type, and offset, bytes and whether it is a pointer of each scalar in it.
pub(crate) fn scalars(program: &Program, ctype: TypeId) -> Option<(u64, Vec<Scalar>)> {
    let size = program.size_of(ctype).filter(|size| (1..=4096).contains(size))?;
    let mut pieces = Vec::new();
    collect_scalars(program, ctype, 0, &mut pieces, 0)?;
    Some((size, pieces))
}

fn collect_scalars(
    program: &Program,
    ctype: TypeId,
    at: u64,
    pieces: &mut Vec<Scalar>,
    depth: u32,
) -> Option<()> {
    if depth > 16 || pieces.len() > 4096 {
        return None;
    }
    match program.resolved_type(ctype) {
        CType::Bool => pieces.push((at, 1, false)),
        CType::Int { bits, .. } | CType::Enum { bits, .. } | CType::Float { bits, .. } => {
            pieces.push((at, u64::from(*bits) / 8, false));
        }
        CType::Pointer(_) => pieces.push((at, 8, true)),
        CType::Array { element, count } => {
            let size = program.size_of(*element)?;
            for index in 0..count.unwrap_or(0).min(4096) {
                collect_scalars(program, *element, at + index * size, pieces, depth + 1)?;
            }
        }
        CType::Record(record) => {
            for member in &program.records[*record].members {
                if member.is_bit_field {
                    continue;
                }
                let offset = at + member.offset_bits / 8;
                collect_scalars(program, member.ctype, offset, pieces, depth + 1)?;
            }
        }
        _ => return None,
    }
    Some(())
}

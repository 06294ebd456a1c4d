//! Constants of a unit, interned.

use base::IdVec;
use program::{BlockId, Const, ConstId, FunctionId, GlobalId, Ty};
use rustc_hash::FxHashMap;

use super::reader::{Corrupt, Read, Reader};

#[derive(Default)]
pub struct Constants {
    pub constants: IdVec<ConstId, Const>,
    ids: FxHashMap<Const, ConstId>,
    /// By their numbers in the stream.
    numbered: Vec<ConstId>,
}

/// A machine type: its kind in the low three bits, its size above.
pub fn read_ty(reader: &mut Reader) -> Read<Ty> {
    let code = reader.number()?;
    let size = code >> 3;
    let bits = u32::try_from(size).map_err(|_| Corrupt("a type is too wide"))?;
    match code & 7 {
        0 => Ok(Ty::Void),
        1 => Ok(Ty::Int(bits)),
        2 => Ok(Ty::Float(bits)),
        3 => Ok(Ty::Ptr),
        4 => Ok(Ty::Aggregate(size)),
        5 => Ok(Ty::Vector(size)),
        _ => Err(Corrupt("a machine type of no known kind")),
    }
}

impl Constants {
    pub fn intern(&mut self, constant: Const) -> ConstId {
        if let Some(&known) = self.ids.get(&constant) {
            return known;
        }
        let id = self.constants.push(constant.clone());
        self.ids.insert(constant, id);
        id
    }

    pub fn numbered(&self, number: u64) -> Read<ConstId> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.numbered.get(index).copied().ok_or(Corrupt("a constant outside the table"))
    }

    pub fn read(&mut self, reader: &mut Reader) -> Read<()> {
        let count = reader.count()?;
        self.numbered.reserve(count);
        for _ in 0..count {
            let constant = self.read_one(reader)?;
            let id = self.intern(constant);
            self.numbered.push(id);
        }
        Ok(())
    }

    fn read_one(&mut self, reader: &mut Reader) -> Read<Const> {
        Ok(match reader.byte()? {
            0 => Const::Int { bits: reader.small()?, value: reader.signed()?.into() },
            1 => {
                let (bits, low, high) = (reader.small()?, reader.signed()?, reader.signed()?);
                Const::Int { bits, value: i128::from(high) << 64 | i128::from(low as u64) }
            }
            2 => Const::Float {
                bits: reader.small()?,
                as_f64_bits: reader.number()?,
                exact: reader.flag()?,
            },
            3 => Const::Null,
            4 => Const::Global { global: GlobalId(reader.small()?), offset: reader.signed()? },
            5 => Const::Function(FunctionId(reader.small()?)),
            6 => Const::Label {
                function: FunctionId(reader.small()?),
                block: BlockId(reader.small()?),
            },
            7 => Const::Zero(read_ty(reader)?),
            8 => Const::Undef(read_ty(reader)?),
            9 => {
                let ty = read_ty(reader)?;
                let elements = (0..reader.count()?)
                    .map(|_| reader.number().and_then(|number| self.numbered(number)))
                    .collect::<Read<_>>()?;
                Const::Aggregate { ty, elements }
            }
            10 => Const::Bytes(reader.bytes()?.to_vec()),
            11 => Const::Opaque { ty: read_ty(reader)?, text: reader.text()? },
            _ => return Err(Corrupt("a constant of no known kind")),
        })
    }

    /// Globals and functions that constants name must exist.
    pub fn check(&self, globals: usize, functions: usize) -> Read<()> {
        let is_known = |constant: &Const| match constant {
            Const::Global { global, .. } => (global.0 as usize) < globals,
            Const::Function(function) | Const::Label { function, .. } => {
                (function.0 as usize) < functions
            }
            _ => true,
        };
        let all = self.constants.iter().all(is_known);
        if all { Ok(()) } else { Err(Corrupt("a constant names a symbol outside the table")) }
    }
}

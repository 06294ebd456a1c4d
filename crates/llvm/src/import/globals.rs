//! Global objects and their initialisers.

use program::{CType, Global, GlobalId, InitPiece, Linkage, TypeId, UnitId};

use super::Unit;
use super::reader::{Corrupt, Read, Reader};
use super::shape::Shape;

const IS_CONSTANT: u32 = 1;
const IS_THREAD_LOCAL: u32 = 2;
const IS_STRING_LITERAL: u32 = 4;
const HAS_INITIALIZER: u32 = 8;

pub fn read_linkage(reader: &mut Reader) -> Read<Linkage> {
    match reader.byte()? {
        0 => Ok(Linkage::External),
        1 => Ok(Linkage::Internal),
        2 => Ok(Linkage::Weak),
        3 => Ok(Linkage::Inline),
        4 => Ok(Linkage::Common),
        _ => Err(Corrupt("a linkage of no known kind")),
    }
}

impl Unit<'_> {
    pub fn read_globals(&mut self, reader: &mut Reader) -> Read<()> {
        for _ in 0..reader.count()? {
            let global = self.read_global(reader)?;
            self.globals.push(global);
        }
        for _ in 0..reader.count()? {
            self.read_alias(reader)?;
        }
        Ok(())
    }

    fn read_global(&mut self, reader: &mut Reader) -> Read<Global> {
        let name = reader.text()?;
        let linkage = read_linkage(reader)?;
        let function = Some(reader.text()?).filter(|function| !function.is_empty());
        let declared = self.types.numbered(reader.small()?);
        let size = reader.number()?;
        let flags = reader.small()?;
        let loc = self.locs.at(reader.small()?, 0);
        let shape = Shape::read(reader)?;
        let is_string_literal = flags & IS_STRING_LITERAL != 0;
        let ctype = if declared.is_known() {
            declared
        } else {
            self.undeclared_type(&shape, is_string_literal)
        };
        let init = (flags & HAS_INITIALIZER != 0)
            .then(|| (0..reader.count()?).map(|_| self.read_piece(reader)).collect::<Read<_>>())
            .transpose()?;
        Ok(Global {
            name,
            unit: UnitId(0),
            linkage,
            function,
            ctype,
            size,
            is_constant: flags & IS_CONSTANT != 0,
            is_thread_local: flags & IS_THREAD_LOCAL != 0,
            is_string_literal,
            init,
            alias_of: None,
            loc,
        })
    }

    fn read_piece(&self, reader: &mut Reader) -> Read<InitPiece> {
        Ok(InitPiece {
            offset: reader.number()?,
            value: self.constants.numbered(reader.number()?)?,
        })
    }

    /// Objects that are only declared here have no debug type; a struct's name tells it,
    /// and a literal of bytes is an array of characters.
    fn undeclared_type(&mut self, shape: &Shape, is_literal: bool) -> TypeId {
        match shape {
            Shape::Struct { name, size } => {
                let record = self.struct_names.record(*name, *size, &self.types);
                record.map_or(TypeId::UNKNOWN, |record| self.types.record_type(record))
            }
            Shape::Array { count, element } => {
                let element = self.undeclared_type(element, is_literal);
                if !element.is_known() {
                    return TypeId::UNKNOWN;
                }
                self.types.intern(CType::Array { element, count: Some(*count) })
            }
            Shape::Scalar { size: 1 } if is_literal => {
                self.types.intern(CType::Int { name: "char".into(), bits: 8, signed: true })
            }
            Shape::Scalar { .. } => TypeId::UNKNOWN,
        }
    }

    /// A second name of an object.
    fn read_alias(&mut self, reader: &mut Reader) -> Read<()> {
        let name = reader.text()?;
        let linkage = read_linkage(reader)?;
        let is_resolved = reader.flag()?;
        let target = self.globals.get(GlobalId(reader.small()?)).filter(|_| is_resolved).cloned();
        if let Some(target) = target {
            let alias_of = Some(target.name.clone());
            self.globals.push(Global { name, linkage, init: None, alias_of, ..target });
        }
        Ok(())
    }
}

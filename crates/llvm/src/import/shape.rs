//! What an object looks like to the machine, and how to find the part of a C object that
//! an address or an access means.

use program::{CType, Member, PathStep, RecordId, RecordKind, Ty, TypeId};

use super::reader::{Corrupt, Read, Reader};
use super::types::Types;

/// A machine-level object type, as far as it helps to recognise the C type.
#[derive(Clone, Debug)]
pub enum Shape {
    Scalar { size: u64 },
    Struct { name: u32, size: u64 },
    Array { count: u64, element: Box<Shape> },
}

impl Shape {
    pub fn read(reader: &mut Reader) -> Read<Shape> {
        Self::read_nested(reader, 0)
    }

    fn read_nested(reader: &mut Reader, depth: u32) -> Read<Shape> {
        match reader.byte()? {
            0 => Ok(Shape::Scalar { size: reader.number()? }),
            1 => Ok(Shape::Struct { name: reader.small()?, size: reader.number()? }),
            2 if depth < 100 => {
                let count = reader.number()?;
                Ok(Shape::Array { count, element: Self::read_nested(reader, depth + 1)?.into() })
            }
            _ => Err(Corrupt("a shape of no known kind")),
        }
    }
}

/// Which C records a struct of the machine level can be. Its name is "struct.TAG", with a
/// number behind where the unit has several, or "struct.anon".
#[derive(Default)]
pub struct StructNames {
    candidates: Vec<Vec<RecordId>>,
    /// The kind of a struct or union without a name.
    anonymous: Vec<Option<RecordKind>>,
}

impl StructNames {
    pub fn read(reader: &mut Reader, types: &Types) -> Read<Self> {
        let mut by_name = rustc_hash::FxHashMap::<&str, Vec<RecordId>>::default();
        for (id, record) in types.records.iter_enumerated() {
            if record.complete && !record.name.is_empty() {
                by_name.entry(&record.name).or_default().push(id);
            }
        }
        let mut names = Self::default();
        for _ in 0..reader.count()? {
            let full = reader.text()?;
            let name = full.split_once('.').map_or(&*full, |(_, name)| name);
            let (stem, number) = name.rsplit_once('.').unwrap_or((name, ""));
            let is_numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            let name = if is_numbered { stem } else { name };
            let is_union = full.starts_with("union.");
            let kind = if is_union { RecordKind::Union } else { RecordKind::Struct };
            let candidates = by_name.get(name).cloned().unwrap_or_default();
            names.anonymous.push((name == "anon" || name.is_empty()).then_some(kind));
            names.candidates.push(
                candidates.into_iter().filter(|id| types.records[*id].kind == kind).collect(),
            );
        }
        Ok(names)
    }

    fn is(&self, name: u32, size: u64, record: RecordId, types: &Types) -> bool {
        let name = name as usize;
        let layout = &types.records[record];
        if layout.size != size {
            return false;
        }
        self.candidates.get(name).is_some_and(|candidates| candidates.contains(&record))
            || layout.name.is_empty() && self.anonymous.get(name) == Some(&Some(layout.kind))
    }

    /// The record a struct must be, going by its name and size alone.
    pub fn record(&self, name: u32, size: u64, types: &Types) -> Option<RecordId> {
        let candidates = self.candidates.get(name as usize)?;
        candidates.iter().copied().find(|record| types.records[*record].size == size)
    }
}

/// The part of an object that is looked for.
#[derive(Clone, Copy)]
pub enum Want<'a> {
    Scalar(Ty, u64),
    Shape(&'a Shape, &'a StructNames),
}

impl Want<'_> {
    fn accepts(&self, ctype: TypeId, types: &Types) -> bool {
        match *self {
            Want::Scalar(ty, size) => {
                types.size(ctype) == Some(size)
                    && matches!(
                        (types.strip(ctype), ty),
                        (CType::Pointer(_), Ty::Ptr)
                            | (CType::Float { .. }, Ty::Float(_))
                            | (CType::Vector { .. }, Ty::Vector(_))
                            | (CType::Bool | CType::Int { .. } | CType::Enum { .. }, Ty::Int(_))
                    )
            }
            Want::Shape(shape, names) => shape_is(shape, ctype, names, types),
        }
    }
}

fn shape_is(shape: &Shape, ctype: TypeId, names: &StructNames, types: &Types) -> bool {
    match (shape, types.strip(ctype)) {
        (Shape::Struct { name, size }, CType::Record(record)) => {
            names.is(*name, *size, *record, types)
        }
        (Shape::Array { count, element }, CType::Array { element: part, count: declared }) => {
            declared.unwrap_or(0) == *count && shape_is(element, *part, names, types)
        }
        (Shape::Scalar { .. }, CType::Record(_) | CType::Array { .. }) => false,
        (Shape::Scalar { size }, CType::Void | CType::Function { .. }) => *size == 1,
        (Shape::Scalar { size }, _) => types.size(ctype) == Some(*size),
        // Complex numbers are pairs to the machine.
        (Shape::Struct { size, .. }, CType::Complex { .. }) => types.size(ctype) == Some(*size),
        _ => false,
    }
}

/// Goes from an object of type `from` down to the part at `offset` bytes that fits, and
/// notes the steps in `path`. The outermost fitting part is taken.
pub fn descend(
    types: &Types,
    from: TypeId,
    offset: u64,
    want: Want,
    path: &mut Vec<PathStep>,
) -> Option<TypeId> {
    /// C objects nest this deep only in a garbled program.
    const DEEPEST: usize = 64;
    if offset == 0 && want.accepts(from, types) {
        return Some(from);
    }
    if path.len() > DEEPEST {
        return None;
    }
    match *types.strip(from) {
        CType::Array { element, .. } => {
            let size = types.size(element).filter(|size| *size > 0)?;
            let index = PathStep::Index { term: None, constant: (offset / size) as i64 };
            step(types, element, offset % size, want, path, index)
        }
        CType::Record(record) if types.records[record].kind == RecordKind::Union => {
            let members = &types.records[record].members;
            let fits = |member: &Member| {
                !member.is_bit_field
                    && descend(types, member.ctype, offset, want, &mut vec![]).is_some()
            };
            let fitting: Vec<u32> =
                (0..).zip(members).filter(|(_, member)| fits(member)).map(|(at, _)| at).collect();
            let first = members.get(*fitting.first()? as usize)?.ctype;
            let members = PathStep::UnionMembers { record, members: fitting.into() };
            step(types, first, offset, want, path, members)
        }
        CType::Record(record) => {
            let (member, start, ctype) = member_at(types, record, offset)?;
            let field = PathStep::Field { record, member };
            step(types, ctype, offset - start, want, path, field)
        }
        _ => None,
    }
}

fn step(
    types: &Types,
    into: TypeId,
    offset: u64,
    want: Want,
    path: &mut Vec<PathStep>,
    taken: PathStep,
) -> Option<TypeId> {
    path.push(taken);
    let found = descend(types, into, offset, want, path);
    if found.is_none() {
        path.pop();
    }
    found
}

/// The member of a struct that covers a byte: its index, its first byte, its type. A
/// flexible array member covers all that follows it; bit-fields are never meant.
pub fn member_at(types: &Types, record: RecordId, offset: u64) -> Option<(u32, u64, TypeId)> {
    let record = &types.records[record];
    let covers = |member: &Member| {
        let start = member.offset_bits / 8;
        let is_last_array = types.size(member.ctype).unwrap_or(0) == 0;
        !member.is_bit_field
            && start <= offset
            && (offset < start + member.size_bits / 8 || is_last_array)
    };
    let (index, member) = record.members.iter().enumerate().rfind(|(_, member)| covers(member))?;
    Some((index as u32, member.offset_bits / 8, member.ctype))
}

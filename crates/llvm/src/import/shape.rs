//! What an object looks like to the machine, and how to find the part of a C object that
//! an address or an access means.

use program::{CType, Member, PathStep, RecordId, RecordKind, Ty, TypeId};

use rustc_hash::FxHashMap;

use super::constants::read_ty;
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

/// Which C records the structs of the machine level can be.
#[derive(Default)]
pub struct StructNames {
    candidates: Vec<Vec<RecordId>>,
}

impl StructNames {
    pub fn read(reader: &mut Reader, types: &Types) -> Read<Self> {
        let mut by_name = FxHashMap::<&str, Vec<RecordId>>::default();
        let mut by_size = FxHashMap::<u64, Vec<RecordId>>::default();
        for (id, record) in types.records.iter_enumerated().filter(|(_, record)| record.complete) {
            by_name.entry(&record.name).or_default().push(id);
            by_size.entry(record.size).or_default().push(id);
        }
        let mut names = Self::default();
        for _ in 0..reader.count()? {
            let (full, size) = (reader.text()?, reader.number()?);
            let elements =
                (0..reader.count()?).map(|_| Element::read(reader)).collect::<Read<Vec<_>>>()?;
            // A struct without any name only serves to pass the pieces of a record.
            let found = match full.is_empty() {
                true => by_size.get(&size),
                false => by_name.get(tag(&full)),
            };
            let is_union = full.starts_with("union.");
            let fits = |id: &RecordId| match types.records[*id].kind {
                RecordKind::Union => is_union,
                RecordKind::Struct if tag(&full).is_empty() && !full.is_empty() => {
                    !is_union && Element::make_up(&elements, *id, types)
                }
                RecordKind::Struct => !is_union,
            };
            let found = found.into_iter().flatten().copied().filter(fits);
            names.candidates.push(found.collect());
        }
        Ok(names)
    }

    fn is(&self, name: u32, size: u64, record: RecordId, types: &Types) -> bool {
        let candidates = self.candidates.get(name as usize);
        types.records[record].size == size
            && candidates.is_some_and(|candidates| candidates.contains(&record))
    }

    /// The record a struct must be, going by its name and size alone: none where several
    /// could be meant.
    pub fn record(&self, name: u32, size: u64, types: &Types) -> Option<RecordId> {
        let candidates = self.candidates.get(name as usize)?;
        let mut fitting = candidates.iter().filter(|record| types.records[**record].size == size);
        let first = *fitting.next()?;
        let is_tagged = !types.records[first].name.is_empty();
        (is_tagged || fitting.next().is_none()).then_some(first)
    }
}

/// The tag in "struct.TAG", which has a number behind it where the unit has several such;
/// nothing for "struct.anon".
fn tag(full: &str) -> &str {
    let name = full.split_once('.').map_or(full, |(_, name)| name);
    let (stem, number) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let name = if is_numbered { stem } else { name };
    if name == "anon" { "" } else { name }
}

/// What lies at an offset of a machine-level struct.
struct Element {
    offset: u64,
    size: u64,
    ty: Ty,
}

impl Element {
    fn read(reader: &mut Reader) -> Read<Self> {
        Ok(Self { offset: reader.number()?, size: reader.number()?, ty: read_ty(reader)? })
    }

    /// Whether every member of a record has its element.
    fn make_up(elements: &[Element], record: RecordId, types: &Types) -> bool {
        let has_element = |member: &Member| {
            let at = |element: &&Element| element.offset == member.offset_bits / 8;
            let fits = |element: &Element| match types.strip(member.ctype) {
                CType::Pointer(_) => element.ty == Ty::Ptr,
                CType::Float { .. } => matches!(element.ty, Ty::Float(_)),
                CType::Record(_) | CType::Array { .. } => matches!(element.ty, Ty::Aggregate(_)),
                _ => true,
            };
            let is_sized = |element: &Element| element.size == member.size_bits / 8;
            member.is_bit_field
                || elements.iter().filter(at).any(|element| fits(element) && is_sized(element))
        };
        types.records[record].members.iter().all(has_element)
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

//! Which bytes of an object are one cell.
//!
//! A cell is named by a canonical offset: all elements of an array are its first one, and
//! a union that holds an array is one cell. Canonical offsets come from the object's C
//! type alone, so every access agrees on them, whatever order they are met in.

use base::IdVec;
use program::{CType, Program, Record, RecordId, TypeId};

use super::inside::Inside;

/// What is known about the insides of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One cell.
    Whole,
    /// Bytes of no known type: constant offsets are cells of their own.
    Bytes,
    Type(TypeId),
    /// As many of the type as the allocation has room for.
    Array(TypeId),
}

/// Sizes of all C types of a program.
pub struct Types<'a> {
    types: &'a IdVec<TypeId, CType>,
    pub records: &'a IdVec<RecordId, Record>,
    sizes: Vec<u64>,
    /// The plain type of each record.
    of_record: Vec<TypeId>,
}

/// Type definitions nest by value only so deep; a longer chain is a cycle in bad input.
pub(super) const MAX_NESTING: u32 = 64;

impl<'a> Types<'a> {
    pub fn new(program: &'a Program) -> Self {
        let mut types = Self {
            types: &program.types,
            records: &program.records,
            sizes: vec![],
            of_record: vec![TypeId::UNKNOWN; program.records.len()],
        };
        for (id, ctype) in program.types.iter_enumerated() {
            if let CType::Record(record) = ctype
                && let Some(known) = types.of_record.get_mut(record.0 as usize)
                && !known.is_known()
            {
                *known = id;
            }
        }
        types.sizes = program.types.ids().map(|ty| types.compute_size(ty, MAX_NESTING)).collect();
        types
    }

    fn compute_size(&self, ty: TypeId, depth: u32) -> u64 {
        let Some(ctype) = self.types.get(ty).filter(|_| depth > 0) else { return 0 };
        match ctype {
            CType::Unknown | CType::Void | CType::Function { .. } => 0,
            CType::Bool => 1,
            CType::Int { bits, .. } | CType::Enum { bits, .. } => u64::from(bits.div_ceil(8)),
            CType::Float { bits: 80, .. } => 16,
            CType::Float { bits, .. } => u64::from(bits / 8),
            CType::Complex { bits } => u64::from(bits / 8),
            CType::Pointer(_) => 8,
            CType::Array { element, count } => {
                self.compute_size(*element, depth - 1).saturating_mul(count.unwrap_or(0))
            }
            CType::Vector { element, count } => {
                self.compute_size(*element, depth - 1).saturating_mul(*count)
            }
            CType::Record(record) => self.records.get(*record).map_or(0, |record| record.size),
            CType::Typedef { target, .. } => self.compute_size(*target, depth - 1),
            CType::Const(inner)
            | CType::Volatile(inner)
            | CType::Restrict(inner)
            | CType::Atomic(inner) => self.compute_size(*inner, depth - 1),
        }
    }

    pub fn size(&self, ty: TypeId) -> u64 {
        self.sizes.get(ty.0 as usize).copied().unwrap_or(0)
    }

    /// The type without names and qualifiers.
    pub fn plain(&self, mut ty: TypeId) -> TypeId {
        for _ in 0..MAX_NESTING {
            match self.types.get(ty) {
                Some(CType::Typedef { target: inner, .. })
                | Some(CType::Const(inner))
                | Some(CType::Volatile(inner))
                | Some(CType::Restrict(inner))
                | Some(CType::Atomic(inner)) => ty = *inner,
                _ => return ty,
            }
        }
        TypeId::UNKNOWN
    }

    pub fn plain_ctype(&self, ty: TypeId) -> &'a CType {
        self.types.get(self.plain(ty)).unwrap_or(&CType::Unknown)
    }

    /// What a pointer type points to.
    pub fn pointee(&self, ty: TypeId) -> Option<TypeId> {
        match self.plain_ctype(ty) {
            CType::Pointer(target) => Some(*target),
            CType::Array { element, .. } => Some(*element),
            _ => None,
        }
    }

    /// The plain type of a record.
    pub fn type_of(&self, record: RecordId) -> TypeId {
        self.of_record.get(record.0 as usize).copied().unwrap_or(TypeId::UNKNOWN)
    }

    /// The type of an array's elements; any other type itself.
    pub fn element(&self, ty: TypeId) -> TypeId {
        match self.plain_ctype(ty) {
            CType::Array { element, .. } => self.plain(*element),
            _ => self.plain(ty),
        }
    }

    pub fn record(&self, ty: TypeId) -> Option<RecordId> {
        match self.plain_ctype(ty) {
            CType::Record(record) => Some(*record),
            _ => None,
        }
    }

    /// The canonical offset of the cell that `offset` lies in; none where the offset lies
    /// outside of what the layout describes.
    pub fn canonical(&self, layout: Layout, offset: i64, size: Option<u64>) -> Option<i64> {
        match layout {
            Layout::Whole => Some(0),
            Layout::Bytes => {
                (offset >= 0 && size.is_none_or(|size| offset <= size as i64)).then_some(offset)
            }
            Layout::Type(ty) => {
                let is_array = matches!(self.plain_ctype(ty), CType::Array { .. });
                let whole = (self.size(ty) as i64).max(size.unwrap_or(0) as i64);
                if !is_array && (offset < 0 || offset >= whole.max(1)) {
                    return None;
                }
                self.canonical_in(ty, offset, MAX_NESTING)
            }
            Layout::Array(ty) => {
                let element = self.size(ty) as i64;
                if offset < 0 || element == 0 || offset < element {
                    let inside = || self.canonical_in(ty, offset, MAX_NESTING);
                    return (offset >= 0).then(inside).flatten();
                }
                // Walking over elements keeps to the first; an offset beyond it is either
                // in the array at the record's end, or the memory is more than the type
                // says: all of that is one cell.
                match self.trailing_array(ty) {
                    Some((start, step)) => {
                        self.canonical_in(ty, start + (offset - start) % step, MAX_NESTING)
                    }
                    None if self.record(ty).is_some() => Some(element),
                    None => self.canonical_in(ty, offset % element, MAX_NESTING),
                }
            }
        }
    }

    /// None for the middle of a scalar: an access there may overlap its neighbour.
    fn canonical_in(&self, ty: TypeId, offset: i64, depth: u32) -> Option<i64> {
        if depth == 0 {
            return Some(offset);
        }
        match self.plain_ctype(ty) {
            CType::Array { element, .. } | CType::Vector { element, .. } => {
                let step = self.size(*element) as i64;
                if step == 0 {
                    return Some(0);
                }
                self.canonical_in(*element, offset.rem_euclid(step), depth - 1)
            }
            CType::Record(record) => match self.member_at(*record, offset) {
                Some(Inside::Member(start, ty)) => {
                    Some(start + self.canonical_in(ty, offset - start, depth - 1)?)
                }
                Some(Inside::UnionWithArray) => Some(0),
                Some(Inside::Union) | None => Some(offset),
            },
            _ => (offset == 0).then_some(0),
        }
    }
}

//! Which bytes of an object are one cell.
//!
//! A cell is named by a canonical offset: all elements of an array are its first one, and
//! a union that holds an array is one cell. Canonical offsets come from the object's C
//! type alone, so every access agrees on them, whatever order they are met in.

use base::IdVec;
use program::{CType, Program, Record, RecordId, RecordKind, TypeId};

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

/// More scalars of one object than this are not told apart before a pointer leads there.
const MAX_SCALARS: usize = 256;

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

    /// The canonical offsets of the scalars in a type, as far as they are worth counting.
    pub fn scalar_offsets(&self, ty: TypeId) -> Vec<i64> {
        let mut offsets = Vec::new();
        self.add_scalars(ty, 0, &mut offsets, MAX_NESTING);
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    fn add_scalars(&self, ty: TypeId, start: i64, offsets: &mut Vec<i64>, depth: u32) {
        if depth == 0 || offsets.len() >= MAX_SCALARS {
            return;
        }
        match self.plain_ctype(ty) {
            CType::Array { element, .. } | CType::Vector { element, .. } => {
                self.add_scalars(*element, start, offsets, depth - 1);
            }
            CType::Record(record) => {
                let Some(known) = self.records.get(*record) else { return };
                if let Some(Inside::UnionWithArray) = self.member_at(*record, 0) {
                    return offsets.push(start);
                }
                for member in &known.members {
                    let at = start + (member.offset_bits / 8) as i64;
                    if member.is_bit_field {
                        offsets.push(at);
                    } else {
                        self.add_scalars(member.ctype, at, offsets, depth - 1);
                    }
                }
            }
            _ => offsets.push(start),
        }
    }

    /// Whether the object as a whole is an array.
    pub fn is_array(&self, layout: Layout) -> bool {
        match layout {
            Layout::Array(_) => true,
            Layout::Type(ty) => matches!(self.plain_ctype(ty), CType::Array { .. }),
            Layout::Whole | Layout::Bytes => false,
        }
    }

    /// The size of an element, of an object that is an array as a whole.
    pub fn element_size(&self, layout: Layout) -> Option<i64> {
        let size = match layout {
            Layout::Array(ty) => self.size(ty),
            Layout::Type(ty) => match self.plain_ctype(ty) {
                CType::Array { element, .. } => self.size(*element),
                _ => 0,
            },
            Layout::Whole | Layout::Bytes => 0,
        };
        (size > 0).then_some(size as i64)
    }

    /// Start and end of the array of bytes that an offset lies in.
    pub fn bytes_around(&self, layout: Layout, offset: i64) -> Option<(i64, i64)> {
        let mut ty = match layout {
            Layout::Whole | Layout::Bytes => return None,
            Layout::Type(ty) => ty,
            Layout::Array(ty) => {
                if self.size(ty) == 1 {
                    return Some((0, i64::MAX));
                }
                match self.trailing_array(ty) {
                    Some((start, 1)) if offset >= start => return Some((start, i64::MAX)),
                    _ => ty,
                }
            }
        };
        let mut start = 0;
        for _ in 0..MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { element, .. } if self.size(*element) == 1 => {
                    return Some((start, start + self.size(ty) as i64));
                }
                CType::Array { element, .. } => {
                    let step = self.size(*element).max(1) as i64;
                    start += (offset - start).div_euclid(step) * step;
                    ty = *element;
                }
                CType::Record(record) => match self.member_at(*record, offset - start)? {
                    Inside::Member(at, member) => {
                        start += at;
                        ty = member;
                    }
                    Inside::UnionWithArray => return Some((start, start + self.size(ty) as i64)),
                    Inside::Union => return None,
                },
                _ => return None,
            }
        }
        None
    }

    /// Whether a record starts at `start` that `inside` lies in.
    pub fn record_around(&self, layout: Layout, start: i64, inside: i64) -> bool {
        let (Layout::Type(mut ty) | Layout::Array(mut ty)) = layout else { return false };
        let mut at = 0;
        for _ in 0..MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { element, .. } => {
                    let step = self.size(*element).max(1) as i64;
                    at += (inside - at).div_euclid(step) * step;
                    ty = *element;
                }
                CType::Record(_) if at == start => return true,
                CType::Record(record) => match self.member_at(*record, inside - at) {
                    Some(Inside::Member(offset, member)) => {
                        at += offset;
                        ty = member;
                    }
                    _ => return false,
                },
                _ => return false,
            }
        }
        false
    }

    /// The array at the end of a record that allocations make longer: where it starts and
    /// how large an element is.
    fn trailing_array(&self, ty: TypeId) -> Option<(i64, i64)> {
        let record = self.records.get(self.record(ty)?)?;
        let last = record.members.last().filter(|_| record.kind == RecordKind::Struct)?;
        let CType::Array { element, count: None | Some(0) | Some(1) } =
            self.plain_ctype(last.ctype)
        else {
            return None;
        };
        let step = self.size(*element) as i64;
        (step > 0).then_some(((last.offset_bits / 8) as i64, step))
    }

    pub(super) fn member_at(&self, record: RecordId, offset: i64) -> Option<Inside> {
        let record = self.records.get(record)?;
        if record.kind == RecordKind::Union {
            let has_array = record.members.iter().any(|member| self.has_array(member.ctype, 8));
            return Some(if has_array { Inside::UnionWithArray } else { Inside::Union });
        }
        let bits = u64::try_from(offset).ok()? * 8;
        let after = record.members.partition_point(|member| member.offset_bits <= bits);
        let member = &record.members[..after].last()?;
        // Bit-fields share their unit with neighbours: each byte is a cell.
        (!member.is_bit_field)
            .then_some(Inside::Member((member.offset_bits / 8) as i64, member.ctype))
    }

    fn has_array(&self, ty: TypeId, depth: u32) -> bool {
        match self.plain_ctype(ty) {
            CType::Array { .. } => true,
            CType::Record(record) if depth > 0 => self.records.get(*record).is_some_and(|record| {
                record.members.iter().any(|member| self.has_array(member.ctype, depth - 1))
            }),
            _ => depth == 0,
        }
    }

    /// Whether a pointer into the part of an object at `offset` can walk in steps of
    /// `stride` without leaving its cell: an array of such elements, or a part of just
    /// that size, lies there.
    pub fn can_walk(&self, layout: Layout, offset: i64, stride: i64) -> bool {
        let stride = stride.abs();
        match layout {
            Layout::Whole => true,
            Layout::Bytes => false,
            Layout::Type(ty) => self.can_walk_in(ty, offset, stride, offset == 0, MAX_NESTING),
            Layout::Array(ty) => {
                let element = self.size(ty) as i64;
                if element == 0 {
                    return false;
                }
                if let Some((start, step)) = self.trailing_array(ty)
                    && offset >= start
                {
                    return stride % step == 0;
                }
                let offset = offset.rem_euclid(element);
                stride % element == 0
                    || self.can_walk_in(ty, offset, stride, offset == 0, MAX_NESTING)
            }
        }
    }

    /// `is_start`: something larger starts here as well, and may be what is walked over.
    fn can_walk_in(
        &self,
        ty: TypeId,
        offset: i64,
        stride: i64,
        is_start: bool,
        depth: u32,
    ) -> bool {
        if depth == 0 || self.size(ty) as i64 == stride {
            return depth > 0;
        }
        match self.plain_ctype(ty) {
            CType::Array { element, .. } | CType::Vector { element, .. } => {
                let step = self.size(*element) as i64;
                step > 0
                    && (stride % step == 0
                        || self.can_walk_in(
                            *element,
                            offset.rem_euclid(step),
                            stride,
                            true,
                            depth - 1,
                        ))
            }
            CType::Record(record) => match self.member_at(*record, offset) {
                Some(Inside::Member(start, ty)) => {
                    let is_start = offset == 0 || self.record(ty).is_some();
                    self.can_walk_in(ty, offset - start, stride, is_start, depth - 1)
                }
                Some(Inside::UnionWithArray) => true,
                Some(Inside::Union) | None => false,
            },
            // The bytes of a scalar that is nothing else.
            _ => !is_start && stride > 0 && self.size(ty) as i64 % stride == 0,
        }
    }

    /// The width in bytes of the scalar at an offset, if no array lies around it: then the
    /// cell is one place in memory.
    pub fn lone_scalar(&self, layout: Layout, offset: i64) -> Option<u64> {
        let Layout::Type(mut ty) = layout else { return None };
        let mut offset = offset;
        for _ in 0..MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { .. } | CType::Vector { .. } => return None,
                CType::Record(record) => match self.member_at(*record, offset)? {
                    Inside::Member(start, member) => {
                        offset -= start;
                        ty = member;
                    }
                    Inside::UnionWithArray | Inside::Union => return None,
                },
                _ => return (offset == 0).then(|| self.size(ty)),
            }
        }
        None
    }

    /// The type of the scalar at an offset of a layout.
    pub fn scalar_at(&self, layout: Layout, offset: i64) -> Option<TypeId> {
        let (mut ty, mut offset) = match layout {
            Layout::Whole | Layout::Bytes => return None,
            Layout::Type(ty) | Layout::Array(ty) => (ty, offset),
        };
        for _ in 0..MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { element, .. } => {
                    let step = self.size(*element).max(1) as i64;
                    offset = offset.rem_euclid(step);
                    ty = *element;
                }
                CType::Record(record) => {
                    let record = self.records.get(*record)?;
                    if record.kind == RecordKind::Union {
                        let pointer = |ty| matches!(self.plain_ctype(ty), CType::Pointer(_));
                        let member = record.members.iter().find(|m| pointer(m.ctype))?;
                        return (offset == 0).then_some(member.ctype);
                    }
                    let bits = u64::try_from(offset).ok()? * 8;
                    let after = record.members.partition_point(|m| m.offset_bits <= bits);
                    let member = record.members[..after].last()?;
                    offset -= (member.offset_bits / 8) as i64;
                    ty = member.ctype;
                }
                _ => return (offset == 0).then_some(ty),
            }
        }
        None
    }
}

/// What lies at an offset of a record.
pub(super) enum Inside {
    Member(i64, TypeId),
    Union,
    UnionWithArray,
}

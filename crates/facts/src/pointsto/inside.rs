//! What lies at an offset of a type: scalars, arrays, records.

use program::{CType, RecordId, RecordKind, TypeId};

use super::layout::{Layout, MAX_NESTING, Types};

/// More scalars of one object than this are not told apart before a pointer leads there.
const MAX_SCALARS: usize = 256;

/// What lies at an offset of a record.
pub(super) enum Inside {
    Member(i64, TypeId),
    Union,
    UnionWithArray,
}

impl Types<'_> {
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
    pub(super) fn trailing_array(&self, ty: TypeId) -> Option<(i64, i64)> {
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

//! Whether memory of a known type can be used as a record of another.
//!
//! Calls merge what different callers pass, so a pointer seems to point to objects that
//! its own type rules out. An object is believed to be what it was declared (or first
//! used) as: a record of another type lies in it only as a member, or where one record
//! begins like the other, as C programs write inheritance.

use program::{CType, RecordId, RecordKind, TypeId};

use super::layout::{Layout, Types};

const MAX_NESTING: u32 = 64;

impl Types<'_> {
    /// Whether a pointer to this part of an object can be one to the record, whose member
    /// at this offset is meant.
    pub fn can_be(&self, layout: Layout, offset: i64, record: RecordId, member: i64) -> bool {
        let (ty, offset) = match layout {
            Layout::Whole | Layout::Bytes => return true,
            Layout::Type(ty) | Layout::Array(ty) => (ty, offset),
        };
        // Beyond the type, anything goes.
        self.is_beyond(layout, offset)
            || self.part_can_be(ty, offset, (record, member), MAX_NESTING)
    }

    fn is_beyond(&self, layout: Layout, offset: i64) -> bool {
        matches!(layout, Layout::Array(ty) if offset >= self.size(ty) as i64)
    }

    fn part_can_be(&self, ty: TypeId, offset: i64, used: (RecordId, i64), depth: u32) -> bool {
        let record = used.0;
        if depth == 0 {
            return true;
        }
        match self.plain_ctype(ty) {
            CType::Record(own) => {
                if *own == record && offset == 0 {
                    return true;
                }
                let Some(known) = self.records.get(*own) else { return true };
                if known.kind == RecordKind::Union || !known.complete {
                    return true;
                }
                if offset == 0 && (self.begins_like(*own, record) || self.shares(*own, used)) {
                    return true;
                }
                let Ok(bits) = u64::try_from(offset) else { return false };
                let after = known.members.partition_point(|m| m.offset_bits <= bits * 8);
                let Some(member) = known.members[..after].last() else { return false };
                let start = (member.offset_bits / 8) as i64;
                self.part_can_be(member.ctype, offset - start, used, depth - 1)
            }
            CType::Array { element, .. } => {
                let step = self.size(*element).max(1) as i64;
                self.part_can_be(*element, offset.rem_euclid(step), used, depth - 1)
            }
            // Bytes serve as storage for anything.
            CType::Int { bits: 8, .. } | CType::Void | CType::Unknown => true,
            _ => false,
        }
    }

    /// Whether all members of one record are the first members of the other.
    fn begins_like(&self, a: RecordId, b: RecordId) -> bool {
        let (Some(a), Some(b)) = (self.records.get(a), self.records.get(b)) else { return true };
        if b.kind == RecordKind::Union || !b.complete {
            return true;
        }
        let (short, long) = if a.members.len() <= b.members.len() { (a, b) } else { (b, a) };
        let begins = short
            .members
            .iter()
            .zip(&long.members)
            .all(|(x, y)| x.offset_bits == y.offset_bits && self.same_member(x.ctype, y.ctype));
        let embeds = |outer: &program::Record, inner: &program::Record| {
            outer.members.first().and_then(|first| self.record(first.ctype)).is_some_and(|first| {
                self.records.get(first).is_some_and(|first| std::ptr::eq(first, inner))
            })
        };
        begins || embeds(long, short) || embeds(short, long)
    }

    /// Whether two records are alike up to and including the member of the second at an
    /// offset; an array of bytes is a view of anything.
    fn shares(&self, own: RecordId, (record, offset): (RecordId, i64)) -> bool {
        let (Some(own), Some(used)) = (self.records.get(own), self.records.get(record)) else {
            return true;
        };
        let Ok(bits) = u64::try_from(offset) else { return false };
        let until = used.members.partition_point(|member| member.offset_bits <= bits * 8);
        let Some(meant) = used.members[..until].last() else { return false };
        if self.is_bytes(meant.ctype) {
            return true;
        }
        own.members.len() >= until
            && used.members[..until]
                .iter()
                .zip(&own.members)
                .all(|(x, y)| x.offset_bits == y.offset_bits && self.same_member(x.ctype, y.ctype))
    }

    fn is_bytes(&self, ty: TypeId) -> bool {
        match self.plain_ctype(ty) {
            CType::Array { element, .. } => self.size(*element) == 1,
            _ => false,
        }
    }

    fn same_member(&self, a: TypeId, b: TypeId) -> bool {
        let (a, b) = (self.plain(a), self.plain(b));
        a == b
            || matches!(
                (self.plain_ctype(a), self.plain_ctype(b)),
                (CType::Pointer(_), CType::Pointer(_))
            )
    }
}

//! What memory from outside the program may be: the program's own objects that escaped.
//!
//! A points-to set names unknown memory, or memory of a type that was handed in from
//! outside, by one object each. Such an object also stands for every object of the program
//! that escaped, for the pointer may have gone out and come back. Naming them all in every
//! set would make the sets large; instead, whoever asks which cells an access touches gets
//! them added here.
//!
//! Types limit which: a cell from outside may be a cell with a scalar of the same kind and
//! size, and a member of a record only one at the same offset of some record, so that
//! records that begin alike may stand for each other. Memory without a type may be
//! anything, and characters only characters: who reads an escaped record through a
//! `char *` that came in from outside is not believed to see it (see decision 004).

use program::{CType, RecordKind, TypeId};
use rustc_hash::FxHashMap;

use super::graph::Cells;
use super::layout::{Layout, Types};
use super::object::ObjectKind;
use crate::set::SparseSet;

/// What kind of scalar a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Pointer,
    Int(u64),
    Float(u64),
}

/// Which other cells a cell may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Class {
    /// Of no known type, or several.
    Any,
    Scalar(Kind),
    /// A member at this offset of the record right around it.
    Member(i64, Kind),
}

/// Escaped cells, by what cells from outside may be them.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    sets: Vec<SparseSet>,
    /// For each cell from outside, the set of what it may be.
    of_cell: FxHashMap<u32, u32>,
    /// Cells from outside.
    outside: SparseSet,
}

impl Aliases {
    /// Adds, for every cell from outside, what else it may be.
    pub fn add_to(&self, cells: &mut SparseSet) {
        if !cells.intersects(&self.outside) {
            return;
        }
        let mut added: Vec<u32> =
            cells.intersection(&self.outside).iter().map(|cell| self.of_cell[&cell]).collect();
        added.sort_unstable();
        added.dedup();
        for set in added {
            cells.union(&self.sets[set as usize]);
        }
    }

    /// Of all objects, whose cells are numbered as they come, the anywhere one last.
    pub fn new(types: &Types, objects: &[Cells]) -> Self {
        let mut escaped: Vec<(u32, Class, bool)> = Vec::new();
        let mut next = 0u32;
        for cells in objects {
            let object = &cells.object;
            let first = next;
            next += (cells.at.len() + usize::from(cells.anywhere.is_some())) as u32;
            if !object.escapes || matches!(object.kind, ObjectKind::Function(_)) {
                continue;
            }
            let offsets = cells.at.iter().map(|(offset, _)| Some(*offset));
            let offsets = offsets.chain(cells.anywhere.map(|_| None));
            for (cell, offset) in (first..next).zip(offsets) {
                let class = offset.map_or(Class::Any, |at| types.class_at(object.layout, at));
                escaped.push((cell, class, object.kind.is_outside()));
            }
        }
        Self::of_escaped(&escaped)
    }

    fn of_escaped(escaped: &[(u32, Class, bool)]) -> Self {
        let mut aliases = Self::default();
        let mut set_of: FxHashMap<Class, u32> = FxHashMap::default();
        for &(cell, class, _) in escaped.iter().filter(|(.., is_outside)| *is_outside) {
            let set = *set_of.entry(class).or_insert_with(|| {
                aliases.sets.push(SparseSet::new());
                aliases.sets.len() as u32 - 1
            });
            aliases.of_cell.insert(cell, set);
            aliases.outside.insert(cell);
        }
        // Cells of one class are the same to everybody: one set for each, from outside or not.
        let mut buckets: FxHashMap<(Class, bool), SparseSet> = FxHashMap::default();
        for &(cell, class, is_outside) in escaped {
            buckets.entry((class, is_outside)).or_default().insert(cell);
        }
        for (class, &set) in &set_of {
            for ((other, is_outside), cells) in &buckets {
                if may_be(*class, *other) || (*is_outside && may_be(*other, *class)) {
                    aliases.sets[set as usize].union(cells);
                }
            }
        }
        aliases
    }
}

/// Whether a cell from outside of one class may be an escaped cell of another.
fn may_be(outside: Class, other: Class) -> bool {
    match (outside, other) {
        (Class::Any, _) | (_, Class::Any) => true,
        (Class::Scalar(kind), Class::Scalar(other) | Class::Member(_, other)) => kind == other,
        (Class::Member(..), Class::Member(..)) => outside == other,
        (Class::Member(..), Class::Scalar(_)) => false,
    }
}

impl Types<'_> {
    /// Whether nothing is known of what lies at an offset: it may be a pointer or not.
    pub(super) fn is_untyped_at(&self, layout: Layout, offset: i64) -> bool {
        self.class_at(layout, offset) == Class::Any
    }

    fn class_at(&self, layout: Layout, offset: i64) -> Class {
        let (mut ty, mut offset) = match layout {
            Layout::Whole | Layout::Bytes => return Class::Any,
            Layout::Type(ty) => (ty, offset),
            Layout::Array(ty) if offset >= self.size(ty) as i64 => return Class::Any,
            Layout::Array(ty) => (ty, offset),
        };
        let mut in_record = None;
        for _ in 0..super::layout::MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { element, .. } | CType::Vector { element, .. } => {
                    offset = offset.rem_euclid(self.size(*element).max(1) as i64);
                    ty = *element;
                }
                CType::Record(record) => {
                    let Some(known) = self.records.get(*record) else { return Class::Any };
                    if known.kind == RecordKind::Union {
                        return Class::Any;
                    }
                    let Ok(bits) = u64::try_from(offset) else { return Class::Any };
                    let after = known.members.partition_point(|m| m.offset_bits <= bits * 8);
                    let Some(member) = known.members[..after].last() else { return Class::Any };
                    if member.is_bit_field {
                        return Class::Any;
                    }
                    let start = (member.offset_bits / 8) as i64;
                    in_record = Some(start);
                    offset -= start;
                    ty = member.ctype;
                }
                _ => break,
            }
        }
        match (self.kind_of(ty), in_record) {
            (None, _) => Class::Any,
            (Some(kind), None) => Class::Scalar(kind),
            (Some(kind), Some(start)) => Class::Member(start, kind),
        }
    }

    fn kind_of(&self, ty: TypeId) -> Option<Kind> {
        let size = self.size(ty);
        match self.plain_ctype(ty) {
            CType::Pointer(_) => Some(Kind::Pointer),
            CType::Bool | CType::Int { .. } | CType::Enum { .. } => Some(Kind::Int(size)),
            CType::Float { .. } | CType::Complex { .. } => Some(Kind::Float(size)),
            _ => None,
        }
    }
}

//! What memory from outside the program may be: the program's own objects that escaped.
//!
//! A points-to set names unknown memory, or memory of a type that was handed in from
//! outside, by one object each. Such an object also stands for every object of the program
//! that escaped, for the pointer may have gone out and come back. Naming them all in every
//! set would make the sets large. Instead escaped cells belong to classes, of which there
//! are few, and two sets of cells may overlap where they have a cell in common or classes
//! that meet.
//!
//! Types limit which: a cell from outside may be a cell with a scalar of the same kind and
//! size, and a member of a record only one at the same offset of some record, so that
//! records that begin alike may stand for each other. Memory without a type may be
//! anything, and so may what a `char *` from outside points to.

use base::{IdVec, define_id};
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

define_id!(/// Escaped cells that are the same to everybody: of one class, all from outside or
    /// all of the program.
    ClassId);

/// Which escaped cells may be the same memory under different names.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    /// For each cell its class, if it escaped.
    of_cell: Vec<Option<ClassId>>,
    /// The cells of each class.
    cells: IdVec<ClassId, SparseSet>,
    /// For each class, those with cells that may be the same memory as one of its own. The
    /// program's own cells have one name each: their class meets only such from outside.
    meets: IdVec<ClassId, SparseSet>,
    outside: SparseSet,
}

impl Aliases {
    /// Adds, for every cell from outside, what else it may be.
    pub fn add_to(&self, cells: &mut SparseSet) {
        for class in self.classes(cells).intersection(&self.outside).iter() {
            for other in self.meets[ClassId(class)].iter() {
                cells.union(&self.cells[ClassId(other)]);
            }
        }
    }

    /// The classes the cells belong to.
    pub fn classes(&self, cells: &SparseSet) -> SparseSet {
        let mut classes = SparseSet::new();
        let mut last = None;
        for cell in cells.iter() {
            let class = self.of_cell.get(cell as usize).copied().flatten();
            if class != last {
                last = class;
                classes.extend(class.map(|class| class.0));
            }
        }
        classes
    }

    pub fn meets(&self, class: ClassId) -> &SparseSet {
        &self.meets[class]
    }

    /// Of all objects, whose cells are numbered as they come, the anywhere one last.
    pub fn new(types: &Types, objects: &[Cells]) -> Self {
        let mut aliases = Self::default();
        let mut numbers: FxHashMap<(Class, bool), ClassId> = FxHashMap::default();
        let mut known: Vec<(Class, bool)> = Vec::new();
        for Cells { object, at, anywhere, .. } in objects {
            let is_outside = object.kind.is_outside();
            let escapes = object.escapes && !matches!(object.kind, ObjectKind::Function(_));
            let offsets = at.iter().map(|(offset, _)| Some(*offset));
            for offset in offsets.chain(anywhere.map(|_| None)) {
                let class = escapes.then(|| {
                    let class = offset.map_or(Class::Any, |at| types.class_at(object.layout, at));
                    // Through a pointer to characters, anything may be seen.
                    let class = match class {
                        Class::Scalar(Kind::Int(1)) if is_outside => Class::Any,
                        class => class,
                    };
                    *numbers.entry((class, is_outside)).or_insert_with(|| {
                        known.push((class, is_outside));
                        aliases.cells.push(SparseSet::new())
                    })
                });
                if let Some(class) = class {
                    aliases.cells[class].insert(aliases.of_cell.len() as u32);
                }
                aliases.of_cell.push(class);
            }
        }
        for (number, &(class, is_outside)) in known.iter().enumerate() {
            if is_outside {
                aliases.outside.insert(number as u32);
            }
            let meets = |&(other, other_is_outside): &(Class, bool)| {
                is_outside && may_be(class, other) || other_is_outside && may_be(other, class)
            };
            let others = (0u32..).zip(&known).filter(|(_, other)| meets(other));
            aliases.meets.push(others.map(|(other, _)| other).collect());
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

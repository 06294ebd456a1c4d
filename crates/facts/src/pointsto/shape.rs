//! What copies of memory need to know of the two ends.

use program::{CType, TypeId};

use super::inside::Inside;
use super::layout::{Layout, MAX_NESTING, Types};

/// What starts at an offset of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The largest part that starts there; of an array, its elements.
    pub ty: TypeId,
    /// It is one of several.
    pub is_element: bool,
}

impl Types<'_> {
    /// What starts at an offset; none in the middle of a part, or where no type is known.
    pub(super) fn shape_at(&self, layout: Layout, offset: i64) -> Option<Shape> {
        let (mut ty, mut is_element) = match layout {
            Layout::Whole | Layout::Bytes => return None,
            Layout::Type(ty) => (ty, false),
            Layout::Array(ty) => (ty, true),
        };
        let mut offset = offset;
        for _ in 0..MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { element, .. } | CType::Vector { element, .. } => {
                    offset = offset.rem_euclid(self.size(*element).max(1) as i64);
                    (ty, is_element) = (*element, true);
                }
                _ if offset == 0 => return Some(Shape { ty: self.plain(ty), is_element }),
                CType::Record(record) => match self.member_at(*record, offset)? {
                    Inside::Member(start, member) => {
                        offset -= start;
                        (ty, is_element) = (member, false);
                    }
                    Inside::Union | Inside::UnionWithArray => return None,
                },
                _ => return None,
            }
        }
        None
    }

    /// How far apart the places are that the cell at an offset stands for, if it is several.
    pub(super) fn repeats_every(&self, layout: Layout, offset: i64) -> Option<u64> {
        let (mut ty, mut every) = match layout {
            Layout::Whole => return Some(1),
            Layout::Bytes => return None,
            Layout::Type(ty) => (ty, None),
            Layout::Array(ty) => (ty, Some(self.size(ty))),
        };
        let mut offset = offset;
        for _ in 0..MAX_NESTING {
            match self.plain_ctype(ty) {
                CType::Array { element, .. } | CType::Vector { element, .. } => {
                    every = Some(self.size(*element));
                    offset = offset.rem_euclid(self.size(*element).max(1) as i64);
                    ty = *element;
                }
                CType::Record(record) => match self.member_at(*record, offset) {
                    Some(Inside::Member(start, member)) => {
                        offset -= start;
                        ty = member;
                    }
                    Some(Inside::UnionWithArray) => return Some(1),
                    Some(Inside::Union) | None => break,
                },
                _ => break,
            }
        }
        every
    }
}

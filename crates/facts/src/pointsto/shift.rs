//! Pointer arithmetic on abstract objects.

use program::{RecordId, TypeId};

use super::layout::{Layout, Types};
use super::object::{Object, ObjectKind};

/// Pointer arithmetic: `base + offset + sum(stride * unknown)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shift {
    pub offset: i64,
    pub strides: Vec<i64>,
    /// The offset counts in single bytes of a `char *`, not in members of a type.
    pub is_bytewise: bool,
    /// The pointer is used as one to this record.
    pub record: Option<RecordId>,
}

/// Where pointer arithmetic leads within an object.
pub(super) enum Target {
    /// An offset, not yet canonical.
    At(i64),
    Anywhere,
    /// Memory from outside turns out to be of this type: any such memory.
    Pool(TypeId),
    /// Out of bounds or of another type: such a pointer is never used on a run without
    /// a fault.
    Nowhere,
}

impl Shift {
    pub(super) fn target(&self, types: &Types, object: &Object, offset: i64) -> Target {
        let layout = object.layout;
        if let Some(record) = self.record
            && let Some(elsewhere) = self.as_record(types, object, offset, record)
        {
            return elsewhere;
        }
        if layout == Layout::Whole {
            return Target::At(offset);
        }
        if self.is_bytewise
            && let Some(target) = self.by_bytes(types, layout, offset)
        {
            return target;
        }
        let target = offset.saturating_add(self.offset);
        if object.size.is_some_and(|size| target > 0 && target as u64 >= size) {
            return Target::Nowhere;
        }
        if target < 0 {
            // Elements of an array are its first, so going back may be fine there.
            return if types.is_array(layout) { Target::Anywhere } else { Target::Nowhere };
        }
        // A walk by bytes may be one over a whole record that begins with bytes.
        let walks_bytes = self.record.is_none() && self.strides.iter().any(|s| s.abs() == 1);
        if walks_bytes && types.record_around(layout, target, target) {
            return Target::Anywhere;
        }
        let mut strides = self.strides.iter();
        match strides.all(|&stride| types.can_walk(layout, target, stride)) {
            true => Target::At(target),
            false => Target::Anywhere,
        }
    }

    /// Where the pointer leads if it is used as one to a record that cannot lie here.
    fn as_record(
        &self,
        types: &Types,
        object: &Object,
        offset: i64,
        record: RecordId,
    ) -> Option<Target> {
        let layout = object.layout;
        let ty = types.type_of(record);
        let size = types.size(ty) as i64;
        let can_be = types.can_be(layout, offset, record, self.offset);
        if !object.kind.is_outside() {
            return (!can_be).then_some(Target::Nowhere);
        }
        // Memory from outside that is used as more than it was declared is that.
        let is_declared = match layout {
            Layout::Array(own) => size <= types.size(own) as i64 - offset,
            _ => object.kind != ObjectKind::Unknown,
        };
        (size > 0 && !(is_declared && can_be)).then_some(Target::Pool(ty))
    }

    /// A constant number of bytes may be a step within an array of bytes, all of whose
    /// elements are the first, or one from member to member of the record around it.
    fn by_bytes(&self, types: &Types, layout: Layout, offset: i64) -> Option<Target> {
        let target = offset.saturating_add(self.offset);
        if let Some((start, end)) = types.bytes_around(layout, offset) {
            let stays = self.offset.unsigned_abs() < end.abs_diff(start);
            // A step on may be one of many over a whole record that begins with bytes.
            let leaves = match self.offset < 0 {
                true => types.record_around(layout, target, offset),
                false => types.record_around(layout, offset, offset),
            };
            return match (stays, leaves) {
                (true, true) => Some(Target::Anywhere),
                (true, false) => Some(Target::At(offset)),
                (false, _) => None,
            };
        }
        let element = types.element_size(layout)?;
        if self.offset % element == 0 {
            return Some(Target::At(offset));
        }
        (!(0..element).contains(&target)).then_some(Target::Anywhere)
    }
}

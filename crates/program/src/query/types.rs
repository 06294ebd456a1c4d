//! Questions about C types.

use crate::{CType, Member, Program, RecordId, TypeId};

/// Longer chains of typedefs and qualifiers are no C.
const MAX_CHAIN: usize = 1000;
/// Pointers of every target firstfault knows.
const POINTER_BYTES: u64 = 8;

impl Program {
    /// The type behind typedefs and qualifiers.
    pub fn resolved(&self, mut id: TypeId) -> TypeId {
        for _ in 0..MAX_CHAIN {
            match self.types[id] {
                CType::Typedef { target, .. } => id = target,
                CType::Const(inner)
                | CType::Volatile(inner)
                | CType::Restrict(inner)
                | CType::Atomic(inner) => id = inner,
                _ => return id,
            }
        }
        TypeId::UNKNOWN
    }

    /// What the type is, behind typedefs and qualifiers.
    pub fn resolved_type(&self, id: TypeId) -> &CType {
        &self.types[self.resolved(id)]
    }

    /// Bytes of an object of this type; `None` where the type has no size or it is unknown.
    pub fn size_of(&self, id: TypeId) -> Option<u64> {
        // Arrays nest; everything else ends at once.
        let (mut id, mut count) = (id, 1u64);
        for _ in 0..MAX_CHAIN {
            let size = match self.resolved_type(id) {
                CType::Unknown | CType::Void | CType::Function { .. } => return None,
                CType::Bool => 1,
                CType::Int { bits, .. } | CType::Enum { bits, .. } | CType::Complex { bits } => {
                    u64::from(*bits).div_ceil(8)
                }
                CType::Float { bits: 80, .. } => 16,
                CType::Float { bits, .. } => u64::from(*bits).div_ceil(8),
                CType::Pointer(_) => POINTER_BYTES,
                CType::Record(record) => {
                    let record = &self.records[*record];
                    record.complete.then_some(record.size)?
                }
                CType::Array { element, count: elements } => {
                    count = count.checked_mul((*elements)?)?;
                    id = *element;
                    continue;
                }
                CType::Vector { element, count: elements } => {
                    count = count.checked_mul(*elements)?;
                    id = *element;
                    continue;
                }
                // `resolved_type` has passed these.
                CType::Typedef { .. }
                | CType::Const(_)
                | CType::Volatile(_)
                | CType::Restrict(_)
                | CType::Atomic(_) => return None,
            };
            return count.checked_mul(size);
        }
        None
    }

    /// Whether an integer type (enumerations included) is signed; `None` for other types.
    pub fn is_signed(&self, id: TypeId) -> Option<bool> {
        match self.resolved_type(id) {
            CType::Bool => Some(false),
            CType::Int { signed, .. } | CType::Enum { signed, .. } => Some(*signed),
            _ => None,
        }
    }

    /// What a pointer type points to; unknown for other types.
    pub fn pointee(&self, id: TypeId) -> TypeId {
        match self.resolved_type(id) {
            CType::Pointer(target) => *target,
            _ => TypeId::UNKNOWN,
        }
    }

    /// The element type of an array or vector; unknown for other types.
    pub fn element(&self, id: TypeId) -> TypeId {
        match self.resolved_type(id) {
            CType::Array { element, .. } | CType::Vector { element, .. } => *element,
            _ => TypeId::UNKNOWN,
        }
    }

    pub fn record_of(&self, id: TypeId) -> Option<RecordId> {
        match self.resolved_type(id) {
            CType::Record(record) => Some(*record),
            _ => None,
        }
    }

    /// The member of a record that holds the byte at `offset`: of a union the first, of
    /// bit-fields that share the byte the first.
    pub fn member_at(&self, record: RecordId, offset: u64) -> Option<(u32, &Member)> {
        let record = &self.records[record];
        let holds = |member: &Member| {
            let start = member.offset_bits / 8;
            let end = (member.offset_bits + member.size_bits).div_ceil(8);
            // A flexible array member has no end of its own.
            start <= offset && (offset < end || member.size_bits == 0 && end >= record.size)
        };
        let found = record.members.iter().position(holds)?;
        Some((found as u32, &record.members[found]))
    }
}

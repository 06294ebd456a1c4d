//! Stores through pointers of unknown origin: each may have changed what another such pointer
//! leads to, as far as C lets values of this kind lie in the same place.

use std::rc::Rc;

use program::Ty;

use super::memory::ObjectId;
use crate::outside::Member;

/// What decides whether two accesses can be of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub ty: Ty,
    /// The member of a record that is accessed, where it is one.
    pub member: Option<Member>,
}

impl Shape {
    /// Members are told apart by their names. A pointer to a number may point to a member.
    fn may_share(self, other: Shape) -> bool {
        let members_differ =
            self.member.zip(other.member).is_some_and(|(member, other)| member != other);
        self.ty == other.ty && !members_differ
    }
}

/// The stores of a path, shared with those that fork from it.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    newest: Option<Rc<Stored>>,
}

#[derive(Debug)]
struct Stored {
    object: ObjectId,
    shape: Shape,
    /// How many there are, with this one.
    count: u32,
    before: Option<Rc<Stored>>,
}

impl Stores {
    pub fn count(&self) -> u32 {
        self.newest.as_ref().map_or(0, |newest| newest.count)
    }

    pub fn add(&mut self, object: ObjectId, shape: Shape) {
        let count = self.count() + 1;
        self.newest = Some(Rc::new(Stored { object, shape, count, before: self.newest.take() }));
    }

    /// The count of the last store of this shape to another object. One that lies far back is
    /// as good as none: what was known before it was seldom kept.
    pub fn last_beside(&self, object: ObjectId, shape: Shape) -> Option<u32> {
        const MAX_STORES: usize = 32;
        std::iter::successors(self.newest.as_deref(), |stored| stored.before.as_deref())
            .take(MAX_STORES)
            .find(|stored| stored.object != object && stored.shape.may_share(shape))
            .map(|stored| stored.count)
    }
}

/// A long list would overflow the stack if it were dropped recursively.
impl Drop for Stored {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(stored) = next {
            match Rc::try_unwrap(stored) {
                Ok(mut stored) => next = stored.before.take(),
                Err(_) => break,
            }
        }
    }
}

//! What happened on a path, for the steps of a report.

use std::rc::Rc;

use logic::{FormulaId, TermId};
use program::{BlockId, FunctionId, InstId, LocId, VarId};

use super::memory::ObjectId;
use super::value::Value;

#[derive(Clone, Debug, Default)]
pub struct Trail {
    newest: Option<Rc<Event>>,
}

#[derive(Debug)]
pub struct Event {
    pub what: What,
    pub loc: LocId,
    pub function: FunctionId,
    /// Calls below the outermost function.
    pub depth: u32,
    before: Option<Rc<Event>>,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A branch was taken because this held.
    Branch {
        formula: FormulaId,
        from: BlockId,
        to: BlockId,
    },
    /// A variable got a value by the instruction `at`.
    Bound {
        at: InstId,
        variable: VarId,
        value: Value,
    },
    Stored {
        at: InstId,
        object: ObjectId,
        offset: TermId,
        value: Value,
    },
    /// Bytes of an object, all alike, by an initialiser or the like.
    Filled {
        object: ObjectId,
        byte: Value,
    },
    Allocated(ObjectId),
    /// A call whose effect a model describes.
    Modelled {
        /// `None` where it is known by a pointer only.
        callee: Option<FunctionId>,
        result: Value,
    },
    /// What a model did, in a sentence, and to which object.
    Effect(Rc<str>, Option<ObjectId>),
    /// A call that could not be followed.
    Skipped {
        result: Value,
    },
    Entered {
        function: FunctionId,
        call: InstId,
    },
    Returned {
        call: InstId,
        from: FunctionId,
        value: Option<Value>,
    },
}

impl Trail {
    pub fn push(&mut self, what: What, loc: LocId, function: FunctionId, depth: u32) {
        let before = self.newest.take();
        self.newest = Some(Rc::new(Event { what, loc, function, depth, before }));
    }

    /// Newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        std::iter::successors(self.newest.as_deref(), |event| event.before.as_deref())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(event) = next {
            match Rc::try_unwrap(event) {
                Ok(mut event) => next = event.before.take(),
                Err(_) => break,
            }
        }
    }
}

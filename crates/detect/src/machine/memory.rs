//! Objects and what was written to them, newest first.
//!
//! An object's content is a log of writes over a base content. The log is shared between
//! the states of a search (a fork copies nothing) and answers symbolic offsets as well as
//! constant ones: a read walks it until it meets the write it falls into.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::{IdVec, define_id};
use logic::{FormulaId, SymbolId, TermId, Terms};
use program::{FunctionId, GlobalId, InstId, LocId};

use super::aliases::{Shape, Stores};
use super::value::Value;

define_id!(/// An object of one search. Ids ascend in order of creation on a path.
    ObjectId);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A variable of the call that `frame` counts.
    Local {
        frame: u32,
        function: FunctionId,
        inst: InstId,
    },
    Global(GlobalId),
    /// What a call allocated.
    Heap {
        function: FunctionId,
        call: InstId,
    },
    /// What a pointer of unknown origin leads to.
    Pointee,
    /// Something outside that a number stands for, such as an open file.
    Handle(TermId),
}

/// What an object holds where nothing was written on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Uninit(LocId),
    Zero,
    Initializer(GlobalId),
    /// As the outermost function of the path found it.
    Entry,
    /// Left by code that could not be followed.
    Unknown,
    /// Made by a function of the program for its caller, and not followed.
    Made,
    /// Filled from outside the program.
    Input,
    /// So many strings from outside the program, and a null pointer after them.
    Arguments {
        count: TermId,
    },
}

#[derive(Clone, Debug)]
pub struct Object {
    pub kind: ObjectKind,
    /// In C terms, for messages: `buf`, `*p`.
    pub name: Rc<str>,
    /// In bytes; `None` where nothing is known.
    pub size: Option<TermId>,
    /// Whether offset 0 is the object's first byte; false for what a pointer of unknown
    /// origin leads to, which may be the middle of something.
    pub has_start: bool,
    /// Bytes of the enclosing object before offset 0, where that is not its start.
    pub before: Option<TermId>,
    /// Holds where a pointer to this object is null instead.
    pub null: FormulaId,
    /// The bit that is 1 where `null` holds, where there is one.
    pub null_bit: Option<SymbolId>,
    pub content: Content,
    pub log: Option<Rc<Write>>,
    /// Attributes of the whole object, by name: `State` and those of user specifications.
    pub attributes: BTreeMap<Rc<str>, Value>,
    /// Whether code outside the path may hold a pointer to it.
    pub escaped: bool,
    /// Whether functions of the interface are handed it, or it hangs on what they are handed.
    pub is_outside: bool,
    /// Where it lies in a buffer that it shares with others of its kind.
    pub position: Option<TermId>,
    /// A function has returned and nothing leads to it any more.
    pub is_lost: bool,
    /// Where it was declared or allocated.
    pub loc: LocId,
    /// The call that last had a hand on it, by number.
    now: u32,
    /// Stores through pointers of unknown origin before it was last touched.
    clock: u32,
    /// The call that left `content` in it, and where.
    pub left_by: u32,
    pub left_at: LocId,
}

#[derive(Debug)]
pub struct Write {
    pub offset: TermId,
    /// Bytes covered.
    pub len: TermId,
    pub data: Data,
    pub loc: LocId,
    /// The call that wrote, by number.
    pub frame: u32,
    /// Stores through pointers of unknown origin before it.
    pub clock: u32,
    /// Nothing was written: a read gave what was there before a value to stand for it.
    pub is_read: bool,
    pub before: Option<Rc<Write>>,
}

#[derive(Clone, Debug)]
pub enum Data {
    Value(Value),
    /// The same unit over and over.
    Fill {
        unit: Value,
        width: u64,
    },
    /// Bytes of another object as they were at the time of the copy.
    Copy {
        from: Rc<Object>,
        offset: TermId,
    },
    /// `len - 1` units that are not zero and one that is.
    String {
        units: TermId,
        width: u64,
        input: bool,
    },
    /// Bytes of which none is zero.
    NonZero {
        input: bool,
    },
    /// Written, but with what is not known.
    Unknown {
        input: bool,
    },
    /// Written by a loop with what it made of known values.
    Lost,
    /// No longer initialised.
    Uninit,
}

/// All objects a path knows. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    objects: IdVec<ObjectId, Rc<Object>>,
    globals: BTreeMap<GlobalId, ObjectId>,
    handles: BTreeMap<TermId, ObjectId>,
    /// The call in progress, by number.
    pub frame: u32,
    /// Stores through pointers of unknown origin.
    stores: Stores,
}

impl Object {
    pub fn new(kind: ObjectKind, name: &str, size: Option<TermId>, content: Content) -> Self {
        Self {
            kind,
            name: name.into(),
            size,
            has_start: true,
            before: None,
            null: Terms::FALSE,
            null_bit: None,
            content,
            log: None,
            attributes: BTreeMap::new(),
            escaped: false,
            is_outside: false,
            position: None,
            is_lost: false,
            loc: LocId::UNKNOWN,
            now: 0,
            clock: 0,
            left_by: 0,
            left_at: LocId::UNKNOWN,
        }
    }

    pub fn write(&mut self, offset: TermId, len: TermId, data: Data, loc: LocId) {
        self.add(offset, len, data, loc, false);
    }

    /// What a read made up: the next finds the same.
    pub fn remember(&mut self, offset: TermId, len: TermId, value: Value, loc: LocId) {
        self.add(offset, len, Data::Value(value), loc, true);
    }

    fn add(&mut self, offset: TermId, len: TermId, data: Data, loc: LocId, is_read: bool) {
        let (before, frame, clock) = (self.log.take(), self.now, self.clock);
        self.log = Some(Rc::new(Write { offset, len, data, loc, frame, clock, is_read, before }));
    }

    /// Nothing that was written counts any more.
    pub fn forget(&mut self, content: Content, loc: LocId) {
        self.log = None;
        self.content = content;
        (self.left_by, self.left_at) = (self.now, loc);
    }

    /// The writes, newest first.
    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        std::iter::successors(self.log.as_deref(), |write| write.before.as_deref())
    }

    pub fn was_written_at(&self, loc: LocId) -> bool {
        self.writes().any(|write| write.loc == loc && !write.is_read)
    }
}

impl Memory {
    pub fn add(&mut self, mut object: Object) -> ObjectId {
        (object.now, object.left_by) = (self.frame, self.frame);
        self.objects.push(Rc::new(object))
    }

    pub fn add_global(&mut self, global: GlobalId, object: Object) -> ObjectId {
        let id = self.add(object);
        self.globals.insert(global, id);
        id
    }

    pub fn global(&self, global: GlobalId) -> Option<ObjectId> {
        self.globals.get(&global).copied()
    }

    pub fn add_handle(&mut self, number: TermId, object: Object) -> ObjectId {
        let id = self.add(object);
        self.handles.insert(number, id);
        id
    }

    /// What a number stands for, where it stands for something.
    pub fn handle(&self, number: TermId) -> Option<ObjectId> {
        self.handles.get(&number).copied()
    }

    pub fn get(&self, object: ObjectId) -> &Object {
        &self.objects[object]
    }

    /// The object as it is now, for a copy that later writes do not change.
    pub fn snapshot(&self, object: ObjectId) -> Rc<Object> {
        self.objects[object].clone()
    }

    pub fn get_mut(&mut self, object: ObjectId) -> &mut Object {
        let object = Rc::make_mut(&mut self.objects[object]);
        (object.now, object.clock) = (self.frame, self.stores.count());
        object
    }

    /// From now on a value of this shape that lies elsewhere may be another.
    pub fn stored(&mut self, object: ObjectId, shape: Shape) {
        if self.objects[object].kind == ObjectKind::Pointee {
            self.stores.add(object, shape);
        }
    }

    /// The count of the last store that may have changed a value of this shape in the object
    /// without naming it.
    pub fn changed_elsewhere(&self, object: ObjectId, shape: Shape) -> Option<u32> {
        let is_pointee = self.objects[object].kind == ObjectKind::Pointee;
        is_pointee.then(|| self.stores.last_beside(object, shape)).flatten()
    }

    pub fn n_objects(&self) -> usize {
        self.objects.len()
    }

    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ObjectId> + use<> {
        self.objects.ids()
    }
}

/// A long log would overflow the stack if it were dropped recursively.
impl Drop for Write {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(write) = next {
            match Rc::try_unwrap(write) {
                Ok(mut write) => next = write.before.take(),
                Err(_) => break,
            }
        }
    }
}

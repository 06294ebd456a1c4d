//! The objects pointers can point to.

use base::define_id;
use program::{FunctionId, GlobalId, InstId, TypeId};

use super::layout::Layout;

define_id!(/// An abstract object: a piece of memory, or all pieces made at one place.
    ObjectId);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// Memory nobody in the program made: what integers turned pointers and unmodelled
    /// code lead to.
    Unknown,
    /// Memory of this type that was handed in from outside the program.
    Outside(TypeId),
    /// The callee's own copy of a struct passed by value.
    ParamCopy {
        function: FunctionId,
        param: u32,
    },
    /// A variable's storage, a VLA, or a call of `alloca`.
    Local {
        function: FunctionId,
        inst: InstId,
    },
    Global(GlobalId),
    /// Memory allocated at this call; of an allocator or of a wrapper around one.
    Heap {
        function: FunctionId,
        inst: InstId,
    },
    /// A handle such as `FILE` made at this call.
    Handle {
        function: FunctionId,
        inst: InstId,
    },
    /// What an external function owns and returns pointers to.
    Library(FunctionId),
    /// The variable arguments a function is called with.
    Varargs(FunctionId),
    Function(FunctionId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: ObjectKind,
    pub layout: Layout,
    /// In bytes, where known.
    pub size: Option<u64>,
    /// Code outside the program may hold a pointer to it.
    pub escapes: bool,
}

impl ObjectKind {
    /// Whether the name stands for at most one object at a time. A local of a recursive
    /// function is several; callers that care must ask the call graph.
    pub fn is_single(self) -> bool {
        matches!(
            self,
            ObjectKind::Global(_)
                | ObjectKind::Local { .. }
                | ObjectKind::ParamCopy { .. }
                | ObjectKind::Function(_)
        )
    }

    /// Whether the memory existed before the program touched it.
    pub fn is_outside(self) -> bool {
        matches!(self, ObjectKind::Unknown | ObjectKind::Outside(_))
    }

    /// Whether it dies when this function returns.
    pub fn is_local_to(self, of: FunctionId) -> bool {
        match self {
            ObjectKind::Local { function, .. }
            | ObjectKind::ParamCopy { function, .. }
            | ObjectKind::Varargs(function) => function == of,
            _ => false,
        }
    }
}

//! Runs a [`Program`](program::Program) step by step, for tests: what the model says a C
//! program does can then be compared with what the program does.
//!
//! Everything the language leaves undefined ends the run with a [`FaultKind`], so the
//! interpreter is also an oracle for small programs: run on all inputs, it tells whether a
//! fault can happen.

mod arithmetic;
mod constants;
mod exec;
mod external;
mod float;
mod instructions;
mod intrinsics;
mod memory;
mod value;
mod varargs;

pub use exec::Machine;
pub use value::{Bits, Value};

/// Why a run ended before its function returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program did what C does not define.
    Fault(FaultKind),
    /// `exit`, with its status.
    Exit(i32),
    /// `abort`, or an assertion that failed.
    Abort,
    /// More steps, calls or memory than the run was allowed.
    OutOfSteps,
    /// Something this interpreter does not know: inline assembler, most of SIMD.
    Unsupported(String),
    /// On its way to the `setjmp` it belongs to: the buffer's address and the value.
    LongJump(u64, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    OutOfBounds,
    Null,
    /// A use of memory after its life: freed, or of a function that has returned.
    UseAfterEnd,
    DoubleFree,
    InvalidFree,
    /// An indeterminate value decided, was an address, or left the program.
    Uninitialised,
    DivideByZero,
    SignedOverflow,
    /// A shift by more than the width, or by less than nothing.
    Shift,
    /// Control came where it cannot come.
    Unreachable,
}

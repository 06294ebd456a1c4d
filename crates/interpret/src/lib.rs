//! Runs a [`Program`](program::Program) step by step.
//!
//! Everything the language leaves undefined ends the run with a [`FaultKind`], so the
//! interpreter is an oracle: run on all inputs, it tells whether a fault can happen. Tests
//! compare what the model says a C program does with what the machine does.
//!
//! Inputs may be unknown: then every value that follows from them has a word of `logic` beside
//! its bits, and the run records what had to hold for it to go the way it went (the
//! [`path`](Machine::path)). Negating one of these conditions and solving for the inputs
//! gives a run that goes another way, so all paths can be explored by running again, and
//! one memory model serves replaying and searching alike.

mod access;
mod arithmetic;
mod asked;
mod choices;
mod constants;
mod course;
mod division;
mod endless;
mod exec;
mod features;
mod float;
mod harness;
mod initialisers;
mod inputs;
mod instructions;
mod intrinsics;
mod leaks;
mod library;
mod liveness;
mod lives;
mod meant;
mod members;
mod memory;
mod monitor;
mod notes;
mod nullable;
mod object;
mod parameters;
mod passing;
mod path;
mod record;
mod shadow;
mod spill;
mod strays;
mod streams;
mod unset;
mod value;
mod varargs;
pub mod watch;
mod world;

pub use asked::{Asked, AskedFile};
pub use choices::{Choices, Chosen};
pub use course::{Corrected, Strayed};
pub use exec::Machine;
pub use features::Features;
pub use float::decode as decode_float;
pub use inputs::{GivenWorld, Input, Inputs, Limits, Room, Shared};
pub use library::numerals::Number;
pub use memory::{Touch, TouchKind};
pub use notes::{Note, Place};
pub use passing::{MAX_PASSED, PassedOver};
pub use path::{Condition, Why};
pub use record::{Executed, Point, Record};
pub use streams::{Failure, FileId, Name, Stream};
pub use value::{Bits, Value, mask, signed};
pub use watch::Watch;

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
    /// The run asks for more from outside than it may have.
    EndOfInput,
    /// Something this interpreter does not know: inline assembler, most of SIMD.
    Unsupported(String),
    /// The run left what was made up for it, such as an array behind a parameter.
    Bound(String),
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
    /// What must not change was written: a string literal, an object that is `const`.
    WriteToConstant,
    /// Control came where it cannot come.
    Unreachable,
    /// Memory or a stream that nothing leads to any more was never released. A run goes on.
    Leak,
    /// A sum, difference or product of unsigned numbers that becomes a size or an index does not
    /// fit. A run goes on.
    Wrap,
    /// A conversion loses part of a value. A run goes on.
    Truncation,
    /// A conversion changes the sign of a value. A run goes on.
    SignChange,
    /// A loop that does not end: it starts again and again with nothing changed.
    Endless,
    /// A rule of a specification, by its number in the [`Watch`]. A run goes on.
    Rule(u16),
}

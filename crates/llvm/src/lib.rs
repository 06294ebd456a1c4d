//! The only crate that knows LLVM: compiles preprocessed units to bitcode and imports
//! bitcode as a [`program::Program`].
//!
//! The C++ in `shim/` reads the bitcode and writes one flat byte stream; everything
//! else is safe Rust on that stream, so no LLVM type leaves this crate.

mod compile;
pub mod instrument;
mod shim;

pub use compile::{CLANG, CompileError, compile, compile_with};
pub use shim::import_stream;

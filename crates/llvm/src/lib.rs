//! The only crate that knows LLVM: compiles preprocessed units to bitcode, imports
//! bitcode as a [`program::Program`], and instruments it for running.
//!
//! The C++ in `shim/` reads the bitcode and writes one flat byte stream; everything
//! else is safe Rust on that stream, so no LLVM type leaves this crate.

mod compile;
mod import;
pub mod instrument;
mod shim;
pub mod suppress;

pub use compile::{CLANG, CompileError, compile, compile_with};
pub use import::{ImportError, import, import_with_text};

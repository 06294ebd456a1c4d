//! Facts computed once per program, which every analysis stands on.

pub mod cfg;
pub mod csr;
pub mod externals;
pub mod loops;
mod scc;

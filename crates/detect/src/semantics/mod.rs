//! What specifications mean on a path.

pub mod apply;
pub mod lowered;
pub mod asking;
pub mod compiled;

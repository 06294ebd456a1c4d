//! What specifications mean on a path.

pub mod apply;
pub mod asking;
pub mod builtin;
pub mod compiled;
pub mod corrupt;
pub mod lowered;
mod special;

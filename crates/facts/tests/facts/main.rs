//! Facts of C programs that the real compiler compiled.

mod checks;
mod common;
mod determinism;
mod effects;
mod flow;
mod made_up;
mod memory;
mod observed;
mod points_to;
mod ranges;
mod size;

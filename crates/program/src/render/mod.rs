//! Programs as text a C programmer reads: types, expressions, functions, graphs.

mod constant;
mod ctype;
pub mod dot;
mod expr;
mod graph;
mod ir;
mod place;
#[cfg(test)]
mod tests;

pub use expr::Renderer;
pub use graph::{callgraph, callgraph_dot, cfg, cfg_dot, icfg, icfg_dot};
pub use ir::{function, global, program};

use crate::{FunctionId, LocId, Operand, Origin, Program};

/// An operand of a function as C-like text, such as `a->b[i + 1].c`. Long expressions are
/// cut short with `...`. To render many operands of one function, keep a [`Renderer`].
pub fn expr(program: &Program, function: FunctionId, operand: Operand) -> String {
    Renderer::new(program, function).expr(operand)
}

/// `file:line:column`, as much of it as is known.
pub fn place_of(program: &Program, loc: LocId) -> String {
    let Some(known) = program.locs.get(loc).filter(|known| loc.is_known() && known.line > 0) else {
        return "<unknown>".to_owned();
    };
    let path = program.files.get(known.file).map_or("<unknown>", |file| &file.path);
    match known.column {
        0 => format!("{path}:{}", known.line),
        column => format!("{path}:{}:{column}", known.line),
    }
}

/// As [`place_of`], with the macro the code came from.
pub fn place_and_macro(program: &Program, loc: LocId) -> String {
    let place = place_of(program, loc);
    let name = |id| program.names.get(id).map_or("?", |name| &**name);
    match program.locs.get(loc).map(|known| known.origin) {
        Some(Origin::Body(id)) => format!("{place} (body of {})", name(id)),
        Some(Origin::Argument(id)) => format!("{place} (argument of {})", name(id)),
        _ => place,
    }
}

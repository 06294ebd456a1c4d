//! Finds the places of a program that specifications speak of.
//!
//! A [`Pattern`] is a point of a specification, compiled. [`PatternSet`] knows for each
//! instruction the few patterns that may match, by operation and by callee, so that a
//! scan of a whole program looks at little else.

mod callee;
mod index;
mod operand;
mod operation;
mod shape;

use program::{BlockId, Body, Function, FunctionId, InstId, Program};

use crate::ast::{Point, Var, VarKind};
use crate::diagnostic::Diagnostic;
use crate::lower::Bindings;

pub use callee::{LibraryName, library_name};
pub use index::{Found, PatternId, PatternSet, SPECIAL_EVENTS};
pub use shape::Shape;

/// A place in a body that a pattern can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodePoint {
    Inst(InstId),
    /// The terminator of a block.
    Terminator(BlockId),
}

/// A compiled point. Matching looks at its shapes; the condition of the point is for the
/// engine to lower and decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    pub shapes: Vec<Shape>,
    kinds: Vec<VarKind>,
    /// Matches calls of functions outside the program only: a program's own function of
    /// that name says itself what it does.
    pub library_only: bool,
}

impl Pattern {
    pub fn compile(point: &Point, vars: &[Var], library_only: bool) -> Result<Self, Diagnostic> {
        let shapes = shape::shapes(point, vars)?;
        Ok(Self { shapes, kinds: vars.iter().map(|var| var.kind).collect(), library_only })
    }

    /// All ways this pattern matches at a point of a function.
    pub fn matches(
        &self,
        program: &Program,
        function: FunctionId,
        point: CodePoint,
    ) -> Vec<Bindings> {
        let function = &program.functions[function];
        let Some(body) = &function.body else { return Vec::new() };
        let matching = Matching { program, function, body, pattern: self };
        let mut found: Vec<Bindings> = Vec::new();
        for shape in &self.shapes {
            for bindings in matching.shape(shape, point) {
                if !found.contains(&bindings) {
                    found.push(bindings);
                }
            }
        }
        found
    }

    fn kind(&self, var: crate::ast::VarIndex) -> VarKind {
        self.kinds.get(var.0 as usize).copied().unwrap_or(VarKind::Any)
    }
}

/// One pattern at work in one body.
struct Matching<'a> {
    program: &'a Program,
    function: &'a Function,
    body: &'a Body,
    pattern: &'a Pattern,
}

impl Matching<'_> {
    fn fresh(&self) -> Bindings {
        Bindings::with_vars(self.pattern.kinds.len())
    }
}

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

use crate::ast::{Point, Var, VarIndex, VarKind};
use crate::c::Expr;
use crate::diagnostic::Diagnostic;
use crate::lower::{Argument, Bindings};
use crate::{facts, format};

pub use callee::{LibraryName, library_name};
pub use index::{Found, PatternId, PatternSet};
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
    /// Set where the match is of a string that a scanf-like format stores.
    pub scan: Option<Scan>,
}

/// Variables of a pattern that stand for what a scanf-like format stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Bound by the shape.
    pub format: VarIndex,
    /// Bound to each argument that receives a string.
    pub target: VarIndex,
    /// Bound to the most bytes it receives.
    pub bytes: VarIndex,
}

/// What a conversion without a width may store: as much as the outside gives.
const UNLIMITED: i128 = 1 << 32;

impl Pattern {
    pub fn compile(point: &Point, vars: &[Var], library_only: bool) -> Result<Self, Diagnostic> {
        let shapes = shape::shapes(point, vars)?;
        let kinds = vars.iter().map(|var| var.kind).collect();
        Ok(Self { shapes, kinds, library_only, scan: None })
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
        match self.scan {
            Some(scan) => found.iter().flat_map(|b| scanned(program, scan, b)).collect(),
            None => found,
        }
    }

    /// The match at an instruction that stands for a call of `name` with these arguments.
    fn matches_as_call(
        &self,
        program: &Program,
        function: FunctionId,
        inst: InstId,
        name: &str,
        arguments: &[Argument],
    ) -> Option<Bindings> {
        let function = &program.functions[function];
        let body = function.body.as_ref()?;
        let matching = Matching { program, function, body, pattern: self };
        self.shapes.iter().find_map(|shape| {
            let Shape::Call { result, callee: Expr::Name(callee), args } = shape else {
                return None;
            };
            if callee != name || args.len() != arguments.len() {
                return None;
            }
            let mut bindings = matching.fresh();
            let made = Argument::Operand(program::Operand::Inst(inst));
            let bound =
                result.iter().zip([made]).all(|(p, a)| matching.target(p, a, &mut bindings))
                    && args.iter().zip(arguments).all(|(pattern, argument)| {
                        matching.target(pattern, argument.clone(), &mut bindings)
                    });
            bound.then_some(bindings)
        })
    }

    fn kind(&self, var: VarIndex) -> VarKind {
        self.kinds.get(var.0 as usize).copied().unwrap_or(VarKind::Any)
    }
}

/// One match per string the format stores; none where the format is not a literal.
fn scanned(program: &Program, scan: Scan, bindings: &Bindings) -> Vec<Bindings> {
    let format = bindings.get(scan.format);
    let Some(text) = format.and_then(|format| facts::literal_bytes(program, format)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (index, room) in format::scanned_strings(&text) {
        let Some(target) = bindings.rest.get(index) else { break };
        let mut one = bindings.clone();
        let bytes = room.map_or(UNLIMITED, |room| room as i128);
        if one.bind(scan.target, Argument::Operand(*target))
            && one.bind(scan.bytes, Argument::Number(bytes))
        {
            found.push(one);
        }
    }
    found
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

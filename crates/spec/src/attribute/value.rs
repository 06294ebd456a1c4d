//! `Value`: the number a variable holds; for a pointer, its address.

use logic::TermId;

use super::{ANY_VAR, Attribute, AttributeId, Nature, Param, Type};
use crate::lower::{Argument, Context, Unsupported};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Value"
    }

    fn summary(&self) -> &'static str {
        "the number a variable holds; for a pointer, its address, 0 for a null pointer"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Number
    }

    fn nature(&self) -> Nature {
        Nature::Tracked
    }

    /// The value of a constant or of a term is that itself.
    fn term(
        &self,
        id: AttributeId,
        args: &[Argument],
        context: &mut dyn Context,
    ) -> Result<TermId, Unsupported> {
        match args {
            [Argument::Number(value)] => Ok(context.terms().constant(*value)),
            [Argument::Term(term)] => Ok(*term),
            _ => context.tracked(id, args, self.domain()),
        }
    }
}

//! `MatchOperand`: the operands of the statement that match one of the patterns

use super::{Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "MatchOperand"
    }

    fn summary(&self) -> &'static str {
        "the operands of the statement that match one of the patterns"
    }

    fn params(&self) -> &'static [Param] {
        &[Param::Patterns]
    }

    fn result(&self) -> Type {
        Type::Matches
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }
}

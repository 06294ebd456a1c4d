//! `Src`: an operand of the operation that computes a value, counted from 1

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Src"
    }

    fn summary(&self) -> &'static str {
        "an operand of the operation that computes a value, counted from 1"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR, Param::Number]
    }

    fn result(&self) -> Type {
        Type::Number
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }
}

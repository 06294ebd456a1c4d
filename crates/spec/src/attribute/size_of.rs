//! `SizeOf`: the bytes of the type of a value; for a pointer, of what it points to

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "SizeOf"
    }

    fn summary(&self) -> &'static str {
        "the bytes of the type of a value; for a pointer, of what it points to"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Number
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }

    fn domain(&self) -> logic::Interval {
        logic::Interval::at_least(0)
    }
}

//! `TMin`: the smallest value the type of a variable holds

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "TMin"
    }

    fn summary(&self) -> &'static str {
        "the smallest value the type of a variable holds"
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
}

//! `Signed`: whether the type of a value is a signed integer

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Signed"
    }

    fn summary(&self) -> &'static str {
        "whether the type of a value is a signed integer"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Truth
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }
}

//! `IsConstStr`: whether a pointer is the address of a string literal

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "IsConstStr"
    }

    fn summary(&self) -> &'static str {
        "whether a pointer is the address of a string literal"
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

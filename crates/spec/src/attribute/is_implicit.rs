//! `IsImplicit`: whether the language converted the value on its own, without a cast

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "IsImplicit"
    }

    fn summary(&self) -> &'static str {
        "whether the language converted the value on its own, without a cast"
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

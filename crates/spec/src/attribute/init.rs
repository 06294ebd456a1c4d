//! `Init`: whether a value, or the memory a pointer points to, has been given a value

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Init"
    }

    fn summary(&self) -> &'static str {
        "whether a value, or the memory a pointer points to, has been given a value"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Truth
    }

    fn nature(&self) -> Nature {
        Nature::Tracked
    }
}

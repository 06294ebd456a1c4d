//! `Input`: whether the outside world decides the value, or the contents of the memory

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Input"
    }

    fn summary(&self) -> &'static str {
        "whether the outside world decides the value, or the contents of the memory"
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

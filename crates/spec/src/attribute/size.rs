//! `Size`: the bytes from where the pointer points to the end of its object

use super::{Attribute, MEMORY, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Size"
    }

    fn summary(&self) -> &'static str {
        "the bytes from where the pointer points to the end of its object"
    }

    fn params(&self) -> &'static [Param] {
        &[MEMORY]
    }

    fn result(&self) -> Type {
        Type::Number
    }

    fn nature(&self) -> Nature {
        Nature::Tracked
    }
}

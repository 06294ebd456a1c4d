//! `Offset`: the bytes from the start of the object to where the pointer points

use super::{Attribute, MEMORY, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Offset"
    }

    fn summary(&self) -> &'static str {
        "the bytes from the start of the object to where the pointer points"
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

//! `State`: the typestate of an object, such as open, closed, allocated or freed

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "State"
    }

    fn summary(&self) -> &'static str {
        "the typestate of an object, such as open, closed, allocated or freed"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Name
    }

    fn nature(&self) -> Nature {
        Nature::Tracked
    }
}

//! `Avail`: how many resources of the kind of this one are left

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Avail"
    }

    fn summary(&self) -> &'static str {
        "how many resources of the kind of this one are left"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Number
    }

    fn nature(&self) -> Nature {
        Nature::Tracked
    }
}

//! `Held`: the typestate of one place, such as a lock that is a member of a record

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Held"
    }

    fn summary(&self) -> &'static str {
        "the typestate of one place: of two locks in a record, each has its own"
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

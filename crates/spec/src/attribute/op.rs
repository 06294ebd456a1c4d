//! `Op`: the operation that computes a value

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Op"
    }

    fn summary(&self) -> &'static str {
        "the operation that computes a value"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Name
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }

    fn names(&self) -> Option<&'static [&'static str]> {
        Some(crate::facts::OPERATIONS)
    }
}

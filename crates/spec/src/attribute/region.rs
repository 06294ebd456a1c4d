//! `Region`: the kind of memory a pointer points into

use super::{Attribute, MEMORY, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Region"
    }

    fn summary(&self) -> &'static str {
        "the kind of memory a pointer points into"
    }

    fn params(&self) -> &'static [Param] {
        &[MEMORY]
    }

    fn result(&self) -> Type {
        Type::Name
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }

    fn names(&self) -> Option<&'static [&'static str]> {
        Some(&["heap", "stack", "global", "literal", "code"])
    }
}

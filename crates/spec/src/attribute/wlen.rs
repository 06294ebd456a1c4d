//! `WLen`: the wide characters before the terminating zero of the string a pointer points to; undef where there is none

use super::{Attribute, MEMORY, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "WLen"
    }

    fn summary(&self) -> &'static str {
        "the wide characters before the terminating zero of the string a pointer points to; undef where there is none"
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

//! `Fill`: what every byte of the memory a pointer points to holds

use super::{Attribute, MEMORY, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Fill"
    }

    fn summary(&self) -> &'static str {
        "what every byte of the memory a pointer points to holds, where a model fills it"
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

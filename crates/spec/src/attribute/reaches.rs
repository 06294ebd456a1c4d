//! `Reaches`: whether the value flows into a size, an index, a loop bound or an allocation

use super::{ANY_VAR, Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Reaches"
    }

    fn summary(&self) -> &'static str {
        "whether the value flows into a size, an index, a loop bound or an allocation"
    }

    fn params(&self) -> &'static [Param] {
        &[ANY_VAR]
    }

    fn result(&self) -> Type {
        Type::Truth
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }
}

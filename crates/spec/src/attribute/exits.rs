//! `Exits`: whether some exit condition of the loop can still change on this path

use super::{Attribute, Nature, Param, Type};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "Exits"
    }

    fn summary(&self) -> &'static str {
        "whether some exit condition of the loop can still change on this path"
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }

    fn result(&self) -> Type {
        Type::Truth
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }
}

//! `FormatLen`: how many bytes a printf-like format writes.

use logic::TermId;

use super::{Attribute, AttributeId, MEMORY, Nature, Param, Type};
use crate::format;
use crate::lower::{Argument, Context, Unsupported};

pub struct Attr;

impl Attribute for Attr {
    fn name(&self) -> &'static str {
        "FormatLen"
    }

    fn summary(&self) -> &'static str {
        "the bytes a printf format makes of the remaining arguments, without the terminating zero"
    }

    fn params(&self) -> &'static [Param] {
        &[MEMORY, Param::Rest]
    }

    fn result(&self) -> Type {
        Type::Number
    }

    fn nature(&self) -> Nature {
        Nature::Fixed
    }

    fn domain(&self) -> logic::Interval {
        logic::Interval::at_least(0)
    }

    fn term(
        &self,
        _: AttributeId,
        args: &[Argument],
        context: &mut dyn Context,
    ) -> Result<TermId, Unsupported> {
        let [format, Argument::Rest(rest)] = args else { return Err(Unsupported::Format) };
        format::printed_length(format, rest, context)
    }
}

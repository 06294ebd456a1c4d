//! Attributes: the abstractions of program objects that specifications speak about.
//!
//! Each file of this folder is one attribute and nothing else needs to change to add one:
//! a type `Attr` that implements [`Attribute`].

use logic::{Interval, TermId};

use crate::ast::VarKind;
use crate::lower::{Argument, Context, Unsupported};

include!(concat!(env!("OUT_DIR"), "/attributes.rs"));

/// Index into the registry. Stable within one build of firstfault only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeId(u16);

/// What kind of value an attribute has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Number,
    Truth,
    /// One of a set of names: states, operations, kinds of memory.
    Name,
    /// A set of matches.
    Matches,
}

/// Who knows an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nature {
    /// Changes along paths; contributing points may assign it.
    Tracked,
    /// Follows from the text of the program or from facts computed beforehand.
    Fixed,
}

/// One argument of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A variable of one of these kinds (`any` variables fit all).
    Var(&'static [VarKind]),
    Number,
    /// `...`
    Rest,
    Patterns,
}

pub const MEMORY: Param = Param::Var(&[VarKind::Buffer, VarKind::Ptr]);
pub const NUMBER_VAR: Param = Param::Var(&[VarKind::Int, VarKind::Float]);
pub const ANY_VAR: Param =
    Param::Var(&[VarKind::Buffer, VarKind::Int, VarKind::Float, VarKind::Ptr, VarKind::Any]);

pub trait Attribute: Sync {
    fn name(&self) -> &'static str;

    /// One sentence for documentation and error messages.
    fn summary(&self) -> &'static str;

    fn params(&self) -> &'static [Param];

    fn result(&self) -> Type;

    fn nature(&self) -> Nature;

    /// Values it can have where nothing else is known.
    fn domain(&self) -> Interval {
        match self.result() {
            Type::Truth => Interval::new(0, 1),
            _ => Interval::ALL,
        }
    }

    /// Names it can have; `None` where any name will do (states).
    fn names(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The term it stands for. The default is a symbol of the engine's, or the fact the
    /// engine knows.
    fn term(
        &self,
        id: AttributeId,
        args: &[Argument],
        context: &mut dyn Context,
    ) -> Result<TermId, Unsupported> {
        match self.nature() {
            Nature::Tracked => context.tracked(id, args, self.domain()),
            Nature::Fixed => {
                let known = context.fact(id, args).ok_or(Unsupported::UnknownFact(id))?;
                Ok(context.terms().constant(known))
            }
        }
    }
}

impl AttributeId {
    pub fn find(name: &str) -> Option<AttributeId> {
        let index = ALL.iter().position(|attribute| attribute.name() == name)?;
        Some(AttributeId(index as u16))
    }

    pub fn all() -> impl Iterator<Item = AttributeId> {
        (0..ALL.len()).map(|index| AttributeId(index as u16))
    }

    pub fn get(self) -> &'static dyn Attribute {
        ALL[self.0 as usize]
    }

    pub fn name(self) -> &'static str {
        self.get().name()
    }

    /// How it is called: `Size(buffer|ptr)`.
    pub fn usage(self) -> String {
        let params: Vec<String> = self
            .get()
            .params()
            .iter()
            .map(|param| match param {
                Param::Var(kinds) if kinds.len() > 3 => "any".to_string(),
                Param::Var(kinds) => {
                    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join("|")
                }
                Param::Number => "number".to_string(),
                Param::Rest => "...".to_string(),
                Param::Patterns => "pattern, ...".to_string(),
            })
            .collect();
        format!("{}({})", self.name(), params.join(", "))
    }
}

impl std::fmt::Debug for AttributeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_documented() {
        let mut names: Vec<&str> = AttributeId::all().map(AttributeId::name).collect();
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
        assert!(AttributeId::all().all(|id| !id.get().summary().is_empty()));
        for name in ["Size", "Len", "Value", "TMax", "TMin", "State", "Init", "Op", "Src"] {
            assert!(AttributeId::find(name).is_some(), "{name}");
        }
    }
}

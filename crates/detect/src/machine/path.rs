//! The conditions a path has passed, shared between the states that fork from it.

use std::rc::Rc;

use logic::{FormulaId, Terms};
use program::LocId;

#[derive(Clone, Debug, Default)]
pub struct Path {
    newest: Option<Rc<Condition>>,
    /// A condition was false: nothing gets here.
    pub is_dead: bool,
}

#[derive(Debug)]
pub struct Condition {
    pub formula: FormulaId,
    /// Where the program tests it; unknown for what the semantics imply.
    pub loc: LocId,
    /// The call it was tested in, by number; `None` for what the semantics imply.
    pub frame: Option<u32>,
    before: Option<Rc<Condition>>,
}

impl Path {
    pub fn assume(&mut self, formula: FormulaId, loc: LocId, frame: Option<u32>) {
        if formula == Terms::FALSE {
            self.is_dead = true;
        }
        if formula == Terms::TRUE || self.iter().take(8).any(|known| known.formula == formula) {
            return;
        }
        let before = self.newest.take();
        self.newest = Some(Rc::new(Condition { formula, loc, frame, before }));
    }

    /// Newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Condition> {
        std::iter::successors(self.newest.as_deref(), |condition| condition.before.as_deref())
    }

    pub fn formulas(&self) -> Vec<FormulaId> {
        self.iter().map(|condition| condition.formula).collect()
    }
}

impl Drop for Condition {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(condition) = next {
            match Rc::try_unwrap(condition) {
                Ok(mut condition) => next = condition.before.take(),
                Err(_) => break,
            }
        }
    }
}

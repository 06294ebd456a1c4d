//! The conditions a path has passed, shared between the states that fork from it.

use std::rc::Rc;

use logic::{FormulaId, Terms};
use program::LocId;

#[derive(Clone, Debug, Default)]
pub struct Path {
    newest: Option<Rc<Condition>>,
    /// What must have held because the path went on; looked at only where it is to be
    /// reported, since it grows with every access.
    survived: Option<Rc<Condition>>,
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
    /// Whether the test says that its outcome occurs: not so where a loop may run no
    /// iteration at all.
    pub is_evidence: bool,
    /// Whether the path could have gone another way.
    pub is_choice: bool,
    /// Whether it is about something that the caller of the function holds and nobody knows: as
    /// long as the call is not over, that says nothing about this caller.
    pub is_callers: bool,
    before: Option<Rc<Condition>>,
}

impl Path {
    pub fn assume(&mut self, formula: FormulaId, loc: LocId, frame: Option<u32>) {
        self.add(Condition::new(formula, loc, frame));
    }

    /// The program decides on the formula, and the path could as well have gone on without.
    pub fn choose(&mut self, formula: FormulaId, loc: LocId, frame: u32, is_callers: bool) {
        let mut condition = Condition::new(formula, loc, Some(frame));
        (condition.is_choice, condition.is_callers) = (true, is_callers);
        self.add(condition);
    }

    /// The path goes on with a formula that nobody says can hold.
    pub fn assume_without_evidence(&mut self, formula: FormulaId, loc: LocId, frame: u32) {
        let mut condition = Condition::new(formula, loc, Some(frame));
        (condition.is_choice, condition.is_evidence) = (true, false);
        self.add(condition);
    }

    /// The path went on past a point where it would have ended had this not held.
    pub fn survive(&mut self, formula: FormulaId) {
        self.is_dead |= formula == Terms::FALSE;
        if formula != Terms::TRUE && !chain(&self.survived).take(8).any(|c| c.formula == formula) {
            let mut condition = Condition::new(formula, LocId::UNKNOWN, None);
            condition.is_evidence = false;
            condition.before = self.survived.take();
            self.survived = Some(Rc::new(condition));
        }
    }

    fn add(&mut self, mut condition: Condition) {
        let formula = condition.formula;
        if formula == Terms::FALSE {
            self.is_dead = true;
        }
        if formula == Terms::TRUE || self.iter().take(8).any(|known| known.formula == formula) {
            return;
        }
        condition.before = self.newest.take();
        self.newest = Some(Rc::new(condition));
    }

    /// Whether the conditions are the very same ones.
    pub fn is_same(&self, other: &Path) -> bool {
        match (&self.newest, &other.newest) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Condition> {
        chain(&self.newest)
    }

    pub fn formulas(&self) -> Vec<FormulaId> {
        self.iter().map(|condition| condition.formula).collect()
    }

    /// The conditions, and what the path survived.
    pub fn all_formulas(&self) -> Vec<FormulaId> {
        self.iter().chain(chain(&self.survived)).map(|condition| condition.formula).collect()
    }
}

impl Condition {
    fn new(formula: FormulaId, loc: LocId, frame: Option<u32>) -> Self {
        Self {
            formula,
            loc,
            frame,
            is_evidence: true,
            is_choice: false,
            is_callers: false,
            before: None,
        }
    }
}

fn chain(newest: &Option<Rc<Condition>>) -> impl Iterator<Item = &Condition> {
    std::iter::successors(newest.as_deref(), |condition| condition.before.as_deref())
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

//! Watching a run: what specifications require of it, on its values and beside that on the words
//! these follow from.

use logic::words::{Word, WordId, WordOp};
use program::{BlockId, InstId, Operand, Ty};

use crate::exec::{Frame, Machine};
use crate::notes::Note;
use crate::path::Why;
use crate::record::Point;
use crate::value::{Value, mask, signed};
use crate::watch::{Check, Comparison, Effect, Formula, POINTS, Points, REFERENCES, Term};
use crate::{FaultKind, Stop};

/// Numbers of a formula are compared in as many bits more than they have.
const ROOM: u32 = 2;

impl<'p> Machine<'p> {
    /// As [`step`](Self::step), watched.
    pub(crate) fn watched_step(&mut self, frame: &mut Frame<'p>, inst: InstId) -> Result<(), Stop> {
        let Some(watch) = self.notes.watch else { return self.step(frame, inst) };
        let tasks = watch.tasks(frame.id, inst);
        if tasks == 0 && !self.has_strays() && !self.memory.goes_on() {
            return self.step(frame, inst);
        }
        if self.has_corrected_strays() && self.corrected_step(frame, inst)? {
            return Ok(());
        }
        let points = if tasks & POINTS != 0 { watch.at(frame.id, inst) } else { None };
        let mut meant = None;
        if let Some(points) = points {
            meant = self.monitor_checks(frame, Point::Inst(inst), points);
        }
        if self.has_strays() {
            self.strays_before(frame, inst);
        }
        let leaks = watch.leaks && tasks & REFERENCES != 0;
        let before = if leaks { self.leaks_before(frame, inst) } else { Vec::new() };
        self.step(frame, inst)?;
        if let Some(points) = points {
            self.run_effects(frame, inst, &points.effects);
        }
        if leaks {
            self.leaks_after(frame, inst, before);
        }
        if self.has_strays() {
            self.strays_after(frame, inst);
        }
        let goes_on = self.memory.goes_on();
        let is_ruled = meant.is_some();
        if goes_on && !is_ruled {
            meant = self.changes_number(frame, inst);
        }
        if let Some((meant, kind)) =
            meant.filter(|_| goes_on || !self.computes_with_strays(frame, inst))
        {
            self.strays_at(frame, inst, meant, (kind, is_ruled));
        }
        if let Some(meant) = self.course.overflowed.take() {
            self.strays_at(frame, inst, meant, (FaultKind::SignedOverflow, true));
        }
        Ok(())
    }

    /// Before the end of a block.
    #[inline]
    pub(crate) fn monitor_end(&mut self, frame: &Frame<'p>, block: BlockId) {
        if let Some(points) = self.notes.watch.and_then(|watch| watch.at_end(frame.id, block)) {
            self.monitor_checks(frame, Point::End(block), points);
        }
    }

    /// What a number was meant to be, where one is violated that only then does harm.
    fn monitor_checks(
        &mut self,
        frame: &Frame<'p>,
        at: Point,
        points: &Points,
    ) -> Option<(i128, FaultKind)> {
        let mut meant = None;
        for check in &points.checks {
            if self.truth(frame, &check.when) != Some(true) {
                continue;
            }
            let Some(holds) = self.truth(frame, &check.require) else { continue };
            self.remember(frame, check, holds);
            if let Some(number) = check.meant.as_ref().filter(|_| !holds) {
                meant = self.term(frame, number).map(|number| (number, check.kind));
            } else if !holds {
                let opened = self.states_of(frame, &check.require);
                self.note(Note {
                    kind: check.kind,
                    at: (frame.id, at),
                    allocated: None,
                    released: opened,
                    n_recorded: 0,
                    steps_left: 0,
                    by: None,
                });
            }
        }
        meant
    }

    /// Where the state was set that a condition asks for.
    fn states_of(&self, frame: &Frame<'p>, formula: &Formula) -> Option<crate::notes::Place> {
        match formula {
            Formula::Known(_) => None,
            Formula::Compare(_, left, right) => [left, right].into_iter().find_map(|term| {
                let Term::State(attribute, of) = term else { return None };
                let key = self.key(frame, *of)?;
                self.notes.states.get(&(*attribute, key)).map(|(_, place)| *place)
            }),
            Formula::Not(inner) => self.states_of(frame, inner),
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().find_map(|part| self.states_of(frame, part))
            }
        }
    }

    /// Says of what follows from inputs that the condition held, or that it did not.
    fn remember(&mut self, frame: &Frame<'p>, check: &Check, holds: bool) {
        if !self.inputs.are_unknown || !self.follows(frame, &check.require) {
            return;
        }
        let Some(bit) = self.formula_word(frame, &check.require) else { return };
        let bit = if holds { bit } else { self.memory.words.not(bit) };
        self.holds(bit, Why::Check(check.kind));
    }

    fn run_effects(&mut self, frame: &Frame<'p>, inst: InstId, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Set { attribute, of, value } => {
                    let Some(key) = self.key(frame, *of) else { continue };
                    let value = self.term(frame, value);
                    let place = (frame.id, Point::Inst(inst));
                    match value {
                        Some(value) => {
                            self.notes.states.insert((*attribute, key), (value, place));
                            let open = self.notes.watch.and_then(|watch| watch.open);
                            let open = open.filter(|_| self.watches_leaks());
                            if let Some((_, code)) = open.filter(|open| open.0 == *attribute) {
                                // Only what a call answers with is its caller's.
                                let is_owned = *of == Operand::Inst(inst)
                                    && (self.ty(frame, *of) == Ty::Ptr
                                        || self.is_descriptor(frame, *of));
                                if value != code || is_owned {
                                    self.leaks_of_state(key, value == code, place);
                                }
                            }
                        }
                        None => drop(self.notes.states.remove(&(*attribute, key))),
                    }
                }
                Effect::Choose(ways) => {
                    let chosen =
                        ways.iter().find(|(guard, _)| self.truth(frame, guard) == Some(true));
                    if let Some((_, effects)) = chosen {
                        self.run_effects(frame, inst, effects);
                    }
                }
            }
        }
    }

    /// What an object is known by: its address, or a number that stands for it.
    fn key(&self, frame: &Frame<'p>, of: Operand) -> Option<u64> {
        match self.operand(frame, of).ok()? {
            Value::Bits(bits) if bits.is_known() => Some(bits.bits as u64),
            _ => None,
        }
    }

    /// Whether a formula holds; `None` where that is not known.
    fn truth(&mut self, frame: &Frame<'p>, formula: &Formula) -> Option<bool> {
        match formula {
            Formula::Known(value) => Some(*value),
            Formula::Compare(comparison, left, right) => {
                let (a, b) = (self.term(frame, left)?, self.term(frame, right)?);
                Some(match comparison {
                    Comparison::Eq => a == b,
                    Comparison::Lt => a < b,
                    Comparison::Le => a <= b,
                })
            }
            Formula::Not(inner) => self.truth(frame, inner).map(|value| !value),
            Formula::All(parts) => {
                let mut all = Some(true);
                for part in parts {
                    match self.truth(frame, part) {
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => all = None,
                    }
                }
                all
            }
            Formula::Any(parts) => {
                let mut any = Some(false);
                for part in parts {
                    match self.truth(frame, part) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => any = None,
                    }
                }
                any
            }
        }
    }

    fn term(&mut self, frame: &Frame<'p>, term: &Term) -> Option<i128> {
        match term {
            Term::Number(number) => Some(*number),
            Term::Value(operand, width, is_signed) => {
                let bits = self.bits(frame, *operand).ok().filter(|bits| bits.is_known())?;
                match is_signed {
                    true => Some(signed(bits.bits, *width)),
                    false => i128::try_from(bits.bits & mask(*width)).ok(),
                }
            }
            Term::State(attribute, of) => {
                let key = self.key(frame, *of)?;
                self.notes.states.get(&(*attribute, key)).map(|(value, _)| *value)
            }
            Term::Size(of) | Term::Offset(of) => {
                let address = self.key(frame, *of)?;
                let reach = self.memory.reach(address)?;
                let offset = address - reach.base;
                let size = reach.size.checked_sub(offset)?;
                Some(i128::from(if matches!(term, Term::Size(_)) { size } else { offset }))
            }
            Term::Length(of) => {
                let address = self.key(frame, *of)?;
                self.string_length(address).map(i128::from)
            }
            Term::Sum(a, b) => Some(self.term(frame, a)?.saturating_add(self.term(frame, b)?)),
            Term::Difference(a, b) => {
                Some(self.term(frame, a)?.saturating_sub(self.term(frame, b)?))
            }
            Term::Product(a, b) => Some(self.term(frame, a)?.saturating_mul(self.term(frame, b)?)),
        }
    }

    /// Whether a formula is about values that follow from inputs.
    fn follows(&self, frame: &Frame<'p>, formula: &Formula) -> bool {
        match formula {
            Formula::Known(_) => false,
            Formula::Compare(_, left, right) => {
                self.term_follows(frame, left) || self.term_follows(frame, right)
            }
            Formula::Not(inner) => self.follows(frame, inner),
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().any(|part| self.follows(frame, part))
            }
        }
    }

    fn term_follows(&self, frame: &Frame<'p>, term: &Term) -> bool {
        match term {
            Term::Value(operand, ..) => {
                self.bits(frame, *operand).is_ok_and(|bits| bits.word.is_some())
            }
            Term::Sum(a, b) | Term::Difference(a, b) | Term::Product(a, b) => {
                self.term_follows(frame, a) || self.term_follows(frame, b)
            }
            _ => false,
        }
    }

    fn formula_word(&mut self, frame: &Frame<'p>, formula: &Formula) -> Option<WordId> {
        match formula {
            Formula::Known(value) => Some(self.memory.words.bit(*value)),
            Formula::Compare(comparison, left, right) => {
                let width = self.room(frame, left)?.max(self.room(frame, right)?) + ROOM;
                if width > 128 {
                    return None;
                }
                let (a, b) =
                    (self.term_word(frame, left, width)?, self.term_word(frame, right, width)?);
                let words = &mut self.memory.words;
                Some(match comparison {
                    Comparison::Eq => words.eq(a, b),
                    Comparison::Lt => words.binary(WordOp::SignedLt, a, b),
                    Comparison::Le => words.binary(WordOp::SignedLe, a, b),
                })
            }
            Formula::Not(inner) => {
                let inner = self.formula_word(frame, inner)?;
                Some(self.memory.words.not(inner))
            }
            Formula::All(parts) | Formula::Any(parts) => {
                let is_all = matches!(formula, Formula::All(_));
                let mut whole = self.memory.words.bit(is_all);
                for part in parts {
                    let part = self.formula_word(frame, part)?;
                    let words = &mut self.memory.words;
                    whole = if is_all { words.and(whole, part) } else { words.or(whole, part) };
                }
                Some(whole)
            }
        }
    }

    /// Bits that hold every value of a term, a sign included.
    fn room(&self, frame: &Frame<'p>, term: &Term) -> Option<u32> {
        Some(match term {
            Term::Number(number) => bits_of(*number),
            Term::Value(operand, width, is_signed) => {
                let bits = self.bits(frame, *operand).ok()?;
                let words = &self.memory.words;
                match bits.word.map(|word| words.word(word)) {
                    None if *is_signed => bits_of(signed(bits.bits, *width)),
                    None => bits_of(i128::try_from(bits.bits & mask(*width)).ok()?),
                    Some(Word::ZeroExtend(inner)) => words.width(*inner) + 1,
                    Some(Word::SignExtend(inner)) if *is_signed => words.width(*inner),
                    Some(_) => width + u32::from(!is_signed),
                }
            }
            Term::State(..) => return None,
            Term::Size(_) | Term::Offset(_) | Term::Length(_) => 65,
            Term::Sum(a, b) | Term::Difference(a, b) => {
                self.room(frame, a)?.max(self.room(frame, b)?) + 1
            }
            Term::Product(a, b) => self.room(frame, a)? + self.room(frame, b)?,
        })
    }

    fn term_word(&mut self, frame: &Frame<'p>, term: &Term, width: u32) -> Option<WordId> {
        match term {
            Term::Value(operand, from, is_signed) => {
                let bits = self.bits(frame, *operand).ok().filter(|bits| bits.is_known())?;
                let word = self.word(bits, *from);
                Some(self.memory.words.resize(word, width, *is_signed))
            }
            Term::Sum(a, b) | Term::Difference(a, b) | Term::Product(a, b) => {
                let (x, y) = (self.term_word(frame, a, width)?, self.term_word(frame, b, width)?);
                let op = match term {
                    Term::Sum(..) => WordOp::Add,
                    Term::Difference(..) => WordOp::Sub,
                    _ => WordOp::Mul,
                };
                Some(self.memory.words.binary(op, x, y))
            }
            other => {
                let number = self.term(frame, other)?;
                Some(self.memory.words.constant(width, number as u128 & mask(width)))
            }
        }
    }
}

/// Bits that hold a number and its sign.
fn bits_of(number: i128) -> u32 {
    129 - number.unsigned_abs().leading_zeros()
}

impl FaultKind {
    /// Whether a run goes on after it.
    pub fn is_noted(self) -> bool {
        use FaultKind::*;
        matches!(self, Leak | Wrap | Truncation | SignChange | Rule(_))
    }
}

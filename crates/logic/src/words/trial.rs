//! Conditions on few unknowns of few values each, such as bytes of text, are decided by trying
//! all values: z3 takes much longer over a table that is looked up at an unknown character.
//!
//! Unknowns get their values one after the other, those with the fewest first, and conditions
//! are looked at as soon as all they are made of is known. The last unknown gets all of its
//! values at once. Of an unknown with many values some are tried that are likely to do: then
//! only that they do says something.

use rustc_hash::FxHashMap;

use super::eval::parts;
use super::lanes::{Lanes, compute_lanes};
use super::range::Range;
use super::{Answer, UnknownId, Values, Word, WordId, Words, mask};

/// More unknowns have too many values together.
const MAX_UNKNOWNS: usize = 16;
/// More values of one unknown are not tried.
const MAX_VALUES: u128 = 4096;

impl Words {
    /// Whether these bits can all hold, decided by intervals or by trying all values; `None`
    /// where that would take more than `max_work` values of words. Says the work it took, too.
    pub fn try_all(&self, bits: &[WordId], max_work: u64) -> (Option<Answer>, u64) {
        let Some(known) = self.narrowed(bits) else { return (Some(Answer::Unsat), 0) };
        let Some(mut trial) = Trial::new(self, bits, &known, max_work) else { return (None, 0) };
        let answer = trial.decide();
        (answer, trial.work)
    }
}

struct Variable {
    unknown: UnknownId,
    /// In the order of words.
    place: usize,
    values: Vec<u64>,
}

struct Trial<'w> {
    words: &'w Words,
    /// Parts before what is made of them.
    order: Vec<WordId>,
    /// Where in `order` the parts of each word stand; itself where it has fewer.
    parts: Vec<[usize; 3]>,
    /// The variables each word of `order` is made of, as a set of bits.
    supports: Vec<u32>,
    /// Whether each word of `order` is to hold.
    is_condition: Vec<bool>,
    /// All values of all variables are tried.
    is_whole: bool,
    variables: Vec<Variable>,
    /// Of each word of `order` that is known, for the values that are being tried.
    values: Vec<u64>,
    /// Of each word that depends on the unknown that gets all values at once.
    lanes: Vec<Vec<u64>>,
    work: u64,
    max_work: u64,
}

/// Once so small a part of the values is left, it is gone on with alone.
const THIN: usize = 4;
/// Values that are tried of an unknown that has many.
const MAX_LIKELY: usize = 64;

/// Computing one value of a word takes as long as so many of the values that are computed at once.
const WORK_OF_ONE: u64 = 8;

/// The part of the work that is spent where not all values can be tried.
const LUCK: u64 = 16;

/// There are too many values to try.
struct TooMany;

impl<'w> Trial<'w> {
    fn new(
        words: &'w Words,
        bits: &[WordId],
        known: &FxHashMap<WordId, Range>,
        max_work: u64,
    ) -> Option<Self> {
        let order = words.all_parts(bits, max_work as usize)?;
        let places: FxHashMap<WordId, usize> = order.iter().copied().zip(0..).collect();
        let mut trial = Self {
            words,
            parts: Vec::with_capacity(order.len()),
            supports: Vec::with_capacity(order.len()),
            is_condition: vec![false; order.len()],
            is_whole: true,
            variables: Vec::new(),
            values: vec![0; order.len()],
            lanes: vec![Vec::new(); order.len()],
            order,
            work: 0,
            max_work,
        };
        bits.iter().for_each(|bit| trial.is_condition[places[bit]] = true);
        for place in 0..trial.order.len() {
            let word = trial.order[place];
            if words.width(word) > 64 {
                return None;
            }
            let mut support = 0;
            if let Word::Unknown(unknown) = *words.word(word) {
                let range = range_of(known.get(&word), words.width(word));
                trial.is_whole &= range.span < MAX_VALUES;
                let values = match range.span < MAX_VALUES {
                    true => all_values(range),
                    false => likely_values(words, &trial.order, range),
                };
                support = 1 << trial.variables.len();
                trial.variables.push(Variable { unknown, place, values });
                if trial.variables.len() > MAX_UNKNOWNS {
                    return None;
                }
            }
            let parts =
                parts(words.word(word)).map(|part| part.map_or(place, |part| places[&part]));
            for part in parts.iter().filter(|part| **part != place) {
                support |= trial.supports[*part];
            }
            trial.parts.push(parts);
            trial.supports.push(support);
        }
        Some(trial)
    }

    fn decide(&mut self) -> Option<Answer> {
        let mut chosen = Values::default();
        match self.find(&mut chosen) {
            Ok(true) => Some(Answer::Sat(chosen)),
            Ok(false) if self.is_whole => Some(Answer::Unsat),
            _ => None,
        }
    }

    fn find(&mut self, chosen: &mut Values) -> Result<bool, TooMany> {
        if !self.compute(&self.places(0, 0))? {
            return Ok(false);
        }
        for variable in 0..self.variables.len() {
            // Conditions on this variable alone.
            let values = self.fitting(&self.places(0, 1 << variable), variable)?;
            if values.is_empty() {
                return Ok(false);
            }
            self.variables[variable].values = values;
        }
        let mut order: Vec<usize> = (0..self.variables.len()).collect();
        order.sort_by_key(|variable| self.variables[*variable].values.len());
        let mut given = 0;
        let mut levels = Vec::new();
        for variable in order {
            levels.push((variable, self.places(given, 1 << variable)));
            given |= 1 << variable;
        }
        if self.estimate(&levels) > self.max_work {
            // Not all values can be tried, but one of the first may do.
            self.max_work = self.work + (self.max_work - self.work) / LUCK;
        }
        self.search(&levels, chosen)
    }

    /// The work of trying all values, were it not for conditions that leave some out early.
    fn estimate(&self, levels: &[(usize, Vec<usize>)]) -> u64 {
        let mut n_before: u64 = 1;
        let mut work: u64 = 0;
        for (variable, places) in levels {
            work = work.saturating_add(n_before.saturating_mul(places.len() as u64));
            n_before = n_before.saturating_mul(self.variables[*variable].values.len() as u64);
        }
        work.saturating_mul(WORK_OF_ONE)
    }

    /// The words that are made of the variables `given` and, in any case, of `newest`.
    fn places(&self, given: u32, newest: u32) -> Vec<usize> {
        let is_meant = |place: &usize| {
            let support = self.supports[*place];
            support & !(given | newest) == 0
                && support & newest == newest
                && !matches!(self.words.word(self.order[*place]), Word::Unknown(_))
        };
        (0..self.order.len()).filter(is_meant).collect()
    }

    /// Computes these words as long as all conditions hold; whether they do.
    fn compute(&mut self, places: &[usize]) -> Result<bool, TooMany> {
        for &place in places {
            self.work += WORK_OF_ONE;
            let mut value = [0];
            let parts = self.parts[place].map(|part| self.one_for_all(part));
            compute_lanes(self.words, self.order[place], parts, &mut value);
            self.values[place] = value[0];
            if self.is_condition[place] && value[0] != 1 {
                return Ok(false);
            }
        }
        if self.work > self.max_work { Err(TooMany) } else { Ok(true) }
    }

    fn one_for_all(&self, place: usize) -> Lanes<'_> {
        Lanes { values: std::slice::from_ref(&self.values[place]), step: 0 }
    }

    /// The values of a variable with which all conditions hold that are among these words.
    fn fitting(&mut self, places: &[usize], variable: usize) -> Result<Vec<u64>, TooMany> {
        let mut values = self.variables[variable].values.clone();
        let mut first = 0;
        // Once most values are out, the rest are gone on with alone.
        while let Some(next) = self.thin_out(places, variable, first, &mut values)? {
            first = next;
        }
        Ok(values)
    }

    /// Looks at conditions one after the other until most values are out, those before `first`
    /// being known to hold; where it stopped, or `None` at the end.
    fn thin_out(
        &mut self,
        places: &[usize],
        variable: usize,
        first: usize,
        values: &mut Vec<u64>,
    ) -> Result<Option<usize>, TooMany> {
        let (bit, own) = (1 << variable, self.variables[variable].place);
        let mut fit = vec![true; values.len()];
        let mut n_fit = values.len();
        self.lanes[own].clone_from(values);
        for &place in places {
            self.compute_all(place, bit, values.len())?;
            if !self.is_condition[place] || place < first {
                continue;
            }
            for (fit, value) in fit.iter_mut().zip(&self.lanes[place]) {
                n_fit -= usize::from(*fit && *value != 1);
                *fit &= *value == 1;
            }
            if n_fit * THIN <= values.len() {
                keep(values, &fit);
                return Ok((n_fit > 0).then_some(place + 1));
            }
        }
        keep(values, &fit);
        Ok(None)
    }

    /// A word for all values of the variable that this bit stands for.
    fn compute_all(&mut self, place: usize, bit: u32, n: usize) -> Result<(), TooMany> {
        self.work += WORK_OF_ONE + n as u64;
        if self.work > self.max_work {
            return Err(TooMany);
        }
        let mut out = std::mem::take(&mut self.lanes[place]);
        out.resize(n, 0);
        let parts = self.parts[place].map(|part| match self.supports[part] & bit {
            0 => self.one_for_all(part),
            _ => Lanes { values: &self.lanes[part], step: 1 },
        });
        compute_lanes(self.words, self.order[place], parts, &mut out);
        self.lanes[place] = out;
        Ok(())
    }

    /// Whether the variables that are left, each with the words that are then known, have values
    /// with which all conditions hold.
    fn search(
        &mut self,
        left: &[(usize, Vec<usize>)],
        chosen: &mut Values,
    ) -> Result<bool, TooMany> {
        let Some(((variable, places), rest)) = left.split_first() else { return Ok(true) };
        let unknown = self.variables[*variable].unknown;
        if rest.is_empty() {
            let first = self.fitting(places, *variable)?.first().copied();
            first.into_iter().for_each(|value| chosen.set(unknown, value.into()));
            return Ok(first.is_some());
        }
        let place = self.variables[*variable].place;
        for at in 0..self.variables[*variable].values.len() {
            let value = self.variables[*variable].values[at];
            self.values[place] = value;
            if self.compute(places)? && self.search(rest, chosen)? {
                chosen.set(unknown, value.into());
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn keep(values: &mut Vec<u64>, fit: &[bool]) {
    let mut fit = fit.iter();
    values.retain(|_| fit.next() == Some(&true));
}

fn range_of(known: Option<&Range>, width: u32) -> Range {
    known.copied().unwrap_or(Range { low: 0, span: mask(width), width })
}

/// The values of a range, those that people type first.
fn all_values(range: Range) -> Vec<u64> {
    let all = (0..=range.span).map(|step| range.at(step));
    let mut all: Vec<u64> = all.collect();
    if range.width == 8 {
        all.sort_by_key(|value| strangeness(*value as u8));
    }
    all
}

/// The ends of a range, and what lies in it of the constants of the question and their
/// neighbours.
fn likely_values(words: &Words, order: &[WordId], range: Range) -> Vec<u64> {
    let ends = [0, 1, 2, range.span - 2, range.span - 1, range.span].map(|step| range.at(step));
    let mut found: Vec<u64> = ends.into();
    let constants = order.iter().filter_map(|word| words.as_const(*word));
    for constant in constants.take(MAX_LIKELY) {
        for near in [constant, constant.wrapping_add(1), constant.wrapping_sub(1)] {
            let value = near & mask(range.width);
            if value.wrapping_sub(range.low) & mask(range.width) <= range.span {
                found.push(value as u64);
            }
        }
    }
    found.sort_by_key(|value| (value.wrapping_shl(64 - range.width) as i64).unsigned_abs());
    found.dedup();
    found.truncate(MAX_LIKELY);
    found
}

fn strangeness(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'!'..=b'~' => 3,
        b' ' | 0 => 4,
        _ => 5,
    }
}

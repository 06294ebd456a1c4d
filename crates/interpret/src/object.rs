//! Objects in memory: their bytes, how these follow from inputs, and what may be done to them.

use std::collections::BTreeMap;

use logic::words::{WordId, Words};

use crate::memory::LOWEST;
use crate::unset::{Origin, UnsetBytes};
use crate::{FaultKind, Stop};

/// One object, and what is known of each of its bytes.
pub(crate) struct Object {
    /// Counts objects.
    pub number: u32,
    pub bytes: Vec<u8>,
    /// Ones where the byte above is indeterminate.
    pub unset: Vec<u8>,
    /// Where indeterminate bytes were copied from, if from elsewhere.
    pub origins: BTreeMap<usize, Origin>,
    /// Words of eight bits, where bytes follow from inputs.
    pub words: BTreeMap<usize, WordId>,
    pub is_alive: bool,
    pub is_heap: bool,
    /// Accesses past its end are not known to be wrong: its size was made up.
    pub is_open: bool,
    /// Defined outside the program: what it holds before it is written is not known.
    pub is_outside: bool,
    /// Its bytes must not change: a string literal, or declared `const`.
    pub is_constant: bool,
}

impl Object {
    /// A byte and its word, made up where nobody has set it and `inputs` say what it is.
    pub fn byte(
        &self,
        words: &mut Words,
        inputs: Option<&mut UnsetBytes>,
        at: usize,
    ) -> (u8, Option<WordId>) {
        let set = (self.bytes[at], self.words.get(&at).copied());
        let made_up = inputs.filter(|inputs| self.unset[at] != 0 && inputs.has(self.origin(at)));
        match made_up {
            Some(inputs) => inputs.byte(words, self.origin(at), set, self.unset[at]),
            None => set,
        }
    }

    /// Eight bytes as a number, where they are there and set.
    pub fn number_at(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        let is_set = self.unset[at..at + 8].iter().all(|byte| *byte == 0);
        is_set.then(|| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    pub fn origin(&self, at: usize) -> Origin {
        self.origins.get(&at).copied().unwrap_or((self.number, at as u32))
    }

    /// The word of some bytes, where any follows from inputs.
    pub fn word(
        &self,
        words: &mut Words,
        mut inputs: Option<&mut UnsetBytes>,
        at: usize,
        size: usize,
    ) -> Option<WordId> {
        if inputs.is_none() {
            self.words.range(at..at + size).next()?;
        }
        let mut whole: Option<WordId> = None;
        for place in (at..at + size).rev() {
            let (byte, word) = self.byte(words, inputs.as_deref_mut(), place);
            let byte = word.unwrap_or_else(|| words.constant(8, byte.into()));
            whole = Some(match whole {
                Some(high) => words.concat(high, byte),
                None => byte,
            });
        }
        whole.filter(|word| words.as_const(*word).is_none())
    }

    pub fn constant(&self, words: &mut Words, at: usize, size: u64) -> WordId {
        let bytes = self.bytes[at..at + size as usize].iter().rev();
        let value = bytes.fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
        words.constant(8 * size as u32, value)
    }

    pub fn set_word(&mut self, words: &Words, at: usize, word: Option<WordId>) {
        match word.filter(|word| words.as_const(*word).is_none()) {
            Some(word) => self.words.insert(at, word),
            None => self.words.remove(&at),
        };
    }

    pub fn forget_words(&mut self, at: usize, size: usize) {
        if self.words.is_empty() {
            return;
        }
        let stale: Vec<usize> = self.words.range(at..at + size).map(|(place, _)| *place).collect();
        for place in stale {
            self.words.remove(&place);
        }
    }
}

/// The object that holds so many bytes from an address on, to read them.
pub(crate) fn find(
    objects: &BTreeMap<u64, Object>,
    address: u64,
    size: u64,
) -> Result<(u64, &Object), Stop> {
    let found = objects.range(..=address).next_back();
    let (start, object) = found.ok_or_else(|| nobodys(address))?;
    inside(address - start, size, object)?;
    Ok((*start, object))
}

/// The same to write them, and where in the object they lie.
pub(crate) fn find_mut(
    objects: &mut BTreeMap<u64, Object>,
    address: u64,
    size: u64,
) -> Result<(&mut Object, usize), Stop> {
    let found = objects.range_mut(..=address).next_back();
    let (start, object) = found.ok_or_else(|| nobodys(address))?;
    let at = inside(address - start, size, object)?;
    if object.is_constant {
        return Err(Stop::Fault(FaultKind::WriteToConstant));
    }
    Ok((object, at))
}

/// An access below all objects: through a null pointer, or before the first of them.
fn nobodys(address: u64) -> Stop {
    let is_null = address < LOWEST / 2;
    Stop::Fault(if is_null { FaultKind::Null } else { FaultKind::OutOfBounds })
}

fn inside(at: u64, size: u64, object: &Object) -> Result<usize, Stop> {
    let fits = at.checked_add(size).is_some_and(|end| end <= object.bytes.len() as u64);
    match (fits, object.is_open, object.is_alive) {
        // The bounds of what has ended mean nothing; far behind it, it was not what was meant.
        (_, _, false) if at <= object.bytes.len() as u64 => {
            Err(Stop::Fault(FaultKind::UseAfterEnd))
        }
        (false, true, _) => Err(Stop::Bound("an object of unknown size".to_owned())),
        (false, ..) => Err(Stop::Fault(FaultKind::OutOfBounds)),
        (true, ..) => Ok(at as usize),
    }
}

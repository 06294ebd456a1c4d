//! How much of what a pointer leads to is written: a call that sets two members of a record
//! leaves the others as they were.

use program::{Address, Const, Operand, PathStep, Program};

/// Bytes behind a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// From and to, in bytes from the pointer on; ascending, apart from each other.
    Pieces(Vec<(i64, i64)>),
    Everything,
}

/// More pieces than this are taken as one.
const MAX_PIECES: usize = 8;
/// What is further away than this counts as everything: recursion adds up.
const MAX_DISTANCE: i64 = 1 << 16;

impl Default for Extent {
    fn default() -> Self {
        Extent::Pieces(Vec::new())
    }
}

impl Extent {
    pub(super) fn bytes(size: u64) -> Self {
        Self::piece(0, i64::try_from(size).unwrap_or(i64::MAX))
    }

    fn piece(from: i64, to: i64) -> Self {
        if from < -MAX_DISTANCE || to > MAX_DISTANCE {
            return Extent::Everything;
        }
        Extent::Pieces(vec![(from, to)])
    }

    pub(super) fn join(&mut self, other: &Self) {
        let (Extent::Pieces(pieces), Extent::Pieces(more)) = (&mut *self, other) else {
            *self = Extent::Everything;
            return;
        };
        pieces.extend(more);
        pieces.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (from, to) in pieces.drain(..) {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        if let (true, [(from, _), .., (_, to)]) = (joined.len() > MAX_PIECES, joined.as_slice()) {
            joined = vec![(*from, *to)];
        }
        *pieces = joined;
    }

    /// The same bytes, seen from where the pointer came from.
    pub(super) fn behind(&self, step: &Step) -> Self {
        let Extent::Pieces(pieces) = self else {
            // More than the record the pointer leads into is not said to be left alone.
            return Extent::Everything;
        };
        match step {
            Step::Anywhere => Extent::Everything,
            Step::By(by) => {
                let mut moved = Extent::default();
                for (from, to) in pieces {
                    moved.join(&Self::piece(from.saturating_add(*by), to.saturating_add(*by)));
                }
                moved
            }
            Step::Into(from, to) => Self::piece(*from, *to),
        }
    }
}

/// The bytes that `size` says are written from a pointer on.
pub(super) fn of_size(program: &Program, size: Operand) -> Extent {
    match size {
        Operand::Const(id) => match program.constants[id] {
            Const::Int { value, .. } => {
                u64::try_from(value).map_or(Extent::Everything, Extent::bytes)
            }
            _ => Extent::Everything,
        },
        _ => Extent::Everything,
    }
}

/// How a pointer was got from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    By(i64),
    /// To somewhere in an array that is a member.
    Into(i64, i64),
    Anywhere,
}

impl Default for Step {
    fn default() -> Self {
        Step::By(0)
    }
}

impl Step {
    /// The step from the base of an address, where this is the one from the address on.
    pub(super) fn through(&self, program: &Program, address: &Address) -> Self {
        match (self, address.terms.is_empty()) {
            (Step::By(by), true) => Step::By(by.saturating_add(address.offset)),
            (Step::Into(from, to), true) => {
                Step::Into(from.saturating_add(address.offset), to.saturating_add(address.offset))
            }
            (Step::By(_) | Step::Into(..), false) => indexed_member(program, address),
            (Step::Anywhere, _) => Step::Anywhere,
        }
    }
}

/// The array that an address leads into, where it is a member and nothing is indexed before.
fn indexed_member(program: &Program, address: &Address) -> Step {
    let (mut start, mut size) = (0, None);
    for step in &address.path {
        match step {
            PathStep::Field { record, member } => {
                let Some(member) = program.records[*record].members.get(*member as usize) else {
                    return Step::Anywhere;
                };
                start += member.offset_bits / 8;
                size = Some(member.size_bits / 8);
            }
            PathStep::Index { term: None, constant: 0 } if size.is_none() => {}
            PathStep::Index { .. } if size.is_some() => break,
            _ => return Step::Anywhere,
        }
    }
    match (i64::try_from(start), size.map(i64::try_from)) {
        (Ok(start), Some(Ok(size))) => Step::Into(start, start.saturating_add(size)),
        _ => Step::Anywhere,
    }
}

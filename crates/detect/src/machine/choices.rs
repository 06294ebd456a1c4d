//! Numbers read at places that are known only as terms: one of several, by where the place is.

use logic::{Comparison, Interval, TermId, Terms};
use program::{GlobalId, Ty};

use super::access::{Found, Reader, Wanted};
use super::context::Feasible;
use super::memory::{Data, Object, Write};
use super::symbols::SymbolKind;
use super::value::Value;

impl Reader<'_, '_> {
    /// A number that this write replaced or left as it was, by where it went.
    pub(super) fn read_either(
        &mut self,
        object: &Object,
        n: usize,
        write: &Write,
        (offset, size): (TermId, i128),
        wanted: Wanted,
        depth: u32,
    ) -> Option<Found> {
        let Data::Value(Value::Int(written)) = write.data else { return None };
        let same_size = self.context.terms.as_constant(write.len) == Some(size);
        if !same_size || !matches!(wanted.ty, Ty::Int(2..)) {
            return None;
        }
        let apart = self.context.terms.sub(offset, write.offset);
        if self.residue(apart, size) != Some(0) {
            return None;
        }
        let zero = self.context.constant(0);
        let same = self.context.terms.compare(Comparison::Eq, apart, zero);
        let elsewhere = self.context.terms.not(same);
        let (older, gap) = match self.find_after(object, n + 1, (offset, size), wanted, depth + 1) {
            Found::Value(Value::Int(older)) | Found::Either(older) => {
                (older, self.context.uninit_where.get(&older).copied().unwrap_or(Terms::FALSE))
            }
            // Never the same as anything, so that nothing is made of it.
            Found::Value(Value::Uninit(_)) => {
                let domain = Interval::of_width(8 * size as u32, wanted.signed);
                let nothing = self.context.fresh(domain, SymbolKind::Lost, "", wanted.loc);
                (nothing, Terms::TRUE)
            }
            _ => return None,
        };
        let value = self.context.terms.choice(same, written, older);
        let gap = self.context.terms.and(&[elsewhere, gap]);
        if gap != Terms::FALSE {
            self.context.uninit_where.insert(value, gap);
        }
        Some(Found::Either(value))
    }

    /// What is left of a term divided by `size`, where that is the same for all values.
    fn residue(&self, term: TermId, size: i128) -> Option<i128> {
        let linear = self.context.terms.linear(term);
        let moves_by_whole = linear.terms.iter().all(|(_, factor)| factor % size == 0);
        moves_by_whole.then(|| linear.constant.rem_euclid(size))
    }

    /// A number from a small table of constants, by where it is read.
    pub(super) fn read_table(
        &mut self,
        global: GlobalId,
        offset: TermId,
        wanted: Wanted,
    ) -> Option<Value> {
        const MAX_ENTRIES: i128 = 16;
        let size = i128::from(wanted.ty.size());
        let total = i128::from(self.context.program.globals[global].size);
        if !matches!(wanted.ty, Ty::Int(2..)) {
            return None;
        }
        let first = self.residue(offset, size)?;
        if total / size > MAX_ENTRIES {
            return self.read_long_table(global, (offset, first), total, wanted);
        }
        let mut found: Option<TermId> = None;
        for index in 0..total / size {
            let at = first + index * size;
            if at + size > total {
                break;
            }
            let place = self.context.constant(at);
            let here = self.context.terms.compare(Comparison::Eq, offset, place);
            if self.context.feasible(self.path, &[here]) == Feasible::No {
                continue;
            }
            let Value::Int(entry) = self.read_initializer(global, at, wanted)? else { return None };
            found = Some(match found {
                Some(others) => self.context.terms.choice(here, entry, others),
                None => entry,
            });
        }
        found.map(Value::Int)
    }

    /// A number from a table nobody can say more of than its smallest and largest.
    pub(super) fn one_of_table(
        &mut self,
        global: GlobalId,
        offset: TermId,
        wanted: Wanted,
    ) -> Value {
        let first = self.residue(offset, i128::from(wanted.ty.size()));
        let range = first.and_then(|first| self.range_of_table(global, first, wanted));
        match range {
            Some(range) => {
                let (name, loc) = (wanted.name, wanted.loc);
                Value::Int(self.context.fresh(range, SymbolKind::Unknown, name, loc))
            }
            None => self.make_up(wanted, SymbolKind::Unknown),
        }
    }

    fn range_of_table(
        &mut self,
        global: GlobalId,
        first: i128,
        wanted: Wanted,
    ) -> Option<Interval> {
        const MAX_ENTRIES: i128 = 1024;
        let key = (global, wanted.ty, wanted.signed, first);
        if let Some(known) = self.context.tables.get(&key) {
            return *known;
        }
        let size = i128::from(wanted.ty.size());
        let n_entries = (i128::from(self.context.program.globals[global].size) - first) / size;
        let mut range = None;
        if matches!(wanted.ty, Ty::Int(2..=64)) && n_entries <= MAX_ENTRIES {
            let (half, whole) = (1 << (8 * size - 1), 1 << (8 * size));
            let mut entry = |index| {
                let value = self.read_initializer(global, first + index * size, wanted)?;
                let Value::Int(term) = value else { return None };
                let number = self.context.terms.as_constant(term)?;
                Some(if wanted.signed && number >= half { number - whole } else { number })
            };
            let entries: Option<Vec<i128>> = (0..n_entries).map(&mut entry).collect();
            range = entries.and_then(|entries| {
                Some(Interval::new(*entries.iter().min()?, *entries.iter().max()?))
            });
        }
        self.context.tables.insert(key, range);
        range
    }

    /// A number from a table of a few stretches, each of equal numbers or of numbers that grow
    /// with their place: what kind of character a byte is, or its capital.
    fn read_long_table(
        &mut self,
        global: GlobalId,
        (offset, first): (TermId, i128),
        total: i128,
        wanted: Wanted,
    ) -> Option<Value> {
        const MAX_ENTRIES: i128 = 256;
        const MAX_STRETCHES: usize = 8;
        let size = i128::from(wanted.ty.size());
        if total / size > MAX_ENTRIES {
            return None;
        }
        let mut stretches: Vec<Stretch> = Vec::new();
        for index in 0..total / size {
            let Value::Int(entry) = self.read_initializer(global, first + index * size, wanted)?
            else {
                return None;
            };
            let entry = self.context.terms.as_constant(entry)?;
            if !stretches.last_mut().is_some_and(|last| last.takes(index, entry)) {
                stretches.push(Stretch { start: index, number: entry, slope: None });
            }
            if stretches.len() > MAX_STRETCHES {
                return None;
            }
        }
        let mut found = None;
        for stretch in stretches.into_iter().rev() {
            let slope = stretch.slope.unwrap_or(0);
            let number = match slope {
                0 => self.context.constant(stretch.number),
                // `size` bytes further on the number is one more.
                _ if size == 1 => {
                    let by = stretch.number - stretch.start - first;
                    self.context.terms.add_constant(offset, by)
                }
                _ => return None,
            };
            let start = self.context.constant(first + stretch.start * size);
            found = Some(match found {
                None => (number, start),
                Some((later, next)) => {
                    let is_later = self.context.terms.compare(Comparison::Ge, offset, next);
                    (self.context.terms.choice(is_later, later, number), start)
                }
            });
        }
        found.map(|(number, _)| Value::Int(number))
    }
}

/// Entries of a table that follow one rule.
struct Stretch {
    start: i128,
    number: i128,
    slope: Option<i128>,
}

impl Stretch {
    /// Takes in the next entry, if it follows the rule.
    fn takes(&mut self, index: i128, entry: i128) -> bool {
        let (along, up) = (index - self.start, entry - self.number);
        match self.slope {
            None if up == 0 || up == along => {
                self.slope = Some(if up == 0 { 0 } else { 1 });
                true
            }
            Some(slope) => up == slope * along,
            None => false,
        }
    }
}

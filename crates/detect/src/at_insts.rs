//! What there is at instructions.

use program::{FunctionId, InstId};
use rustc_hash::FxHashMap;

/// Something at some instructions. Every path asks at every instruction, and most have nothing:
/// one bit says so.
#[derive(Debug)]
pub struct AtInsts<T> {
    items: FxHashMap<(FunctionId, InstId), T>,
    /// By function, 64 instructions in each number.
    marks: Vec<Vec<u64>>,
}

impl<T> Default for AtInsts<T> {
    fn default() -> Self {
        Self { items: FxHashMap::default(), marks: Vec::new() }
    }
}

impl<T> AtInsts<T> {
    pub fn get(&self, (function, inst): (FunctionId, InstId)) -> Option<&T> {
        let word = self.marks.get(function.0 as usize)?.get(inst.0 as usize / 64)?;
        let is_marked = word & (1 << (inst.0 % 64)) != 0;
        if is_marked { self.items.get(&(function, inst)) } else { None }
    }

    pub fn get_or_default(&mut self, (function, inst): (FunctionId, InstId)) -> &mut T
    where
        T: Default,
    {
        let (row, word) = (function.0 as usize, inst.0 as usize / 64);
        if self.marks.len() <= row {
            self.marks.resize_with(row + 1, Vec::new);
        }
        if self.marks[row].len() <= word {
            self.marks[row].resize(word + 1, 0);
        }
        self.marks[row][word] |= 1 << (inst.0 % 64);
        self.items.entry((function, inst)).or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&(FunctionId, InstId), &T)> {
        self.items.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_put_there_is_found() {
        let mut at = AtInsts::<Vec<u32>>::default();
        at.get_or_default((FunctionId(2), InstId(70))).push(1);
        at.get_or_default((FunctionId(2), InstId(70))).push(2);
        assert_eq!(at.get((FunctionId(2), InstId(70))), Some(&vec![1, 2]));
        for (function, inst) in [(0, 70), (2, 6), (2, 69), (2, 134), (3, 70)] {
            assert_eq!(at.get((FunctionId(function), InstId(inst))), None);
        }
    }
}

//! Sets of changes, in the order they are tried.

/// All sets of so many of the first `n` numbers, those of close numbers first: whatever limit
/// ends the search, every number has had its turn by then.
pub struct Sets {
    n: usize,
    next: Option<Vec<usize>>,
}

impl Sets {
    pub fn new(n: usize, size: usize) -> Self {
        let next = (0 < size && size <= n).then(|| (0..size).collect());
        Self { n, next }
    }

    /// How many there are; some number beyond counting where there are too many.
    pub fn count(n: usize, size: usize) -> u64 {
        let mut count = 1u64;
        for at in 0..size as u64 {
            count = count.saturating_mul((n as u64).saturating_sub(at)) / (at + 1);
        }
        count
    }

    /// The set after one: other numbers between its ends, the same shape further on, more apart.
    fn after(&self, set: &[usize]) -> Option<Vec<usize>> {
        let (first, last) = (*set.first()?, *set.last()?);
        let n_inner = set.len().saturating_sub(2);
        let mut next = set.to_vec();
        for at in (1..=n_inner).rev() {
            if next[at] + (n_inner - at) + 1 < last {
                let from = next[at] + 1;
                (at..=n_inner).for_each(|inner| next[inner] = from + inner - at);
                return Some(next);
            }
        }
        let (first, last) = match (last + 1 < self.n, set.len()) {
            (true, _) => (first + 1, last + 1),
            (false, 1) => return None,
            (false, _) => (0, last - first + 1),
        };
        (1..=n_inner).for_each(|inner| next[inner] = first + inner);
        next[0] = first;
        next[set.len() - 1] = last;
        (last < self.n).then_some(next)
    }
}

impl Iterator for Sets {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let set = self.next.take()?;
        self.next = self.after(&set);
        Some(set)
    }
}

/// A set without one of its numbers, in all ways.
pub fn smaller(set: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let without = |left_out| set.iter().copied().filter(move |number| *number != left_out);
    set.iter().map(move |left_out| without(*left_out).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_set_comes_once() {
        for n in 0..8 {
            for size in 1..=n {
                let all: Vec<_> = Sets::new(n, size).collect();
                let distinct: BTreeSet<_> = all.iter().cloned().collect();
                assert_eq!(all.len(), distinct.len());
                assert_eq!(all.len() as u64, Sets::count(n, size), "{n} {size}");
                assert!(all.iter().all(|set| set.windows(2).all(|pair| pair[0] < pair[1])));
            }
        }
        assert_eq!(Sets::new(2, 3).count(), 0);
    }

    #[test]
    fn close_ones_come_first() {
        let pairs: Vec<_> = Sets::new(4, 2).collect();
        assert_eq!(pairs[..4], [[0, 1], [1, 2], [2, 3], [0, 2]]);
        assert_eq!(pairs.last(), Some(&vec![0, 3]));
    }

    #[test]
    fn one_number_is_left_out() {
        assert_eq!(smaller(&[1, 4, 7]).collect::<Vec<_>>(), [[4, 7], [1, 7], [1, 4]]);
    }
}

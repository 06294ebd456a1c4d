//! Adjacency lists packed into two arrays: the shape of every per-block and per-value
//! index here, because thousands of small vectors cost more than the facts they hold.

/// A row of items for each of `len()` dense indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Csr<T> {
    fn default() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }
}

impl<T> Csr<T> {
    /// Packs rows given one after the other.
    pub fn from_rows<R: IntoIterator<Item = T>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut packed = Self::default();
        for row in rows {
            packed.push_row(row);
        }
        packed
    }

    pub fn push_row(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.starts.push(self.items.len() as u32);
    }

    pub fn row(&self, index: usize) -> &[T] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn n_items(&self) -> usize {
        self.items.len()
    }
}

impl<T: Copy> Csr<T> {
    /// Rows of the given lengths, filled by `fill`, which must place as many items in
    /// each row as were counted.
    pub fn from_counts(
        counts: Vec<u32>,
        filler: T,
        fill: impl FnOnce(&mut dyn FnMut(u32, T)),
    ) -> Self {
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        starts.push(0);
        for count in &counts {
            total += count;
            starts.push(total);
        }
        let mut next = counts;
        next.copy_from_slice(&starts[..starts.len() - 1]);
        let mut items = vec![filler; total as usize];
        fill(&mut |row, item| {
            let slot = &mut next[row as usize];
            items[*slot as usize] = item;
            *slot += 1;
        });
        Self { starts, items }
    }

    /// Sorts `(row, item)` pairs into `n_rows` rows; items of a row keep their order.
    pub fn from_pairs(n_rows: usize, pairs: &[(u32, T)]) -> Self {
        let Some(&(_, filler)) = pairs.first() else {
            return Self { starts: vec![0; n_rows + 1], items: Vec::new() };
        };
        let mut counts = vec![0u32; n_rows];
        for (row, _) in pairs {
            counts[*row as usize] += 1;
        }
        Self::from_counts(counts, filler, |place| {
            for (row, item) in pairs {
                place(*row, *item);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_rows_pack_the_same() {
        let rows = Csr::from_rows([vec![1u32, 2], vec![], vec![3]]);
        let pairs = Csr::from_pairs(3, &[(2, 3), (0, 1), (0, 2)]);
        assert_eq!(rows, pairs);
        assert_eq!(rows.row(0), [1, 2]);
        assert!(rows.row(1).is_empty());
    }
}

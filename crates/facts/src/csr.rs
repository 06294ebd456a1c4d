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

impl<T: Copy + Default> Csr<T> {
    /// Sorts `(row, item)` pairs into `n_rows` rows; items of a row keep their order.
    pub fn from_pairs(n_rows: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; n_rows + 1];
        for (row, _) in pairs {
            starts[*row as usize + 1] += 1;
        }
        for row in 0..n_rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut items = vec![T::default(); pairs.len()];
        for (row, item) in pairs {
            let slot = &mut next[*row as usize];
            items[*slot as usize] = *item;
            *slot += 1;
        }
        Self { starts, items }
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

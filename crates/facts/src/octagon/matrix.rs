//! The domain: a difference-bound matrix over `+x` and `-x` of every variable.

use super::Linear;

/// No bound. Sums of two bounds must not overflow.
const NONE: i64 = i64::MAX / 4;

/// A set of points, closed: every bound that follows is there.
///
/// Entry `(2i, 2j)` bounds `x_j - x_i`, with odd indices standing for the negated variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octagon {
    n: usize,
    bounds: Vec<i64>,
    is_empty: bool,
}

impl Octagon {
    /// All points of `n` variables.
    pub fn all(n: usize) -> Self {
        let size = 2 * n;
        let mut bounds = vec![NONE; size * size];
        (0..size).for_each(|i| bounds[i * size + i] = 0);
        Self { n, bounds, is_empty: false }
    }

    pub fn none(n: usize) -> Self {
        Self { is_empty: true, ..Self::all(n) }
    }

    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn get(&self, i: usize, j: usize) -> i64 {
        self.bounds[i * 2 * self.n + j]
    }

    fn lower(&mut self, i: usize, j: usize, bound: i64) {
        let at = i * 2 * self.n + j;
        self.bounds[at] = self.bounds[at].min(bound.clamp(-NONE, NONE));
    }

    /// Both forms of one constraint.
    fn add(&mut self, i: usize, j: usize, bound: i64) {
        self.lower(i, j, bound);
        self.lower(j ^ 1, i ^ 1, bound);
    }

    /// Adds `a <= b`.
    pub fn assume_le(&mut self, a: Linear, b: Linear) {
        let bound = b.constant.saturating_sub(a.constant);
        match (a.variable, b.variable) {
            // a - b <= bound
            (Some(a), Some(b)) if a != b => self.add(2 * b, 2 * a, bound),
            (Some(a), None) => self.add(2 * a + 1, 2 * a, bound.saturating_mul(2)),
            (None, Some(b)) => self.add(2 * b, 2 * b + 1, bound.saturating_mul(2)),
            _ if bound < 0 => self.is_empty = true,
            _ => {}
        }
        self.close();
    }

    pub fn assume_eq(&mut self, a: Linear, b: Linear) {
        self.assume_le(a, b);
        self.assume_le(b, a);
    }

    /// Adds every bound that follows from two others, then those of sums.
    fn close(&mut self) {
        if self.is_empty {
            return;
        }
        let size = 2 * self.n;
        for k in 0..size {
            for i in 0..size {
                let first = self.get(i, k);
                if first >= NONE {
                    continue;
                }
                for j in 0..size {
                    let second = self.get(k, j);
                    if second < NONE {
                        self.lower(i, j, first + second);
                    }
                }
            }
        }
        // Integers: twice a variable is even.
        for i in 0..size {
            let doubled = self.get(i, i ^ 1);
            if doubled < NONE {
                let at = i * size + (i ^ 1);
                self.bounds[at] = 2 * doubled.div_euclid(2);
            }
        }
        for i in 0..size {
            for j in 0..size {
                let (a, b) = (self.get(i, i ^ 1), self.get(j ^ 1, j));
                if a < NONE && b < NONE {
                    self.lower(i, j, (a + b).div_euclid(2));
                }
            }
        }
        if (0..size).any(|i| self.get(i, i) < 0) {
            self.is_empty = true;
        }
    }

    /// Nothing is known about a variable any more.
    pub fn forget(&mut self, variable: usize) {
        let size = 2 * self.n;
        for i in [2 * variable, 2 * variable + 1] {
            for j in 0..size {
                if i != j {
                    self.bounds[i * size + j] = NONE;
                    self.bounds[j * size + i] = NONE;
                }
            }
        }
    }

    /// All at once: each variable becomes the value its expression had before; unknown where
    /// there is none.
    pub fn assign(&self, assignments: &[(usize, Option<Linear>)]) -> Self {
        if self.is_empty {
            return self.clone();
        }
        // Through new variables, so that expressions mean the old values.
        let n = self.n;
        let mut wide = self.extended(n + assignments.len());
        for (index, (_, value)) in assignments.iter().enumerate() {
            if let Some(value) = value {
                wide.assume_eq(Linear::variable(n + index), *value);
            }
        }
        for (variable, _) in assignments {
            wide.forget(*variable);
        }
        for (index, (variable, _)) in assignments.iter().enumerate() {
            wide.assume_eq(Linear::variable(*variable), Linear::variable(n + index));
        }
        wide.restricted(n)
    }

    /// The points from which the assignments lead into this set.
    pub fn before_assign(&self, assignments: &[(usize, Option<Linear>)]) -> Self {
        if self.is_empty {
            return self.clone();
        }
        let n = self.n;
        let mut wide = self.extended(n + assignments.len());
        for (index, (variable, _)) in assignments.iter().enumerate() {
            wide.assume_eq(Linear::variable(n + index), Linear::variable(*variable));
        }
        for (variable, _) in assignments {
            wide.forget(*variable);
        }
        for (index, (_, value)) in assignments.iter().enumerate() {
            if let Some(value) = value {
                wide.assume_eq(Linear::variable(n + index), *value);
            }
        }
        wide.restricted(n)
    }

    fn extended(&self, n: usize) -> Self {
        let mut wide = Self::all(n);
        for i in 0..2 * self.n {
            for j in 0..2 * self.n {
                wide.bounds[i * 2 * n + j] = self.get(i, j);
            }
        }
        wide
    }

    fn restricted(&self, n: usize) -> Self {
        let mut narrow = Self::all(n);
        for i in 0..2 * n {
            for j in 0..2 * n {
                narrow.bounds[i * 2 * n + j] = self.get(i, j);
            }
        }
        narrow.is_empty = self.is_empty;
        narrow
    }

    /// The smallest octagon around both.
    pub fn join(&self, other: &Self) -> Self {
        if self.is_empty {
            return other.clone();
        }
        if other.is_empty {
            return self.clone();
        }
        let pairs = self.bounds.iter().zip(&other.bounds);
        let bounds = pairs.map(|(a, b)| *a.max(b)).collect();
        Self { n: self.n, bounds, is_empty: false }
    }

    pub fn meet(&self, other: &Self) -> Self {
        let pairs = self.bounds.iter().zip(&other.bounds);
        let bounds = pairs.map(|(a, b)| *a.min(b)).collect();
        let mut met = Self { n: self.n, bounds, is_empty: self.is_empty || other.is_empty };
        met.close();
        met
    }

    /// Bounds that `next` does not keep are given up, so that loops end. Not closed, lest given
    /// up bounds come back.
    pub fn widen(&self, next: &Self) -> Self {
        if self.is_empty {
            return next.clone();
        }
        if next.is_empty {
            return self.clone();
        }
        let pairs = self.bounds.iter().zip(&next.bounds);
        let bounds = pairs.map(|(a, b)| if b <= a { *a } else { NONE }).collect();
        Self { n: self.n, bounds, is_empty: false }
    }

    /// Every bound, in the same order for octagons of as many variables.
    pub fn bounds(&self) -> impl Iterator<Item = i64> {
        self.bounds.iter().copied()
    }

    /// Whether every point of `other` lies in this one.
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty
            || !self.is_empty && self.bounds.iter().zip(&other.bounds).all(|(a, b)| b <= a)
    }

    /// The least and greatest value of a variable, where there is one.
    pub fn range(&self, variable: usize) -> (Option<i64>, Option<i64>) {
        let bound = |i: usize, j: usize| Some(self.get(i, j)).filter(|bound| *bound < NONE);
        let (x, minus_x) = (2 * variable, 2 * variable + 1);
        let high = bound(minus_x, x).map(|bound| bound.div_euclid(2));
        let low = bound(x, minus_x).map(|bound| -bound.div_euclid(2));
        (low, high)
    }
}

//! Step budgets. They count work, never time, so that a verdict does not depend
//! on how busy the machine is.

/// A number of steps that may still be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    left: u64,
    limit: u64,
}

/// The budget is used up: the caller must stop and report a don't-know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Budget {
    pub fn new(limit: u64) -> Self {
        Self { left: limit, limit }
    }

    /// Takes `steps`, or takes what is left and fails.
    pub fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        if steps > self.left {
            self.left = 0;
            return Err(Exhausted);
        }
        self.left -= steps;
        Ok(())
    }

    pub fn spent(&self) -> u64 {
        self.limit - self.left
    }

    pub fn left(&self) -> u64 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spending_more_than_is_left_exhausts_the_budget() {
        let mut budget = Budget::new(3);
        assert_eq!(budget.spend(2), Ok(()));
        assert_eq!(budget.spend(2), Err(Exhausted));
        assert_eq!(budget.left(), 0);
        assert_eq!(budget.spent(), 3);
    }
}

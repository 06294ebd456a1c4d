//! A fixed sequence of numbers that look like chance, so that every search is the same.

/// splitmix64.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    state: u64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Numbers {
    pub fn new(seed: u64) -> Self {
        // Sequences of seeds that follow one another have nothing in common.
        Self { state: mix(STEP.wrapping_mul(seed.wrapping_add(1))) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Below this limit; zero where that is zero.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % (limit.max(1) as u64)) as usize
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// Once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_depends_on_its_seed_alone() {
        let first = |seed| {
            let mut numbers = Numbers::new(seed);
            (0..8).map(|_| numbers.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
        assert_eq!(Numbers::new(1).below(0), 0);
        assert_eq!(Numbers::new(1).one_of::<u8>(&[]), None);
    }
}

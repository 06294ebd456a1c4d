//! Sets of small integers, stored as sorted 64-bit chunks: dense runs are cheap, and so
//! are the few far-apart members a typical points-to set has.

/// A set of `u32`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SparseSet {
    chunks: Vec<Chunk>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Chunk {
    key: u32,
    bits: u64,
}

/// A set this many times smaller than its partner is looked up member by member.
const MUCH_SMALLER: usize = 8;

impl SparseSet {
    pub const EMPTY: SparseSet = SparseSet { chunks: Vec::new() };

    pub fn new() -> Self {
        Self::default()
    }

    pub fn from_unsorted(mut members: Vec<u32>) -> Self {
        members.sort_unstable();
        members.into_iter().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.bits.count_ones() as usize).sum()
    }

    pub fn clear(&mut self) {
        self.chunks.clear();
    }

    pub fn contains(&self, member: u32) -> bool {
        match self.find(member >> 6) {
            Ok(at) => self.chunks[at].bits >> (member & 63) & 1 == 1,
            Err(_) => false,
        }
    }

    /// Whether the member is new.
    pub fn insert(&mut self, member: u32) -> bool {
        let (key, bit) = (member >> 6, 1u64 << (member & 63));
        // Members mostly come in order.
        match self.chunks.last_mut() {
            Some(last) if last.key == key => {
                let is_new = last.bits & bit == 0;
                last.bits |= bit;
                return is_new;
            }
            Some(last) if last.key > key => {}
            _ => {
                self.chunks.push(Chunk { key, bits: bit });
                return true;
            }
        }
        match self.find(key) {
            Ok(at) => {
                let is_new = self.chunks[at].bits & bit == 0;
                self.chunks[at].bits |= bit;
                is_new
            }
            Err(at) => {
                self.chunks.insert(at, Chunk { key, bits: bit });
                true
            }
        }
    }

    /// Adds the members `first..end`.
    pub fn insert_range(&mut self, first: u32, end: u32) {
        let mut at = first;
        while at < end {
            let until = end.min((at | 63) + 1);
            let width = until - at;
            let bits = if width == 64 { u64::MAX } else { ((1u64 << width) - 1) << (at & 63) };
            let chunk = Chunk { key: at >> 6, bits };
            match self.chunks.last_mut() {
                Some(last) if last.key == chunk.key => last.bits |= bits,
                Some(last) if last.key > chunk.key => drop(self.add_chunk(chunk)),
                _ => self.chunks.push(chunk),
            }
            at = until;
        }
    }

    fn find(&self, key: u32) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&key, |chunk| chunk.key)
    }

    /// Adds all members of `other`; whether any was new.
    pub fn union(&mut self, other: &SparseSet) -> bool {
        if other.is_empty() {
            return false;
        }
        if self.is_empty() {
            self.chunks.extend_from_slice(&other.chunks);
            return true;
        }
        if other.chunks.len() * MUCH_SMALLER < self.chunks.len() {
            let mut changed = false;
            for chunk in &other.chunks {
                changed |= self.add_chunk(*chunk) != 0;
            }
            return changed;
        }
        let mut changed = false;
        let missing = self.or_in_place(other, |added| changed |= added.bits != 0);
        self.merge_missing(missing);
        changed
    }

    /// Adds all members of `other`, and those that were new to `news` as well.
    pub fn union_noting(&mut self, other: &SparseSet, news: &mut SparseSet) -> bool {
        let mut added_chunks = SparseSet::new();
        if other.chunks.len() * MUCH_SMALLER < self.chunks.len() {
            for chunk in &other.chunks {
                let bits = self.add_chunk(*chunk);
                if bits != 0 {
                    added_chunks.chunks.push(Chunk { key: chunk.key, bits });
                }
            }
        } else {
            let missing = self.or_in_place(other, |added| {
                if added.bits != 0 {
                    added_chunks.chunks.push(added);
                }
            });
            self.merge_missing(missing);
        }
        news.union(&added_chunks);
        !added_chunks.is_empty()
    }

    /// The bits that were new.
    fn add_chunk(&mut self, chunk: Chunk) -> u64 {
        match self.find(chunk.key) {
            Ok(at) => {
                let added = chunk.bits & !self.chunks[at].bits;
                self.chunks[at].bits |= added;
                added
            }
            Err(at) => {
                self.chunks.insert(at, chunk);
                chunk.bits
            }
        }
    }

    /// Merges chunks whose key is present; returns the others. `note` sees what is new.
    fn or_in_place(&mut self, other: &SparseSet, mut note: impl FnMut(Chunk)) -> Vec<Chunk> {
        let mut missing = Vec::new();
        let mut at = 0;
        for chunk in &other.chunks {
            while at < self.chunks.len() && self.chunks[at].key < chunk.key {
                at += 1;
            }
            if at < self.chunks.len() && self.chunks[at].key == chunk.key {
                note(Chunk { key: chunk.key, bits: chunk.bits & !self.chunks[at].bits });
                self.chunks[at].bits |= chunk.bits;
            } else {
                note(*chunk);
                missing.push(*chunk);
            }
        }
        missing
    }

    /// Merges sorted chunks whose keys are absent, from the back to move each once.
    fn merge_missing(&mut self, missing: Vec<Chunk>) {
        let mut from = self.chunks.len();
        self.chunks.resize(from + missing.len(), Chunk { key: 0, bits: 0 });
        let mut to = self.chunks.len();
        for chunk in missing.into_iter().rev() {
            while from > 0 && self.chunks[from - 1].key > chunk.key {
                from -= 1;
                to -= 1;
                self.chunks[to] = self.chunks[from];
            }
            to -= 1;
            self.chunks[to] = chunk;
        }
    }

    pub fn intersects(&self, other: &SparseSet) -> bool {
        let mut found = false;
        self.for_common(other, |_, bits| {
            found = bits != 0;
            found
        });
        found
    }

    /// The members both sets have.
    pub fn intersection(&self, other: &SparseSet) -> SparseSet {
        let mut common = SparseSet::new();
        self.for_common(other, |key, bits| {
            if bits != 0 {
                common.chunks.push(Chunk { key, bits });
            }
            false
        });
        common
    }

    /// Calls `visit` for keys present in both until it says stop.
    fn for_common(&self, other: &SparseSet, mut visit: impl FnMut(u32, u64) -> bool) {
        let (small, large) =
            if self.chunks.len() <= other.chunks.len() { (self, other) } else { (other, self) };
        let gallops = small.chunks.len() * MUCH_SMALLER < large.chunks.len();
        let mut rest = &large.chunks[..];
        for chunk in &small.chunks {
            let skip = if gallops {
                rest.partition_point(|other| other.key < chunk.key)
            } else {
                rest.iter().position(|other| other.key >= chunk.key).unwrap_or(rest.len())
            };
            rest = &rest[skip..];
            match rest.first() {
                None => return,
                Some(first) if first.key == chunk.key => {
                    if visit(chunk.key, chunk.bits & first.bits) {
                        return;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Takes the members of `other` away.
    pub fn subtract(&mut self, other: &SparseSet) {
        if other.is_empty() {
            return;
        }
        let mut rest = &other.chunks[..];
        self.chunks.retain_mut(|chunk| {
            let skip = rest.iter().position(|o| o.key >= chunk.key).unwrap_or(rest.len());
            rest = &rest[skip..];
            if let Some(first) = rest.first()
                && first.key == chunk.key
            {
                chunk.bits &= !first.bits;
            }
            chunk.bits != 0
        });
    }

    pub fn is_subset(&self, other: &SparseSet) -> bool {
        self.intersection(other).len() == self.len()
    }

    /// Members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(|chunk| {
            let mut bits = chunk.bits;
            std::iter::from_fn(move || {
                if bits == 0 {
                    return None;
                }
                let low = bits.trailing_zeros();
                bits &= bits - 1;
                Some(chunk.key << 6 | low)
            })
        })
    }

    /// The only member of a set of one.
    pub fn single(&self) -> Option<u32> {
        match self.chunks[..] {
            [Chunk { key, bits }] if bits.is_power_of_two() => {
                Some(key << 6 | bits.trailing_zeros())
            }
            _ => None,
        }
    }

    pub fn heap_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk>()
    }

    pub fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
    }
}

impl FromIterator<u32> for SparseSet {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Self {
        let mut set = Self::new();
        set.extend(members);
        set
    }
}

impl Extend<u32> for SparseSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, members: I) {
        for member in members {
            self.insert(member);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every operation against the standard library's set, on dense and sparse samples.
    #[test]
    fn behaves_like_a_set() {
        let mut state = 12345u64;
        let mut next = |below: u32| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as u32) % below
        };
        for round in 0..300 {
            let spread = [40, 300, 20_000][round % 3];
            let mut sample = |n: u32| (0..n).map(|_| next(spread)).collect::<Vec<u32>>();
            let (a, b) = (sample(30), sample([1, 30, 90][round % 3]));
            let model = |items: &[u32]| items.iter().copied().collect::<BTreeSet<u32>>();
            let set = |items: &[u32]| items.iter().copied().collect::<SparseSet>();
            let members = |set: &SparseSet| set.iter().collect::<Vec<u32>>();
            let sorted = |set: BTreeSet<u32>| set.into_iter().collect::<Vec<u32>>();
            assert_eq!(members(&set(&a)), sorted(model(&a)));
            assert_eq!(set(&a).len(), model(&a).len());
            let mut union = set(&a);
            let mut news = SparseSet::new();
            assert_eq!(union.union_noting(&set(&b), &mut news), !model(&b).is_subset(&model(&a)));
            assert_eq!(members(&union), sorted(&model(&a) | &model(&b)));
            assert_eq!(members(&news), sorted(&model(&b) - &model(&a)));
            let mut plain = set(&a);
            plain.union(&set(&b));
            assert_eq!(plain, union);
            assert_eq!(members(&set(&a).intersection(&set(&b))), sorted(&model(&a) & &model(&b)));
            assert_eq!(set(&a).intersects(&set(&b)), !(&model(&a) & &model(&b)).is_empty());
            let mut rest = set(&a);
            rest.subtract(&set(&b));
            assert_eq!(members(&rest), sorted(&model(&a) - &model(&b)));
        }
    }

    #[test]
    fn ranges_cover_chunk_borders() {
        let mut set = SparseSet::new();
        set.insert_range(60, 200);
        assert_eq!(set.iter().collect::<Vec<_>>(), (60..200).collect::<Vec<_>>());
        assert_eq!(SparseSet::from_iter([77]).single(), Some(77));
        assert_eq!(set.single(), None);
    }
}

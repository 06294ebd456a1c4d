//! Finds, among the groups of cells a function reads, those that a write may change.

use rustc_hash::FxHashMap;

use crate::effects::{EffectContext, Effects, ParamEffect, Part};
use crate::pointsto::{PointsTo, SetId};
use crate::set::SparseSet;

/// Groups, sorted.
type Groups = Box<[u32]>;

/// The groups of a function by their cells. What was asked once is remembered.
pub(super) struct GroupIndex<'a> {
    pointers: &'a PointsTo,
    n_groups: usize,
    /// Every cell of a group.
    cells: SparseSet,
    by_cell: Vec<(u32, u32)>,
    /// The groups by the classes of their escaped cells.
    by_class: Vec<(u32, u32)>,
    /// The groups that cells of a class may be the same memory as.
    met: FxHashMap<u32, Groups>,
    accesses: FxHashMap<(SetId, Option<u64>), Groups>,
    shared: FxHashMap<u32, Groups>,
    effects: FxHashMap<(SetId, &'a ParamEffect, Option<u64>), Groups>,
    is_hit: Vec<bool>,
    hit: Vec<u32>,
}

impl<'a> GroupIndex<'a> {
    pub fn new(pointers: &'a PointsTo, groups: &[(SparseSet, Option<u64>)]) -> Self {
        let (mut by_cell, mut by_class) = (Vec::new(), Vec::new());
        for (group, (cells, _)) in (0..).zip(groups) {
            by_cell.extend(cells.iter().map(|cell| (cell, group)));
            by_class.extend(pointers.classes(cells).iter().map(|class| (class, group)));
        }
        by_cell.sort_unstable();
        by_class.sort_unstable();
        Self {
            pointers,
            n_groups: groups.len(),
            cells: by_cell.iter().map(|(cell, _)| *cell).collect(),
            by_cell,
            by_class,
            met: FxHashMap::default(),
            accesses: FxHashMap::default(),
            shared: FxHashMap::default(),
            effects: FxHashMap::default(),
            is_hit: vec![false; groups.len()],
            hit: Vec::new(),
        }
    }

    /// Forgets what was hit.
    pub fn start(&mut self) {
        for group in self.hit.drain(..) {
            self.is_hit[group as usize] = false;
        }
    }

    /// The groups hit since the start.
    pub fn hit(&self) -> &[u32] {
        &self.hit
    }

    /// An access of so many bytes through a pointer to the cells of a set.
    pub fn add_access(&mut self, pointer: SetId, size: Option<u64>) {
        if !self.accesses.contains_key(&(pointer, size)) {
            let cells = self.pointers.touched(self.pointers.set(pointer), size);
            let groups = self.meeting(&cells, &self.pointers.classes(&cells));
            self.accesses.insert((pointer, size), groups);
        }
        add(&self.accesses[&(pointer, size)], &mut self.is_hit, &mut self.hit);
    }

    /// A part of what a call writes.
    pub fn add_part(&mut self, context: &EffectContext, effects: &Effects, part: Part<'a>) {
        if self.hit.len() == self.n_groups {
            return;
        }
        let groups = match part {
            Part::Own(cells) => &self.meeting(&cells, &self.pointers.classes(&cells)),
            Part::Shared(number, cells) => {
                if !self.shared.contains_key(&number) {
                    let groups = self.meeting(cells, effects.written_classes(number));
                    self.shared.insert(number, groups);
                }
                &self.shared[&number]
            }
            Part::Through(through) => {
                let key = (through.pointer, through.effect, through.size);
                if !self.effects.contains_key(&key) {
                    let cells = context.reached_through(through);
                    let groups = self.meeting(&cells, &self.pointers.classes(&cells));
                    self.effects.insert(key, groups);
                }
                &self.effects[&key]
            }
        };
        add(groups, &mut self.is_hit, &mut self.hit);
    }

    /// The groups with one of these cells, or with one that may be the same memory.
    fn meeting(&mut self, cells: &SparseSet, classes: &SparseSet) -> Groups {
        let mut groups = Vec::new();
        for cell in cells.intersection(&self.cells).iter() {
            groups.extend(of(&self.by_cell, cell));
        }
        if !self.by_class.is_empty() {
            for class in classes.iter() {
                groups.extend_from_slice(self.met_by(class));
            }
        }
        groups.sort_unstable();
        groups.dedup();
        groups.into()
    }

    fn met_by(&mut self, class: u32) -> &[u32] {
        self.met.entry(class).or_insert_with(|| {
            let met = self.pointers.classes_met(class).iter();
            let mut groups: Vec<u32> = met.flat_map(|class| of(&self.by_class, class)).collect();
            groups.sort_unstable();
            groups.dedup();
            groups.into()
        })
    }
}

/// The groups that sorted pairs give for a key.
fn of(pairs: &[(u32, u32)], key: u32) -> impl Iterator<Item = u32> {
    let first = pairs.partition_point(|(other, _)| *other < key);
    pairs[first..].iter().take_while(move |(other, _)| *other == key).map(|(_, group)| *group)
}

fn add(groups: &[u32], is_hit: &mut [bool], hit: &mut Vec<u32>) {
    for &group in groups {
        if !std::mem::replace(&mut is_hit[group as usize], true) {
            hit.push(group);
        }
    }
}

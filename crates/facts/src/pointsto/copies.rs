//! Copies of memory: what each byte of the source holds flows to its place in the target.

use program::TypeId;

use super::graph::{ANYWHERE, Complex, Graph, Location, Node, Place};
use super::layout::Layout;

/// A copy of memory: one node for each part copied, shared by all pairs of objects.
#[derive(Default)]
pub(super) struct MemoryCopy {
    pub size: Option<u64>,
    pub parts: Vec<(Part, Node)>,
    /// Targets seen so far.
    pub targets: Vec<Location>,
}

/// A cell of the source of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// From where the copy starts.
    offset: i64,
    /// Of a cell that is several places: what starts where the copy does. In a target where
    /// something else starts, those places need not be one cell.
    shape: Option<TypeId>,
}

/// A copy between more pairs of places than this no longer tells them apart: whatever it
/// copies may come to lie anywhere in a target.
const MAX_PAIRS: usize = 1024;

const PART_ANYWHERE: Part = Part { offset: ANYWHERE, shape: None };

impl Graph<'_> {
    /// The node for the bytes a copy moves from a part of its source.
    fn copy_part_node(&mut self, copy: u32, part: Part) -> Node {
        let parts = &self.copies[copy as usize].parts;
        match parts.binary_search_by_key(&part, |(known, _)| *known) {
            Ok(at) => parts[at].1,
            Err(at) => {
                let node = self.node();
                self.copies[copy as usize].parts.insert(at, (part, node));
                for target in self.copies[copy as usize].targets.clone() {
                    self.write_part(copy, target, part, node);
                }
                node
            }
        }
    }

    /// A location of a copy's source: its contents become a part of the copy.
    pub fn copy_part(&mut self, copy: u32, start: i64, location: Location) {
        // Of what lies anywhere, only what was written there: cells are copied one by one.
        let contents = self.find(self.places[location as usize].write);
        // Most cells never hold a pointer.
        let is_empty = self.points_to[contents as usize].is_empty();
        if is_empty && !self.is_untyped_outside(location) {
            return self.add_complex(contents, Complex::CopyPart { copy, start, location });
        }
        let Some(mut part) = self.part_at(copy, start, location) else { return };
        if self.is_large(copy) {
            part = PART_ANYWHERE;
        }
        let node = self.copy_part_node(copy, part);
        // Bytes from outside hold unknown pointers, not every object that escaped.
        if self.is_untyped_outside(location) {
            self.add_member(node, 0);
        }
        if location != 0 {
            self.add_edge(contents, node);
        }
    }

    /// Which part of a copy that begins at `start` a location of the same object is.
    fn part_at(&self, copy: u32, start: i64, location: Location) -> Option<Part> {
        let Place { object, offset, .. } = self.places[location as usize];
        let layout = self.objects[object.0 as usize].object.layout;
        if start == ANYWHERE || offset == ANYWHERE || layout == Layout::Whole {
            return Some(PART_ANYWHERE);
        }
        let (size, distance) = (self.copies[copy as usize].size, offset - start);
        let shape = self.types.shape_at(layout, start);
        if distance < 0 {
            // It goes on in the next element, which is this one.
            let element = self.types.element_size(layout)?;
            let passes = match size {
                Some(size) => start.saturating_add_unsigned(size) > element,
                None => !shape.is_some_and(|shape| shape.is_element),
            };
            return passes.then_some(PART_ANYWHERE);
        }
        let every = self.types.repeats_every(layout, offset);
        let is_once = every.is_none_or(|every| size.is_some_and(|size| size <= every));
        let is_copied = size.is_none_or(|size| (distance as u64) < size);
        match (is_once, shape) {
            (true, _) => is_copied.then_some(Part { offset: distance, shape: None }),
            (false, Some(shape)) => {
                is_copied.then_some(Part { offset: distance, shape: Some(shape.ty) })
            }
            (false, None) => Some(PART_ANYWHERE),
        }
    }

    /// A location that a copy writes to.
    pub fn copy_to(&mut self, copy: u32, target: Location) {
        if self.copies[copy as usize].targets.contains(&target) {
            return;
        }
        let is_large = self.is_large(copy);
        self.copies[copy as usize].targets.push(target);
        if !is_large {
            for (part, node) in self.copies[copy as usize].parts.clone() {
                self.write_part(copy, target, part, node);
            }
            return;
        }
        let all = self.copy_part_node(copy, PART_ANYWHERE);
        for (_, node) in self.copies[copy as usize].parts.clone() {
            self.add_edge(node, all);
        }
        self.write_part(copy, target, PART_ANYWHERE, all);
    }

    fn is_large(&self, copy: u32) -> bool {
        let MemoryCopy { parts, targets, .. } = &self.copies[copy as usize];
        parts.len() * targets.len() > MAX_PAIRS
    }

    /// Lets a part of a copy flow into one of the copy's targets.
    fn write_part(&mut self, copy: u32, target: Location, part: Part, from: Node) {
        if target == 0 {
            self.add_complex(from, Complex::Escape);
            return;
        }
        let Place { object, offset: start, .. } = self.places[target as usize];
        let to = if start == ANYWHERE {
            target
        } else if part.offset != ANYWHERE && self.takes(copy, target, part) {
            self.location(object, start + part.offset)
        } else if self.is_one_cell(target) {
            target
        } else {
            self.anywhere(object)
        };
        let write = self.places[to as usize].write;
        self.add_edge(from, write);
    }

    /// Whether a location stands for its whole object.
    fn is_one_cell(&self, location: Location) -> bool {
        let Place { object, offset, .. } = self.places[location as usize];
        let layout = self.objects[object.0 as usize].object.layout;
        offset == 0 && self.types.element_size(layout) == Some(1)
    }

    /// Whether places that are one cell of a copy's source are one of the target as well.
    fn takes(&self, copy: u32, target: Location, part: Part) -> bool {
        let Some(ty) = part.shape else { return true };
        let Place { object, offset, .. } = self.places[target as usize];
        let layout = self.objects[object.0 as usize].object.layout;
        let fits = || {
            let size = self.copies[copy as usize].size;
            size.is_none_or(|size| size <= self.types.size(ty))
        };
        let shape = self.types.shape_at(layout, offset);
        shape.is_some_and(|shape| shape.ty == ty && (shape.is_element || fits()))
    }
}

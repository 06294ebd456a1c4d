//! Copies of memory: what each byte of the source holds flows to its place in the target.

use super::graph::{ANYWHERE, Complex, Graph, Location, Node, Place};

/// A copy of memory: one node for each offset copied, shared by all pairs of objects.
#[derive(Default)]
pub(super) struct MemoryCopy {
    pub size: Option<u64>,
    pub parts: Vec<(i64, Node)>,
    /// Targets seen so far.
    pub targets: Vec<Location>,
}

impl Graph<'_> {
    /// The node for the bytes a copy moves from `offset` of its source.
    pub fn copy_part_node(&mut self, copy: u32, offset: i64) -> Node {
        let parts = &self.copies[copy as usize].parts;
        match parts.binary_search_by_key(&offset, |(at, _)| *at) {
            Ok(at) => parts[at].1,
            Err(at) => {
                let node = self.node();
                self.copies[copy as usize].parts.insert(at, (offset, node));
                for target in self.copies[copy as usize].targets.clone() {
                    self.write_part(target, offset, node);
                }
                node
            }
        }
    }

    /// A location of a copy's source: its contents become a part of the copy.
    pub fn copy_part(&mut self, copy: u32, start: i64, location: Location) {
        // Of what lies anywhere, only what was written there: cells are copied one by one.
        let Place { offset, write: contents, .. } = self.places[location as usize];
        // Unknown memory is of no size.
        let part = if start == ANYWHERE || offset == ANYWHERE || location == 0 {
            ANYWHERE
        } else {
            let distance = offset - start;
            let size = self.copies[copy as usize].size;
            if distance < 0 || size.is_some_and(|size| distance as u64 >= size) {
                return;
            }
            distance
        };
        let node = self.copy_part_node(copy, part);
        if location == 0 {
            // Unknown bytes hold unknown pointers, not every object that escaped.
            self.add_member(node, 0);
        } else {
            self.add_edge(contents, node);
        }
    }

    /// Lets a part of a copy flow into one of the copy's targets.
    pub fn write_part(&mut self, target: Location, offset: i64, part: Node) {
        if target == 0 {
            self.add_complex(part, Complex::Escape);
            return;
        }
        let Place { object, offset: start, .. } = self.places[target as usize];
        let to = if start == ANYWHERE || offset == ANYWHERE {
            self.anywhere(object)
        } else {
            self.location(object, start + offset)
        };
        let write = self.places[to as usize].write;
        self.add_edge(part, write);
    }
}

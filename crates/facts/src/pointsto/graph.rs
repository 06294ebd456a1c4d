//! The constraint graph: nodes hold points-to sets, edges say "flows into".
//!
//! A location is a cell of an object, made when a pointer to it first arises. Most have
//! one node for their contents. The location at an unknown offset has two: what is
//! written there flows into every cell, and it reads what any cell holds.

use rustc_hash::FxHashMap;

use super::layout::{Layout, Types};
use super::object::{Object, ObjectId, ObjectKind};
use crate::set::SparseSet;

pub(super) type Node = u32;
pub(super) type Location = u32;

/// More cells than this and the rest of an object is one.
const MAX_CELLS: usize = 512;

/// The offset of the location that may be any part of its object.
pub(super) const ANYWHERE: i64 = i64::MIN;

/// A constraint that adds edges as the set of its node grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Complex {
    /// `to = *node`
    Load(Node),
    /// `*node = from`
    Store(Node),
    /// `to = node + shift`
    Shift(u32, Node),
    /// `to` points somewhere into the objects of `node`.
    Within(Node),
    /// `node` is called at this site.
    Call(u32),
    /// `node` is the source or target of a copy of memory.
    CopyFrom(u32),
    CopyTo(u32),
    /// What `node` points to is out of our hands.
    Escape,
    /// `to = node`, less the objects that the wrapper's callers rename.
    Renamed(Node),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub object: ObjectId,
    pub offset: i64,
    /// What a load reads.
    pub read: Node,
    /// What a store writes.
    pub write: Node,
}

/// An object and its locations so far.
pub(super) struct Cells {
    pub object: Object,
    /// Sorted by offset; without the one that is anywhere.
    pub at: Vec<(i64, Location)>,
    pub anywhere: Option<Location>,
    /// Copies of memory that read this object from the offset on.
    pub copied_by: Vec<(u32, i64)>,
    /// Allocated inside an allocator wrapper: callers see an object of their own.
    pub is_renamed: bool,
}

/// Pointer arithmetic: `base + offset + sum(stride * unknown)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shift {
    pub offset: i64,
    pub strides: Vec<i64>,
    /// The offset counts in single bytes of a `char *`, not in members of a type.
    pub is_bytewise: bool,
}

impl Shift {
    /// The offset arithmetic leads to from an offset of an object; none where it may be
    /// any. Not yet canonical.
    pub(super) fn target(&self, types: &Types, layout: Layout, offset: i64) -> Option<i64> {
        // Within an array of bytes a byte offset stays inside the array.
        if layout == Layout::Whole || (self.is_bytewise && types.can_walk(layout, offset, 1)) {
            return Some(offset);
        }
        let target = offset.saturating_add(self.offset);
        let mut strides = self.strides.iter();
        strides.all(|&stride| types.can_walk(layout, target, stride)).then_some(target)
    }
}

/// A copy of memory: one node for each offset copied, shared by all pairs of objects.
#[derive(Default)]
pub(super) struct MemoryCopy {
    pub size: Option<u64>,
    pub parts: Vec<(i64, Node)>,
    /// Targets seen so far.
    pub targets: Vec<Location>,
}

pub(super) struct Graph<'a> {
    pub types: &'a Types<'a>,
    pub parent: Vec<Node>,
    pub points_to: Vec<SparseSet>,
    /// Members not yet passed on.
    pub fresh: Vec<SparseSet>,
    pub edges: Vec<SparseSet>,
    pub complex: Vec<Vec<Complex>>,
    pub places: Vec<Place>,
    pub objects: Vec<Cells>,
    pub object_of: FxHashMap<ObjectKind, ObjectId>,
    pub shifts: Vec<Shift>,
    shift_of: FxHashMap<Shift, u32>,
    shifted: FxHashMap<(Location, u32), Location>,
    pub copies: Vec<MemoryCopy>,
    /// Nodes with fresh members, in no order.
    pub dirty: Vec<Node>,
    pub n_edges: usize,
}

impl<'a> Graph<'a> {
    pub fn new(types: &'a Types<'a>) -> Self {
        let mut graph = Self {
            types,
            parent: Vec::new(),
            points_to: Vec::new(),
            fresh: Vec::new(),
            edges: Vec::new(),
            complex: Vec::new(),
            places: Vec::new(),
            objects: Vec::new(),
            object_of: FxHashMap::default(),
            shifts: Vec::new(),
            shift_of: FxHashMap::default(),
            shifted: FxHashMap::default(),
            copies: Vec::new(),
            dirty: Vec::new(),
            n_edges: 0,
        };
        let unknown = graph.object(ObjectKind::Unknown, Layout::Whole, None);
        let unknown = graph.location(unknown, 0);
        let contents = graph.places[unknown as usize].read;
        graph.add_member(contents, unknown);
        graph.add_complex(contents, Complex::Escape);
        graph
    }

    pub fn node(&mut self) -> Node {
        let node = self.parent.len() as Node;
        self.parent.push(node);
        self.points_to.push(SparseSet::new());
        self.fresh.push(SparseSet::new());
        self.edges.push(SparseSet::new());
        self.complex.push(Vec::new());
        node
    }

    /// The node that stands for this one since cycles were merged.
    pub fn find(&mut self, mut node: Node) -> Node {
        while self.parent[node as usize] != node {
            let next = self.parent[node as usize];
            self.parent[node as usize] = self.parent[next as usize];
            node = next;
        }
        node
    }

    pub fn object(&mut self, kind: ObjectKind, layout: Layout, size: Option<u64>) -> ObjectId {
        if let Some(&id) = self.object_of.get(&kind) {
            return id;
        }
        let id = ObjectId(self.objects.len() as u32);
        self.object_of.insert(kind, id);
        self.objects.push(Cells {
            object: Object { kind, layout, size, escapes: kind == ObjectKind::Unknown },
            at: Vec::new(),
            anywhere: None,
            copied_by: Vec::new(),
            is_renamed: false,
        });
        id
    }

    /// The object unknown pointers of this pointee type lead to.
    pub fn outside(&mut self, pointee: program::TypeId) -> ObjectId {
        let plain = self.types.plain(pointee);
        if self.types.size(plain) == 0 {
            return ObjectId(0);
        }
        self.object(ObjectKind::Outside(plain), Layout::Array(plain), None)
    }

    /// The location of an offset; made, with its node, when first asked for.
    pub fn location(&mut self, object: ObjectId, offset: i64) -> Location {
        let cells = &self.objects[object.0 as usize];
        let (layout, size) = (cells.object.layout, cells.object.size);
        let canonical =
            if offset == ANYWHERE { None } else { self.types.canonical(layout, offset, size) };
        let Some(offset) = canonical else { return self.anywhere(object) };
        let cells = &self.objects[object.0 as usize];
        match cells.at.binary_search_by_key(&offset, |(at, _)| *at) {
            Ok(found) => cells.at[found].1,
            Err(_) if cells.at.len() >= MAX_CELLS => self.anywhere(object),
            Err(at) => self.new_cell(object, offset, at),
        }
    }

    fn new_cell(&mut self, object: ObjectId, offset: i64, at: usize) -> Location {
        let node = self.node();
        let location = self.places.len() as Location;
        self.places.push(Place { object, offset, read: node, write: node });
        let cells = &mut self.objects[object.0 as usize];
        cells.at.insert(at, (offset, location));
        let anywhere = cells.anywhere;
        let (kind, layout) = (cells.object.kind, cells.object.layout);
        let copied_by = cells.copied_by.clone();
        if let Some(anywhere) = anywhere {
            let Place { read, write, .. } = self.places[anywhere as usize];
            self.add_edge(write, node);
            self.add_edge(node, read);
        }
        if kind.is_outside() && kind != ObjectKind::Unknown {
            self.fill_from_outside(node, layout, offset);
        }
        for (copy, start) in copied_by {
            self.copy_part(copy, start, location);
        }
        location
    }

    /// What a cell of memory from outside holds before the program writes it.
    fn fill_from_outside(&mut self, node: Node, layout: Layout, offset: i64) {
        let Some(ty) = self.types.scalar_at(layout, offset) else { return };
        let Some(pointee) = self.types.pointee(ty) else { return };
        let target = self.outside(pointee);
        let target = self.location(target, 0);
        self.add_member(node, target);
    }

    pub fn anywhere(&mut self, object: ObjectId) -> Location {
        let cells = &self.objects[object.0 as usize];
        if let Some(location) = cells.anywhere {
            return location;
        }
        if cells.object.layout == Layout::Whole {
            return self.location(object, 0);
        }
        let (read, write) = (self.node(), self.node());
        let location = self.places.len() as Location;
        self.places.push(Place { object, offset: ANYWHERE, read, write });
        self.add_edge(write, read);
        let cells = &mut self.objects[object.0 as usize];
        cells.anywhere = Some(location);
        let nodes: Vec<Node> =
            cells.at.iter().map(|&(_, at)| self.places[at as usize].read).collect();
        for node in nodes {
            self.add_edge(write, node);
            self.add_edge(node, read);
        }
        let copied_by = self.objects[object.0 as usize].copied_by.clone();
        for (copy, start) in copied_by {
            self.copy_part(copy, start, location);
        }
        location
    }

    pub fn shift_id(&mut self, shift: Shift) -> u32 {
        if let Some(&id) = self.shift_of.get(&shift) {
            return id;
        }
        let id = self.shifts.len() as u32;
        self.shift_of.insert(shift.clone(), id);
        self.shifts.push(shift);
        id
    }

    /// Where pointer arithmetic leads from a location.
    pub fn shifted(&mut self, location: Location, shift: u32) -> Location {
        if let Some(&found) = self.shifted.get(&(location, shift)) {
            return found;
        }
        let Place { object, offset, .. } = self.places[location as usize];
        let cells = &self.objects[object.0 as usize];
        let (kind, layout) = (cells.object.kind, cells.object.layout);
        let by = &self.shifts[shift as usize];
        let is_one_cell = offset == ANYWHERE || matches!(kind, ObjectKind::Function(_));
        let found = if is_one_cell {
            location
        } else {
            let target = by.target(self.types, layout, offset);
            self.location(object, target.unwrap_or(ANYWHERE))
        };
        self.shifted.insert((location, shift), found);
        found
    }

    pub fn add_member(&mut self, node: Node, member: Location) {
        let node = self.find(node);
        if self.points_to[node as usize].insert(member) {
            self.mark_dirty(node);
            self.fresh[node as usize].insert(member);
        }
    }

    pub fn add_members(&mut self, node: Node, members: &SparseSet) {
        let node = self.find(node) as usize;
        let was_clean = self.fresh[node].is_empty();
        if self.points_to[node].union_noting(members, &mut self.fresh[node]) && was_clean {
            self.dirty.push(node as Node);
        }
    }

    fn mark_dirty(&mut self, node: Node) {
        if self.fresh[node as usize].is_empty() {
            self.dirty.push(node);
        }
    }

    pub fn add_edge(&mut self, from: Node, to: Node) {
        let (from, to) = (self.find(from), self.find(to));
        if from != to && self.edges[from as usize].insert(to) {
            self.n_edges += 1;
            if !self.points_to[from as usize].is_empty() {
                let members = std::mem::take(&mut self.points_to[from as usize]);
                self.add_members(to, &members);
                self.points_to[from as usize] = members;
            }
        }
    }

    /// Adds a constraint and applies it to what the node holds already.
    pub fn add_complex(&mut self, node: Node, complex: Complex) {
        let node = self.find(node);
        self.complex[node as usize].push(complex);
        let known = &self.points_to[node as usize];
        if !known.is_empty() {
            let known = known.clone();
            self.mark_dirty(node);
            self.fresh[node as usize].union(&known);
        }
    }

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
        let Place { offset, read, .. } = self.places[location as usize];
        let part = if start == ANYWHERE || offset == ANYWHERE {
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
        self.add_edge(read, node);
    }

    /// Lets a part of a copy flow into one of the copy's targets.
    pub fn write_part(&mut self, target: Location, offset: i64, part: Node) {
        let Place { object, offset: start, .. } = self.places[target as usize];
        let to = if start == ANYWHERE || offset == ANYWHERE {
            self.anywhere(object)
        } else {
            self.location(object, start + offset)
        };
        let write = self.places[to as usize].write;
        self.add_edge(part, write);
    }

    /// Everything an object holds, as one node to read.
    pub fn all_contents(&mut self, object: ObjectId) -> Node {
        let location = self.anywhere(object);
        self.places[location as usize].read
    }

    /// A node whose members flow into every cell of an object.
    pub fn every_cell(&mut self, object: ObjectId) -> Node {
        let location = self.anywhere(object);
        self.places[location as usize].write
    }
}

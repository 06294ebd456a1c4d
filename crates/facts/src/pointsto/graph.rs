//! The constraint graph: nodes hold points-to sets, edges say "flows into".
//!
//! A location is a cell of an object, made when a pointer to it first arises. Most have
//! one node for their contents. The location at an unknown offset has two: what is
//! written there flows into every cell, and it reads what any cell holds.

use program::{FunctionId, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::copies::MemoryCopy;
use super::layout::{Layout, Types};
use super::object::{Object, ObjectId, ObjectKind};
use super::shift::{Shift, Target};
use crate::set::SparseSet;

pub(super) type Node = u32;
pub(super) type Location = u32;

/// More cells than this and the rest of an object is one.
const MAX_CELLS: usize = 512;
const MAX_UNTYPED_CELLS: usize = 64;

/// Stands for the type of a load that reads no pointer.
pub(super) const NO_POINTER: TypeId = TypeId(u32::MAX);

/// The offset of the location that may be any part of its object.
pub(super) const ANYWHERE: i64 = i64::MIN;

/// A constraint that adds edges as the set of its node grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Complex {
    /// `to = *node`, read as a pointer to this type.
    Load(Node, TypeId),
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
    /// `node` is what a location of the source of a copy holds.
    CopyPart {
        copy: u32,
        start: i64,
        location: Location,
    },
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

/// A location after pointer arithmetic.
#[derive(Clone, Copy)]
enum Shifted {
    To(Location),
    Pool(TypeId),
    Nowhere,
}

pub(super) struct Graph<'a> {
    pub types: &'a Types<'a>,
    pub parent: Vec<Node>,
    pub points_to: Vec<SparseSet>,
    /// Nodes whose sets grew beyond use; see [`Graph::widen`].
    pub is_wide: Vec<bool>,
    /// Members not yet passed on.
    pub fresh: Vec<SparseSet>,
    pub edges: Vec<SparseSet>,
    pub complex: Vec<Vec<Complex>>,
    pub places: Vec<Place>,
    pub objects: Vec<Cells>,
    pub object_of: FxHashMap<ObjectKind, ObjectId>,
    pub shifts: Vec<Shift>,
    shift_of: FxHashMap<Shift, u32>,
    shifted: FxHashMap<(Location, u32), Shifted>,
    /// Shifts that read the pool of a type, and where they lead.
    pooled: FxHashSet<(u32, Node)>,
    pub copies: Vec<MemoryCopy>,
    /// For each type, what pointers to it from outside lead to.
    pub pools: FxHashMap<TypeId, Node>,
    pub(super) functions_from_outside: Node,
    /// Objects that are to escape, while some are escaping.
    pub(super) escaping: Vec<ObjectId>,
    pub(super) is_escaping: bool,
    /// Functions that escaped and were not yet entered.
    pub escaped_functions: Vec<FunctionId>,
    /// The constraints nodes have, or had before they were merged.
    pub(super) constrained: FxHashSet<(Node, Complex)>,
    /// New constraints that have yet to see what their node holds.
    pub pending: Vec<(Node, Complex)>,
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
            is_wide: Vec::new(),
            fresh: Vec::new(),
            edges: Vec::new(),
            complex: Vec::new(),
            places: Vec::new(),
            objects: Vec::new(),
            object_of: FxHashMap::default(),
            shifts: Vec::new(),
            shift_of: FxHashMap::default(),
            shifted: FxHashMap::default(),
            pooled: FxHashSet::default(),
            copies: Vec::new(),
            pools: FxHashMap::default(),
            functions_from_outside: 0,
            escaping: Vec::new(),
            is_escaping: false,
            escaped_functions: Vec::new(),
            constrained: FxHashSet::default(),
            pending: Vec::new(),
            dirty: Vec::new(),
            n_edges: 0,
        };
        let unknown = graph.object(ObjectKind::Unknown, Layout::Whole, None);
        let unknown = graph.location(unknown, 0);
        let contents = graph.places[unknown as usize].read;
        graph.add_member(contents, unknown);
        graph.add_complex(contents, Complex::Escape);
        graph.functions_from_outside = graph.node();
        graph.add_member(graph.functions_from_outside, unknown);
        graph
    }

    pub fn node(&mut self) -> Node {
        let node = self.parent.len() as Node;
        self.parent.push(node);
        self.points_to.push(SparseSet::new());
        self.is_wide.push(false);
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
            object: Object { kind, layout, size, escapes: kind.is_outside() },
            at: Vec::new(),
            anywhere: None,
            copied_by: Vec::new(),
            is_renamed: false,
        });
        if kind.is_outside() {
            self.make_all_cells(id);
        }
        id
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
            Err(_) if layout == Layout::Bytes && cells.at.len() >= MAX_UNTYPED_CELLS => {
                self.anywhere(object)
            }
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
        let Object { kind, layout, escapes, .. } = cells.object;
        let copied_by = cells.copied_by.clone();
        if let Some(anywhere) = anywhere {
            let Place { read, write, .. } = self.places[anywhere as usize];
            self.add_edge(write, node);
            self.add_edge(node, read);
        }
        if escapes && kind != ObjectKind::Unknown {
            self.open_cell(node, layout, offset);
        }
        for (copy, start) in copied_by {
            self.copy_part(copy, start, location);
        }
        location
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
        if self.objects[object.0 as usize].object.escapes {
            self.add_complex(write, Complex::Escape);
        }
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
    fn shifted(&mut self, location: Location, shift: u32) -> Shifted {
        if let Some(&found) = self.shifted.get(&(location, shift)) {
            return found;
        }
        let Place { object, offset, .. } = self.places[location as usize];
        let found = if offset == ANYWHERE {
            Shifted::To(location)
        } else {
            let known = &self.objects[object.0 as usize].object;
            match self.shifts[shift as usize].target(self.types, known, offset) {
                Target::At(offset) => Shifted::To(self.location(object, offset)),
                Target::Anywhere => Shifted::To(self.anywhere(object)),
                Target::Pool(ty) => Shifted::Pool(ty),
                Target::Nowhere => Shifted::Nowhere,
            }
        };
        self.shifted.insert((location, shift), found);
        found
    }

    /// `to = members + shift`.
    pub fn add_shifted(&mut self, members: &SparseSet, shift: u32, to: Node) {
        let mut shifted = Vec::new();
        for location in members.iter() {
            match self.shifted(location, shift) {
                Shifted::To(location) => shifted.push(location),
                Shifted::Nowhere => {}
                Shifted::Pool(ty) => {
                    let pool = self.pool(ty);
                    if self.pooled.insert((shift, to)) {
                        self.add_complex(pool, Complex::Shift(shift, to));
                    }
                    // A pool that became unknown memory leads back to that.
                    let pool = self.find(pool) as usize;
                    if self.points_to[pool].contains(0) {
                        shifted.push(0);
                    }
                }
            }
        }
        self.add_members(to, &SparseSet::from_unsorted(shifted));
    }

    pub fn add_member(&mut self, node: Node, member: Location) {
        let node = self.find(node);
        if self.is_wide[node as usize] {
            return self.escape(self.places[member as usize].object);
        }
        if self.points_to[node as usize].insert(member) {
            self.mark_dirty(node);
            self.fresh[node as usize].insert(member);
        }
    }

    pub fn add_members(&mut self, node: Node, members: &SparseSet) {
        let node = self.find(node) as usize;
        if self.is_wide[node] {
            return self.escape_all(members);
        }
        let was_clean = self.fresh[node].is_empty();
        if self.points_to[node].union_noting(members, &mut self.fresh[node]) && was_clean {
            self.dirty.push(node as Node);
        }
    }

    pub(super) fn mark_dirty(&mut self, node: Node) {
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

    /// Adds a constraint; the solver will apply it to what the node holds already.
    pub fn add_complex(&mut self, node: Node, complex: Complex) {
        let node = self.find(node);
        if !self.constrained.insert((node, complex)) {
            return;
        }
        self.complex[node as usize].push(complex);
        if !self.points_to[node as usize].is_empty() {
            self.pending.push((node, complex));
        }
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

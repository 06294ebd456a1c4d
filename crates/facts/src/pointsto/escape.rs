//! What code outside the program gets hold of, and what comes in from there.

use program::{CType, TypeId};

use super::graph::{Complex, Graph, Location, Node};
use super::layout::Layout;
use super::object::{Object, ObjectId, ObjectKind};
use crate::set::SparseSet;

impl Graph<'_> {
    /// The node of what pointers to this type from outside the program lead to: one object,
    /// which also stands for those of the program that escaped. An untyped pointer leads to
    /// unknown memory, until it is used as a record.
    pub fn pool(&mut self, pointee: TypeId) -> Node {
        let plain = self.types.plain(pointee);
        if matches!(self.types.plain_ctype(plain), CType::Function { .. }) {
            return self.functions_from_outside;
        }
        if self.types.size(plain) == 0 {
            return self.places[0].read;
        }
        if let Some(&node) = self.pools.get(&plain) {
            return node;
        }
        let node = self.node();
        self.pools.insert(plain, node);
        let object = self.object(ObjectKind::Outside(plain), Layout::Array(plain), None);
        let start = self.location(object, 0);
        self.add_member(node, start);
        node
    }

    /// Unmodelled code may read and write the object from now on, and call it.
    pub fn escape(&mut self, id: ObjectId) {
        self.escaping.push(id);
        // What escapes lets more escape; a list instead of recursion keeps the stack small.
        if self.is_escaping {
            return;
        }
        self.is_escaping = true;
        while let Some(id) = self.escaping.pop() {
            self.escape_one(id);
        }
        self.is_escaping = false;
    }

    fn escape_one(&mut self, id: ObjectId) {
        let object = &mut self.objects[id.0 as usize].object;
        if std::mem::replace(&mut object.escapes, true) {
            return;
        }
        let (kind, layout) = (object.kind, object.layout);
        if let ObjectKind::Function(function) = kind {
            let start = self.location(id, 0);
            self.escaped_functions.push(function);
            self.add_member(self.functions_from_outside, start);
            return;
        }
        let cells = &self.objects[id.0 as usize];
        let known: Vec<(i64, Location)> = cells.at.clone();
        let anywhere = cells.anywhere;
        for (offset, location) in known {
            let node = self.places[location as usize].read;
            self.open_cell(node, layout, offset);
        }
        if let Some(location) = anywhere {
            self.add_complex(self.places[location as usize].write, Complex::Escape);
        }
        self.make_all_cells(id);
    }

    /// Code outside may put pointers where no pointer of ours leads yet; a copy of the whole
    /// object must find them.
    pub(super) fn make_all_cells(&mut self, id: ObjectId) {
        match self.objects[id.0 as usize].object.layout {
            Layout::Whole => {}
            Layout::Bytes => {
                let every = self.every_cell(id);
                self.add_member(every, 0);
            }
            Layout::Type(ty) | Layout::Array(ty) => {
                for offset in self.types.scalar_offsets(ty) {
                    self.location(id, offset);
                }
            }
        }
    }

    /// A cell that code outside reads and writes.
    pub(super) fn open_cell(&mut self, node: Node, layout: Layout, offset: i64) {
        self.add_complex(node, Complex::Escape);
        if self.types.is_untyped_at(layout, offset) {
            return self.add_member(node, 0);
        }
        let scalar = self.types.scalar_at(layout, offset);
        if let Some(pointee) = scalar.and_then(|ty| self.types.pointee(ty)) {
            let pool = self.pool(pointee);
            self.add_edge(pool, node);
        }
    }

    /// Whether the location is unknown memory, or characters from outside, through which
    /// anything that escaped may be seen.
    pub(super) fn is_untyped_outside(&self, location: Location) -> bool {
        let Object { kind, layout, .. } =
            self.objects[self.places[location as usize].object.0 as usize].object;
        match (kind, layout) {
            (ObjectKind::Unknown, _) => true,
            (ObjectKind::Outside(_), Layout::Array(ty)) => self.types.size(ty) == 1,
            _ => false,
        }
    }

    pub(super) fn escape_all(&mut self, members: &SparseSet) {
        for member in members.iter() {
            self.escape(self.places[member as usize].object);
        }
    }

    /// A pointer that may lead almost anywhere is one from outside: what it may point to
    /// escapes, and unknown memory stands for all of it.
    pub fn widen(&mut self, node: Node) {
        let members = std::mem::take(&mut self.points_to[node as usize]);
        let is_new = !members.contains(0) || self.fresh[node as usize].contains(0);
        self.fresh[node as usize].clear();
        self.points_to[node as usize].insert(0);
        self.is_wide[node as usize] = true;
        if is_new {
            self.mark_dirty(node);
            self.fresh[node as usize].insert(0);
        }
        self.escape_all(&members);
    }
}

//! Which objects can still be reached when a function returns, or a loop starts again.

use rustc_hash::FxHashSet;

use super::memory::{Data, Object, ObjectId, ObjectKind};
use super::state::State;
use super::value::Value;

/// Heap objects no pointer leads to once the top frame is gone, oldest first: those that were not
/// lost before.
pub fn lost_objects(state: &State) -> Vec<ObjectId> {
    lost(state, None)
}

/// Heap objects no pointer leads to once the top frame has nothing left but these values, and
/// its variables in memory.
pub fn lost_but_for(state: &State, values: &[Value]) -> Vec<ObjectId> {
    lost(state, Some(values))
}

fn lost(state: &State, kept: Option<&[Value]>) -> Vec<ObjectId> {
    let heap: Vec<ObjectId> = state
        .memory
        .ids()
        .filter(|id| {
            let object = state.memory.get(*id);
            matches!(object.kind, ObjectKind::Heap { .. } | ObjectKind::Handle(_))
                && !object.escaped
                && !object.is_lost
        })
        .collect();
    if heap.is_empty() {
        return heap;
    }
    let reached = vec![false; state.memory.n_objects()];
    let mut reach = Reach { state, reached, waiting: Vec::new() };
    reach.add_roots(kept.is_some());
    kept.into_iter().flatten().for_each(|value| reach.add(*value));
    reach.close();
    heap.into_iter().filter(|id| !reach.reached[id.0 as usize]).collect()
}

struct Reach<'a> {
    state: &'a State,
    /// By object.
    reached: Vec<bool>,
    waiting: Vec<ObjectId>,
}

impl Reach<'_> {
    fn add(&mut self, value: Value) {
        let object = match value {
            Value::Pointer { object, .. } => Some(object),
            Value::Int(number) => self.state.memory.handle(number),
            _ => None,
        };
        object.into_iter().for_each(|object| self.reach(object));
    }

    fn reach(&mut self, object: ObjectId) {
        if !std::mem::replace(&mut self.reached[object.0 as usize], true) {
            self.waiting.push(object);
        }
    }

    fn add_roots(&mut self, stays: bool) {
        let (top, callers) = self.state.frames.split_last().expect("a running state has a frame");
        if let Some(value) = top.returned {
            self.add(value);
        }
        for frame in callers {
            frame.all_values().for_each(|value| self.add(value));
        }
        for id in self.state.memory.ids() {
            let object = self.state.memory.get(id);
            let survives = object.escaped
                || match object.kind {
                    ObjectKind::Local { frame, .. } => stays || frame != top.number,
                    ObjectKind::Global(_) | ObjectKind::Pointee => true,
                    ObjectKind::Heap { .. } | ObjectKind::Handle(_) => false,
                };
            if survives {
                self.reach(id);
            }
        }
    }

    fn close(&mut self) {
        while let Some(id) = self.waiting.pop() {
            let object = self.state.memory.snapshot(id);
            self.add_held(&object, 0);
        }
    }

    /// Pointers an object holds now, as far as newer writes did not replace them.
    fn add_held(&mut self, object: &Object, depth: u32) {
        let mut replaced = FxHashSet::default();
        for write in object.writes() {
            let is_newest = replaced.insert((write.offset, write.len));
            match &write.data {
                Data::Value(value) if is_newest => self.add(*value),
                Data::Fill { unit, .. } if is_newest => self.add(*unit),
                Data::Copy { from, .. } if is_newest && depth < 4 => {
                    let from = from.clone();
                    self.add_held(&from, depth + 1);
                }
                _ => {}
            }
        }
    }
}

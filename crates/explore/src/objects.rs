//! The objects of a run: where they lie, what they are called, and which steps begin and end
//! their lives.

use std::collections::BTreeMap;

use interpret::{Executed, Record, TouchKind};
use program::{CType, GlobalId, Op, Program, TypeId};

use crate::ending::loc_of;

pub struct Objects<'a> {
    program: &'a Program,
    record: &'a Record,
    by_address: BTreeMap<u64, Object>,
}

#[derive(Clone, Copy, Debug)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    /// The steps that began and ended its life.
    begun: Option<usize>,
    pub ended: Option<usize>,
    global: Option<GlobalId>,
}

impl Object {
    /// The step that began its life.
    pub fn begun(&self) -> Option<usize> {
        self.begun
    }

    /// Whether an address lies inside, be it no longer alive.
    pub fn holds(&self, address: u64) -> bool {
        (self.base..self.base + self.size).contains(&address)
    }
}

impl<'a> Objects<'a> {
    pub fn new(program: &'a Program, record: &'a Record) -> Self {
        let mut by_address = BTreeMap::new();
        for (base, id) in &record.globals {
            let (base, size, global) = (*base, program.globals[*id].size, Some(*id));
            by_address.insert(base, Object { base, size, begun: None, ended: None, global });
        }
        for (index, step) in record.steps.iter().enumerate() {
            for touch in touches(record, step) {
                let (base, size) = (touch.address, touch.size);
                let new = Object { base, size, begun: None, ended: None, global: None };
                match touch.kind {
                    TouchKind::Begin => {
                        by_address.insert(base, Object { begun: Some(index), ..new });
                    }
                    TouchKind::End => by_address.entry(base).or_insert(new).ended = Some(index),
                    _ => {}
                }
            }
        }
        Self { program, record, by_address }
    }

    /// The object an address lies in, or was most likely meant for: the nearest.
    pub fn meant(&self, address: u64) -> Option<&Object> {
        let before = self.by_address.range(..=address).next_back().map(|(_, object)| object);
        let after = self.by_address.range(address..).next().map(|(_, object)| object);
        match (before, after) {
            (Some(before), Some(after)) => {
                let past = address.saturating_sub(before.base + before.size);
                Some(if past <= after.base - address { before } else { after })
            }
            (before, after) => before.or(after),
        }
    }

    /// Whether some bytes lie in an object that lives to the end of the run.
    pub fn has(&self, address: u64, size: u64) -> bool {
        self.meant(address).is_some_and(|object| {
            object.ended.is_none()
                && object.base <= address
                && address.saturating_add(size) <= object.base + object.size
        })
    }

    /// Whether an object has no name but where it was allocated.
    pub fn is_heap(&self, object: &Object) -> bool {
        let begun = object.begun.and_then(|index| self.op(index));
        matches!(begun, Some(Op::Call(_)))
    }

    /// As the user calls it: by its variable, or by where it was allocated.
    pub fn name(&self, object: &Object) -> Option<String> {
        if let Some(global) = object.global {
            let global = &self.program.globals[global];
            if global.is_string_literal {
                return Some("a string literal".to_owned());
            }
            return (!global.name.is_empty()).then(|| global.name.to_string());
        }
        let index = object.begun?;
        let step = &self.record.steps[index];
        match self.op(index)? {
            Op::Alloca { variable: Some(variable), .. } => {
                let body = self.program.functions[step.function].body.as_ref()?;
                let name = &body.variables[*variable].name;
                (!name.is_empty()).then(|| name.to_string())
            }
            Op::Call(_) => {
                let bytes = bytes(object.size);
                Some(format!("the {bytes} allocated in line {}", self.line(index)?))
            }
            _ => None,
        }
    }

    /// Where and how an object ended, in words that follow its name.
    pub fn end(&self, object: &Object) -> Option<String> {
        let index = object.ended?;
        if self.is_heap(object) {
            return Some(format!("freed in line {}", self.line(index)?));
        }
        let begun = &self.record.steps[object.begun?];
        let function = &self.program.functions[begun.function].name;
        Some(format!("which ended when {function} returned to line {}", self.line(index)?))
    }

    /// How many elements an array has that is a variable of its own.
    pub fn n_elements(&self, object: &Object) -> Option<u64> {
        let ctype = match object.global {
            Some(global) => self.program.globals[global].ctype,
            None => self.variable_type(object.begun?)?,
        };
        match self.program.resolved_type(ctype) {
            CType::Array { count: Some(count), .. } => Some(*count),
            _ => None,
        }
    }

    fn variable_type(&self, index: usize) -> Option<TypeId> {
        let Op::Alloca { variable: Some(variable), .. } = self.op(index)? else { return None };
        let body = self.program.functions[self.record.steps[index].function].body.as_ref()?;
        Some(body.variables[*variable].ctype)
    }

    fn op(&self, index: usize) -> Option<&'a Op> {
        let step = &self.record.steps[index];
        let body = self.program.functions[step.function].body.as_ref()?;
        Some(&body.insts[step.at.inst()?].op)
    }

    fn line(&self, index: usize) -> Option<u32> {
        let step = &self.record.steps[index];
        let loc = loc_of(self.program, (step.function, step.at));
        let loc = self.program.locs.get(loc).filter(|_| loc.is_known())?;
        Some(loc.line)
    }
}

/// What a step read, wrote, began and ended.
pub fn touches<'r>(record: &'r Record, step: &Executed) -> &'r [interpret::Touch] {
    let (first, end) = step.touched;
    &record.touched[first as usize..end as usize]
}

pub fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") }
}

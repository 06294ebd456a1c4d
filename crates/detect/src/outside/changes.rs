//! Which members of records from outside a function may change, itself or through what it
//! calls: a call that changes two of them leaves the others as they were.

use std::collections::BTreeSet;

use facts::externals;
use program::{Callee, FunctionId, Op, Program, RecordId};

use facts::members::{Member, Members, accessed_member, record_of};

/// By function; `None` where code nobody sees may change anything.
#[derive(Debug, Default)]
pub struct Changes {
    functions: Vec<Option<BTreeSet<Member>>>,
}

impl Changes {
    pub fn new(program: &Program, members: &Members, records: &BTreeSet<RecordId>) -> Self {
        let functions = program.functions.iter().map(|function| match &function.body {
            Some(_) => Some(BTreeSet::new()),
            None => externals::lookup(&function.name).map(|_| BTreeSet::new()),
        });
        let mut changes = Self { functions: functions.collect() };
        if records.is_empty() {
            return changes;
        }
        // Sets only grow, and are lost at most once: this ends.
        loop {
            let mut changed = false;
            for (id, _) in program.functions.iter_enumerated() {
                let now = changes.of_body(program, members, records, id);
                let known = &mut changes.functions[id.0 as usize];
                if *known != now {
                    *known = now;
                    changed = true;
                }
            }
            if !changed {
                return changes;
            }
        }
    }

    pub fn of_function(&self, function: FunctionId) -> Option<&BTreeSet<Member>> {
        self.functions[function.0 as usize].as_ref()
    }

    fn of_body(
        &self,
        program: &Program,
        members: &Members,
        records: &BTreeSet<RecordId>,
        id: FunctionId,
    ) -> Option<BTreeSet<Member>> {
        let mut all = self.functions[id.0 as usize].clone()?;
        let Some(body) = &program.functions[id].body else { return Some(all) };
        for inst in &body.insts {
            match &inst.op {
                Op::Store { access, .. } => {
                    all.extend(accessed_member(body, access).filter(|m| records.contains(&m.0)));
                }
                Op::Call(call) => {
                    let callees = members.callees(body, &call.callee);
                    if callees.is_empty() && matches!(call.callee, Callee::Pointer(_)) {
                        return None;
                    }
                    for callee in callees {
                        all.extend(self.of_function(*callee)?.iter().copied());
                    }
                }
                // Whole records are overwritten.
                Op::MemCopy { .. } | Op::MemSet { .. } | Op::Asm { .. } => return None,
                _ => {}
            }
        }
        Some(all)
    }
}

/// Where members lie in a record, those of records inside it included: offset and bytes.
pub fn places(program: &Program, record: RecordId, wanted: &BTreeSet<Member>) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (index, member) in program.records[record].members.iter().enumerate() {
        let start = member.offset_bits / 8;
        if wanted.contains(&(record, index as u32)) {
            found.push((start, member.size_bits.div_ceil(8)));
        } else if let Some(inner) = record_of(program, member.ctype) {
            let inside = places(program, inner, wanted);
            found.extend(inside.into_iter().map(|(offset, size)| (start + offset, size)));
        }
    }
    found
}

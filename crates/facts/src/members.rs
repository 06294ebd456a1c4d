//! What the program itself puts into the members of its records: stores, functions and the
//! constants of initialisers, by member.

use program::{
    Access, Body, CType, Callee, Const, FunctionId, Op, Operand, PathStep, Program, RecordId,
    TypeId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A member of a record, by its index.
pub type Member = (RecordId, u32);

/// Every store to a member, wherever in the program it stands.
#[derive(Debug, Default)]
pub struct Members {
    stores: FxHashMap<Member, Vec<(FunctionId, Operand)>>,
    functions: FxHashMap<Member, Vec<FunctionId>>,
    constants: FxHashMap<Member, Vec<i128>>,
    /// Records of which some member is stored to, or that some initialiser fills.
    made: FxHashSet<RecordId>,
}

impl Members {
    pub fn new(program: &Program) -> Self {
        let mut members = Self::default();
        for (id, function) in program.functions.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for inst in &body.insts {
                if let Op::Store { access, value } = &inst.op
                    && let Some(member) = accessed_member(body, access)
                {
                    members.add_store(program, member, id, *value);
                }
            }
        }
        for global in &program.globals {
            for piece in global.init.iter().flatten() {
                members.add_piece(
                    program,
                    global.ctype,
                    piece.offset,
                    &program.constants[piece.value],
                );
            }
        }
        members
    }

    pub fn stores(&self, member: Member) -> &[(FunctionId, Operand)] {
        self.stores.get(&member).map_or(&[], Vec::as_slice)
    }

    /// The constants that initialisers of globals give the member.
    pub fn constants(&self, member: Member) -> &[i128] {
        self.constants.get(&member).map_or(&[], Vec::as_slice)
    }

    /// The functions a member may point to, as far as they are stored by name.
    pub fn functions(&self, member: Member) -> &[FunctionId] {
        self.functions.get(&member).map_or(&[], Vec::as_slice)
    }

    /// Whether the program fills records of this type, in whatever member.
    pub fn makes(&self, record: RecordId) -> bool {
        self.made.contains(&record)
    }

    /// What a call may lead to: the function it names, or those of the member it reads.
    pub fn callees<'a>(&'a self, body: &'a Body, callee: &'a Callee) -> &'a [FunctionId] {
        match callee {
            Callee::Function(function) => std::slice::from_ref(function),
            Callee::Pointer(Operand::Inst(inst)) => match &body.insts[*inst].op {
                Op::Load(access) => match accessed_member(body, access) {
                    Some(member) => self.functions(member),
                    None => &[],
                },
                _ => &[],
            },
            _ => &[],
        }
    }

    fn add_store(&mut self, program: &Program, member: Member, by: FunctionId, value: Operand) {
        self.made.insert(member.0);
        if let Operand::Const(id) = value
            && let Const::Function(function) = program.constants[id]
        {
            add(&mut self.functions, member, function);
        }
        self.stores.entry(member).or_default().push((by, value));
    }

    fn add_piece(&mut self, program: &Program, ctype: TypeId, offset: u64, value: &Const) {
        let Some(member) = member_at(program, ctype, offset) else { return };
        self.made.insert(member.0);
        match value {
            Const::Function(function) => add(&mut self.functions, member, *function),
            Const::Int { value, .. } => add(&mut self.constants, member, *value),
            _ => {}
        }
    }
}

fn add<T: PartialEq>(known: &mut FxHashMap<Member, Vec<T>>, member: Member, value: T) {
    let values = known.entry(member).or_default();
    if !values.contains(&value) {
        values.push(value);
    }
}

/// The member that an access reads or writes as a whole.
pub fn accessed_member(body: &Body, access: &Access) -> Option<Member> {
    let last = match access.path.last() {
        Some(step) => Some(step),
        None => match access.ptr {
            Operand::Inst(inst) => match &body.insts[inst].op {
                Op::Address(address) => address.path.last(),
                _ => None,
            },
            _ => None,
        },
    };
    match last {
        Some(PathStep::Field { record, member }) => Some((*record, *member)),
        _ => None,
    }
}

/// The innermost member at an offset into an object of a type.
fn member_at(program: &Program, ctype: TypeId, offset: u64) -> Option<Member> {
    match &program.types[ctype] {
        CType::Typedef { target, .. }
        | CType::Const(target)
        | CType::Volatile(target)
        | CType::Atomic(target) => member_at(program, *target, offset),
        CType::Array { element, .. } => {
            let size = record_of(program, *element).map(|id| program.records[id].size)?;
            member_at(program, *element, offset.checked_rem(size)?)
        }
        CType::Record(id) => {
            let members = &program.records[*id].members;
            let index = members.iter().position(|member| {
                let start = member.offset_bits / 8;
                (start..start + member.size_bits.div_ceil(8)).contains(&offset)
            })?;
            let member = &members[index];
            if member.is_bit_field {
                return None;
            }
            let inner = member_at(program, member.ctype, offset - member.offset_bits / 8);
            Some(inner.unwrap_or((*id, index as u32)))
        }
        _ => None,
    }
}

/// The record a type is, under its names and qualifiers.
pub fn record_of(program: &Program, ctype: TypeId) -> Option<RecordId> {
    match &program.types[ctype] {
        CType::Record(id) => Some(*id),
        CType::Typedef { target, .. }
        | CType::Const(target)
        | CType::Volatile(target)
        | CType::Restrict(target)
        | CType::Atomic(target) => record_of(program, *target),
        _ => None,
    }
}

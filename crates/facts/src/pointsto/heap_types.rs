//! What type untyped memory has: `malloc` and `void *` do not say, but the variable the
//! pointer is assigned to does, or the members that are accessed through it.

use program::{Body, CType, FunctionId, InstId, Op, Operand, PathStep, Program, Ty, TypeId};
use rustc_hash::FxHashMap;

use super::layout::Types;
use crate::users::Users;

/// The types of what calls return and parameters point to, where use tells.
#[derive(Default)]
pub(super) struct Inferred {
    pub calls: FxHashMap<(FunctionId, InstId), TypeId>,
    pub params: FxHashMap<(FunctionId, u32), TypeId>,
}

pub(super) fn infer(program: &Program, types: &Types, users: &[Users]) -> Inferred {
    let mut type_of_record = FxHashMap::default();
    for (id, ctype) in program.types.iter_enumerated() {
        if let CType::Record(record) = ctype {
            type_of_record.entry(*record).or_insert(id);
        }
    }
    let mut found = Inferred::default();
    for (function, called) in program.functions.iter_enumerated() {
        let Some(body) = &called.body else { continue };
        let users = &users[function.0 as usize];
        let used_as = |value: Operand| {
            let mut seen = 0;
            from_uses(types, body, users, value, &type_of_record, &mut seen)
        };
        for (id, inst) in body.insts.iter_enumerated() {
            if inst.ty == Ty::Ptr
                && matches!(inst.op, Op::Call(_))
                && let Some(ty) =
                    larger(types, pointee(types, inst.ctype), used_as(Operand::Inst(id)))
            {
                found.calls.insert((function, id), ty);
            }
        }
        for (index, param) in called.params.iter().enumerate() {
            let declared = pointee(types, param.ctype);
            let used = used_as(Operand::Param(index as u32));
            if param.ty == Ty::Ptr
                && let Some(ty) = larger(types, declared, used)
            {
                found.params.insert((function, index as u32), ty);
            }
        }
    }
    found
}

/// Of two views of the same memory, the one that describes more of it: a cast to a larger
/// record means that the smaller one is its beginning.
fn larger(types: &Types, a: Option<TypeId>, b: Option<TypeId>) -> Option<TypeId> {
    match (a, b) {
        (Some(a), Some(b)) if types.size(b) > types.size(a) => Some(b),
        (None, b) => b,
        (a, _) => a,
    }
}

/// How many uses are looked at before giving up.
const MAX_USES: u32 = 64;

fn from_uses(
    types: &Types,
    body: &Body,
    users: &Users,
    value: Operand,
    type_of_record: &FxHashMap<program::RecordId, TypeId>,
    seen: &mut u32,
) -> Option<TypeId> {
    let mut found = None;
    for &user in users.of(value) {
        *seen += 1;
        if *seen > MAX_USES {
            break;
        }
        let is_value = |operand: Operand| operand == value;
        let inst = &body.insts[user];
        let ty = match &inst.op {
            Op::Bind { variable, .. } => {
                body.variables.get(*variable).and_then(|v| pointee(types, v.ctype))
            }
            Op::Store { access, value } if is_value(*value) => pointee(types, access.ctype),
            Op::Address(address) if is_value(address.base) => match address.path.first() {
                Some(PathStep::Field { record, .. }) => type_of_record.get(record).copied(),
                _ => None,
            },
            Op::Phi(_) | Op::Convert(_) if is_later(user, value) && inst.ty == Ty::Ptr => {
                from_uses(types, body, users, Operand::Inst(user), type_of_record, seen)
            }
            _ => None,
        };
        found = larger(types, found, ty);
    }
    found
}

fn is_later(user: InstId, value: Operand) -> bool {
    !matches!(value, Operand::Inst(inst) if user <= inst)
}

/// The pointee of a pointer type, unless it says nothing (`void`).
fn pointee(types: &Types, ty: TypeId) -> Option<TypeId> {
    let target = types.plain(types.pointee(ty)?);
    (types.size(target) > 0).then_some(target)
}

//! What type allocated memory has: `malloc` does not say, but the variable its result is
//! assigned to does, or the members that are accessed through it.

use program::{Body, CType, FunctionId, InstId, Op, Operand, PathStep, Program, Ty, TypeId};
use rustc_hash::FxHashMap;

use super::layout::Types;
use crate::users::Users;

/// The element type of what each call that returns a pointer may have allocated.
pub(super) fn infer(
    program: &Program,
    types: &Types,
    users: &[Users],
) -> FxHashMap<(FunctionId, InstId), TypeId> {
    let mut type_of_record = FxHashMap::default();
    for (id, ctype) in program.types.iter_enumerated() {
        if let CType::Record(record) = ctype {
            type_of_record.entry(*record).or_insert(id);
        }
    }
    let mut found = FxHashMap::default();
    for (function, called) in program.functions.iter_enumerated() {
        let Some(body) = &called.body else { continue };
        for (id, inst) in body.insts.iter_enumerated() {
            if inst.ty != Ty::Ptr || !matches!(inst.op, Op::Call(_)) {
                continue;
            }
            let users = &users[function.0 as usize];
            let ty = pointee(types, inst.ctype).or_else(|| {
                let mut seen = 0;
                from_uses(types, body, users, id, &type_of_record, &mut seen)
            });
            if let Some(ty) = ty {
                found.insert((function, id), ty);
            }
        }
    }
    found
}

/// How many uses are looked at before giving up.
const MAX_USES: u32 = 64;

fn from_uses(
    types: &Types,
    body: &Body,
    users: &Users,
    value: InstId,
    type_of_record: &FxHashMap<program::RecordId, TypeId>,
    seen: &mut u32,
) -> Option<TypeId> {
    for &user in users.of_inst(value) {
        *seen += 1;
        if *seen > MAX_USES {
            return None;
        }
        let is_value = |operand: Operand| operand == Operand::Inst(value);
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
            Op::Phi(_) | Op::Convert(_) if user > value && inst.ty == Ty::Ptr => {
                from_uses(types, body, users, user, type_of_record, seen)
            }
            _ => None,
        };
        if ty.is_some() {
            return ty;
        }
    }
    None
}

/// The pointee of a pointer type, unless it says nothing (`void`).
fn pointee(types: &Types, ty: TypeId) -> Option<TypeId> {
    let target = types.plain(types.pointee(ty)?);
    (types.size(target) > 0).then_some(target)
}

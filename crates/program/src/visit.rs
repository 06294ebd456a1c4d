//! Visits every operand an instruction reads, whatever the operation.

use crate::{Address, Callee, Op, Operand};

impl Op {
    /// Calls `visit` for each operand, in the order the operation lists them.
    pub fn for_each_operand(&self, mut visit: impl FnMut(Operand)) {
        match self {
            Op::Alloca { count, .. } => count.iter().for_each(|count| visit(*count)),
            Op::Uninit { .. } | Op::Fence => {}
            Op::UninitMemory { ptr, .. } => visit(*ptr),
            Op::Load(access) => visit(access.ptr),
            Op::Store { access, value } | Op::AtomicUpdate { access, value, .. } => {
                visit(access.ptr);
                visit(*value);
            }
            Op::Address(address) => {
                visit(address.base);
                address.terms.iter().for_each(|term| visit(term.index));
            }
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                visit(*lhs);
                visit(*rhs);
            }
            Op::Negate(value) | Op::Bind { value, .. } => visit(*value),
            Op::Convert(conversion) => visit(conversion.value),
            Op::Select { condition, then, otherwise } => {
                visit(*condition);
                visit(*then);
                visit(*otherwise);
            }
            Op::Phi(edges) => edges.iter().for_each(|(_, value)| visit(*value)),
            Op::Call(call) => {
                if let Callee::Pointer(pointer) = call.callee {
                    visit(pointer);
                }
                call.args.iter().for_each(|arg| visit(*arg));
            }
            Op::MemCopy { to, from: second, size, .. }
            | Op::MemSet { to, byte: second, size, .. } => {
                visit(*to);
                visit(*second);
                visit(*size);
            }
            Op::CompareExchange { access, expected, new } => {
                visit(access.ptr);
                visit(*expected);
                visit(*new);
            }
            Op::Extract { aggregate, .. } => visit(*aggregate),
            Op::Insert { aggregate, element, .. } => {
                visit(*aggregate);
                visit(*element);
            }
            Op::Asm { args, .. } | Op::Opaque { args, .. } => {
                args.iter().for_each(|arg| visit(*arg));
            }
        }
    }

    /// As [`for_each_operand`](Self::for_each_operand), for changing the operands.
    pub fn for_each_operand_mut(&mut self, mut visit: impl FnMut(&mut Operand)) {
        match self {
            Op::Alloca { count, .. } => count.iter_mut().for_each(visit),
            Op::Uninit { .. } | Op::Fence => {}
            Op::UninitMemory { ptr, .. } => visit(ptr),
            Op::Load(access) => visit(&mut access.ptr),
            Op::Store { access, value } | Op::AtomicUpdate { access, value, .. } => {
                visit(&mut access.ptr);
                visit(value);
            }
            Op::Address(address) => {
                let Address { base, terms, .. } = &mut **address;
                visit(base);
                terms.iter_mut().for_each(|term| visit(&mut term.index));
            }
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                visit(lhs);
                visit(rhs);
            }
            Op::Negate(value) | Op::Bind { value, .. } => visit(value),
            Op::Convert(conversion) => visit(&mut conversion.value),
            Op::Select { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
            Op::Phi(edges) => edges.iter_mut().for_each(|(_, value)| visit(value)),
            Op::Call(call) => {
                if let Callee::Pointer(pointer) = &mut call.callee {
                    visit(pointer);
                }
                call.args.iter_mut().for_each(visit);
            }
            Op::MemCopy { to, from: second, size, .. }
            | Op::MemSet { to, byte: second, size, .. } => {
                visit(to);
                visit(second);
                visit(size);
            }
            Op::CompareExchange { access, expected, new } => {
                visit(&mut access.ptr);
                visit(expected);
                visit(new);
            }
            Op::Extract { aggregate, .. } => visit(aggregate),
            Op::Insert { aggregate, element, .. } => {
                visit(aggregate);
                visit(element);
            }
            Op::Asm { args, .. } | Op::Opaque { args, .. } => args.iter_mut().for_each(visit),
        }
    }
}

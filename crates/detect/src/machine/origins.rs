//! Where what a loop computes comes from: out of values that are known, or from elsewhere.

use program::{InstId, Op, Operand};

use super::context::Context;
use super::exec::Exec;
use super::loops::{Entry, Roots};
use super::memory::{Content, Data, Object};
use super::symbols::SymbolKind;
use super::value::Value;

/// Operations looked at before a value counts as unknown.
const MAX_SEEN: usize = 48;

impl Entry<'_> {
    /// What kind of unknown a value is that the loop computes: [`SymbolKind::Lost`] where
    /// everything it is computed from is known.
    pub(super) fn kind_of(&self, exec: &mut Exec, operand: Operand) -> SymbolKind {
        let (mut seen, mut waiting) = (Vec::new(), vec![operand]);
        while let Some(operand) = waiting.pop() {
            if !self.is_known(exec, operand, &mut seen, &mut waiting) {
                return SymbolKind::Unknown;
            }
        }
        SymbolKind::Lost
    }

    /// Whether an operand is known if those it adds to `waiting` are.
    fn is_known(
        &self,
        exec: &mut Exec,
        operand: Operand,
        seen: &mut Vec<InstId>,
        waiting: &mut Vec<Operand>,
    ) -> bool {
        let Operand::Inst(id) = operand else { return is_known_value(exec, operand) };
        let inst = &self.body.insts[id];
        if !self.cfg.loops.contains(self.id, inst.block) {
            return is_known_value(exec, operand);
        }
        if seen.contains(&id) {
            return true;
        }
        seen.push(id);
        if seen.len() > MAX_SEEN {
            return false;
        }
        match &inst.op {
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                waiting.extend([*lhs, *rhs]);
                true
            }
            Op::Convert(conversion) => {
                waiting.push(conversion.value);
                true
            }
            Op::Select { condition, then, otherwise } => {
                waiting.extend([*condition, *then, *otherwise]);
                true
            }
            Op::Phi(operands) => {
                let from_here = |from| from == self.from || self.cfg.loops.contains(self.id, from);
                let operands = operands.iter().filter(|(from, _)| from_here(*from));
                waiting.extend(operands.map(|(_, operand)| *operand));
                true
            }
            Op::Uninit { .. } => true,
            Op::Load(access) => {
                let mut roots = Roots::default();
                self.add_roots(exec, access.ptr, &mut roots);
                !roots.is_open
                    && roots.found.iter().all(|value| match value {
                        Value::Pointer { object, .. } => {
                            let object = exec.state.memory.snapshot(*object);
                            is_known_object(exec.context, &object, 0)
                        }
                        _ => false,
                    })
            }
            _ => false,
        }
    }
}

fn is_known_value(exec: &mut Exec, operand: Operand) -> bool {
    let value = exec.operand(operand);
    is_known(exec.context, value)
}

fn is_known(context: &mut Context, value: Value) -> bool {
    match value {
        Value::Int(term) => {
            let zero = context.constant(0);
            let formula = context.terms.compare(logic::Comparison::Eq, term, zero);
            let symbols = context.symbols_in(formula);
            symbols.iter().all(|symbol| {
                let kind = context.symbols.get(*symbol).kind;
                kind == SymbolKind::Lost || !kind.is_unknown()
            })
        }
        Value::Bool(formula) => {
            let symbols = context.symbols_in(formula);
            symbols.iter().all(|symbol| !context.symbols.get(*symbol).kind.is_unknown())
        }
        Value::Uninit(_) | Value::Function(_) => true,
        Value::Pointer { .. } | Value::Float(_) | Value::Unknown => false,
    }
}

/// Whether everything in an object is what the path put there.
pub(super) fn is_known_object(context: &mut Context, object: &Object, depth: u32) -> bool {
    const MAX_WRITES: usize = 32;
    for (n, write) in object.writes().enumerate() {
        let is_known = match &write.data {
            _ if n == MAX_WRITES || depth == 4 => false,
            Data::Value(value) | Data::Fill { unit: value, .. } => is_known(context, *value),
            Data::Copy { from, .. } => is_known_object(context, from, depth + 1),
            Data::Lost | Data::Uninit => true,
            _ => false,
        };
        if !is_known {
            return false;
        }
        let is_whole =
            context.terms.as_constant(write.offset) == Some(0) && Some(write.len) == object.size;
        if is_whole {
            return true;
        }
    }
    matches!(object.content, Content::Uninit(_) | Content::Zero | Content::Initializer(_))
}

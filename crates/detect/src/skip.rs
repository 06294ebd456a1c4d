//! Calls that are stepped over: what they may have written is forgotten, and what they may
//! have kept is no longer the path's own.

use program::{Call, Callee, InstId, Linkage, LocId, Ty};

use crate::effects::Extent;
use crate::machine::access::global_object;
use crate::machine::exec::Exec;
use crate::machine::memory::{Object, ObjectKind};
use crate::machine::trail::What;
use crate::machine::{State, SymbolKind, Value};
use crate::search::Search;

impl<'p> Search<'_, 'p> {
    /// A call nobody follows or describes: its result is unknown, and so is what it could
    /// have written.
    pub(crate) fn skip_call(&mut self, state: &mut State, id: InstId, call: &'p Call) {
        let inst = &self.body(state.top().function).insts[id];
        let callees = self.code.members().callees(self.body(state.top().function), &call.callee);
        let (effect, is_own) = (self.code.call_effect(call), self.is_own_call(call));
        let mut exec = Exec { context: &mut self.context, state };
        let args: Vec<Value> = call.args.iter().map(|arg| exec.operand(*arg)).collect();
        for (index, value) in args.iter().enumerate() {
            // Functions of the program itself may know better than their declaration says.
            let is_const = !is_own
                && call.arg_ctypes.get(index).is_some_and(|ty| self.code.points_to_const(*ty));
            if effect.anything {
                exec.forget_held_pointees(*value, inst.loc);
            }
            match effect.args.get(&index) {
                Some(Extent::Pieces(pieces)) if !effect.anything => {
                    exec.forget_pieces(*value, pieces, inst.loc);
                }
                Some(_) => exec.forget_argument(call, index, callees, *value, inst.loc),
                None if effect.anything && !is_const => {
                    exec.forget_argument(call, index, callees, *value, inst.loc);
                }
                None => {}
            }
            let caller = exec.state.top().function;
            let fate = self.code.fate(caller, call, index);
            if fate.kept || fate.released || fate.returned {
                let resource = exec.state.resource(exec.context, *value);
                exec.escape(resource);
            }
        }
        for global in &effect.globals {
            if let Some(object) = exec.state.memory.global(*global) {
                exec.forget_object(object, inst.loc);
            } else {
                let object = global_object(exec.context, &mut exec.state.memory, *global);
                exec.forget_object(object, inst.loc);
            }
        }
        if effect.anything {
            self.forget_escaped(state, inst.loc);
        }
        let mut exec = Exec { context: &mut self.context, state };
        let name = self.code.callee_name(call).map(|name| format!("{name}()"));
        let result = exec.made_up(
            inst.ty,
            inst.ctype,
            inst.loc,
            SymbolKind::Unknown,
            &name.unwrap_or_default(),
        );
        if is_own {
            exec.mark_outside(result);
            exec.note_answer(result, &args);
        }
        exec.note(What::Skipped { result }, inst.loc);
        if inst.ty != Ty::Void {
            state.top_mut().set(id, result);
        }
    }
}

impl Search<'_, '_> {
    /// Whether a call leads to code of the program, or may.
    fn is_own_call(&self, call: &Call) -> bool {
        match call.callee {
            Callee::Function(function) => self.code.program.functions[function].body.is_some(),
            Callee::Pointer(_) => true,
            Callee::Intrinsic(_) => false,
        }
    }

    /// Code that cannot be followed may have written whatever it could reach.
    fn forget_escaped(&mut self, state: &mut State, loc: LocId) {
        let reachable = |object: &Object| match object.kind {
            ObjectKind::Pointee => false,
            ObjectKind::Global(global) => {
                self.code.program.globals[global].linkage != Linkage::Internal
            }
            _ => object.escaped,
        };
        let reached: Vec<_> =
            state.memory.ids().filter(|id| reachable(state.memory.get(*id))).collect();
        let mut exec = Exec { context: &mut self.context, state };
        for object in reached {
            exec.forget_object(object, loc);
        }
    }
}

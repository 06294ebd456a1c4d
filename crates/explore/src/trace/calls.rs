//! What calls say: what they pass, what they give, and whose life they end.

use interpret::TouchKind;
use program::{Body, Callee, InstId, Op, Operand};

use super::notes::Notes;
use super::values::shown;
use super::words::outer_name;
use crate::objects::touches;
use crate::slice::Slice;

/// How far behind a call its result is assigned.
const MAX_BEHIND: usize = 6;

impl Notes<'_> {
    /// What a call passes, as far as the property depends on it: `sum(a, 10): n is 10`.
    pub fn passed(&self, slice: &Slice, (frame, call): (u32, usize)) -> Option<String> {
        let parameters = slice.passed.get(&frame)?;
        let (step, _) = self.step(call);
        let body = self.values.program.functions[step.function].body.as_ref()?;
        let inst = step.at.inst()?;
        let Op::Call(call_op) = &body.insts[inst].op else { return None };
        let called = self.values.record.steps.iter().find(|step| step.frame == frame)?.function;
        let callee = &self.values.program.functions[called];
        let variables = &callee.body.as_ref()?.variables;
        let mut told = Vec::new();
        for index in parameters {
            let Some(argument) = call_op.args.get(*index as usize) else { continue };
            let variable = callee.params.get(*index as usize).and_then(|param| param.variable);
            let place = variable.map(|variable| &variables[variable]);
            let Some(place) = place.filter(|place| !place.name.is_empty()) else { continue };
            let known = self.known(call, *argument, place.ctype);
            let known = known.filter(|known| known != "not null");
            told.extend(known.map(|known| format!("{} is {known}", place.name)));
        }
        let text = self.call_text(call, inst, &callee.name);
        let text = text.unwrap_or_else(|| format!("{}()", callee.name));
        (!told.is_empty()).then(|| format!("{text}: {}", told.join(", ")))
    }

    /// The end of a life: `free(p) ends the life of the 4 bytes allocated in line 5`.
    pub fn ended(&self, index: usize, body: &Body) -> Option<String> {
        let (step, _) = self.step(index);
        let inst = step.at.inst()?;
        let Op::Call(call) = &body.insts[inst].op else { return None };
        let callee = match &call.callee {
            Callee::Function(id) => outer_name(&self.values.program.functions[*id].name),
            _ => "a function".to_owned(),
        };
        let text = self.call_text(index, inst, &callee).unwrap_or_else(|| format!("{callee}()"));
        let record = self.values.record;
        let ended = touches(record, step).iter().rev().filter(|t| t.kind == TouchKind::End);
        let names = ended.filter_map(|touch| self.objects.name(self.objects.meant(touch.address)?));
        let names: Vec<String> = names.collect();
        match names.first() {
            Some(name) if names.len() == 1 => Some(format!("{text} ends the life of {name}")),
            Some(_) => Some(format!("{text} returns, which ends the life of its variables")),
            None => Some(format!("calls {text}")),
        }
    }

    pub fn call(&self, index: usize, body: &Body, inst: InstId, callee: &str) -> Option<String> {
        let (step, _) = self.step(index);
        // How the C library knows a digit.
        if callee.starts_with("__ctype_") || self.is_assigned(index, body, inst) {
            return None;
        }
        let text = self.call_text(index, inst, callee)?;
        let ctype = body.insts[inst].ctype;
        let result = step.value.and_then(|value| shown(self.values.program, ctype, value));
        Some(match result {
            // What copies gives where it copied to, which says nothing.
            Some(result) if result == "not null" && copies(callee) => format!("calls {text}"),
            Some(result) if result == "not null" => format!("{text} is not null"),
            Some(result) => format!("{text} gives {result}"),
            None => format!("calls {text}"),
        })
    }

    fn call_text(&self, index: usize, inst: InstId, callee: &str) -> Option<String> {
        let (_, loc) = self.step(index);
        let renderer = self.renderer(index);
        let rendered = match renderer.variable_of(Operand::Inst(inst)) {
            // By its name it would be told as the variable.
            Some(_) => format!("{callee}(...)"),
            None => renderer.expr(Operand::Inst(inst)),
        };
        self.preferred(loc, rendered, self.texts.call(self.values.program, loc))
    }

    /// A step soon after tells what the result is assigned to.
    fn is_assigned(&self, index: usize, body: &Body, inst: InstId) -> bool {
        let frame = self.values.record.steps[index].frame;
        let behind = index + 1..self.values.record.steps.len().min(index + 1 + MAX_BEHIND);
        behind.filter(|later| self.kept.contains(later)).any(|later| {
            let step = &self.values.record.steps[later];
            // Other calls may be of other functions.
            let own = step.at.inst().filter(|_| step.frame == frame);
            let bound = own.map(|inst| &body.insts[inst].op);
            matches!(bound, Some(Op::Bind { value: Operand::Inst(bound), .. }) if *bound == inst)
        })
    }
}

fn copies(callee: &str) -> bool {
    let name = outer_name(callee);
    ["cpy", "cat", "memmove", "memset"].iter().any(|part| name.contains(part))
}

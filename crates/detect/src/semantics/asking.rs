//! Queries and models of specifications, evaluated on a path.

use std::collections::BTreeSet;

use logic::{FormulaId, TermId, Terms};
use program::{
    BlockId, Body, Call, Const, FunctionId, InstId, LocId, Op, Operand, Terminator, VarId,
};
use spec::ast::{Arg, Command, Condition, EventArg, ExprKind, Piece, Template};
use spec::lower::{Argument, Bindings, Lowering, UNDEF};
use spec::matcher::library_name;
use spec::rules::Contributing;

use crate::code::Code;
use crate::describe;
use crate::machine::addresses;
use crate::machine::exec::Exec;
use crate::machine::memory::{Content, ObjectId, ObjectKind};
use crate::machine::trail::What;
use crate::machine::{Context, State, Value};
use crate::observer::{Corrupted, Required, Semantics};
use crate::ownership::{Contents, Role};
use crate::query::{At, FaultKey, Query};
use crate::semantics::apply::Applying;
use crate::semantics::builtin;
use crate::semantics::compiled::{Asked, Compiled, Contribution, How};
use crate::semantics::lowered::Lowered;

/// Where a block ends no instruction has a result.
const NO_INST: InstId = InstId(u32::MAX);

/// The specifications at work on one program.
pub struct Specified<'a, 'p> {
    pub code: &'a Code<'p>,
    pub compiled: &'a Compiled<'a>,
    /// Functions that may change the state of an object: release, close, lock.
    stateful: BTreeSet<FunctionId>,
}

impl<'a, 'p> Specified<'a, 'p> {
    pub fn new(code: &'a Code<'p>, compiled: &'a Compiled<'a>) -> Self {
        let assigns_state = |contribution: &Contribution| {
            assigns(compiled.contributing(contribution), &["State", "Held"])
        };
        let at_insts = compiled.contributions.iter().map(|((function, _), all)| (function, all));
        let at_ends = compiled.at_ends.iter().map(|((function, _), all)| (function, all));
        let mut stateful: BTreeSet<FunctionId> = at_insts
            .chain(at_ends)
            .filter(|(_, contributions)| contributions.iter().any(assigns_state))
            .map(|(function, _)| *function)
            .collect();
        let mut waiting: Vec<FunctionId> = stateful.iter().copied().collect();
        while let Some(function) = waiting.pop() {
            for caller in code.callers(function) {
                if stateful.insert(*caller) {
                    waiting.push(*caller);
                }
            }
        }
        Self { code, compiled, stateful }
    }
}

impl<'p> Specified<'_, 'p> {
    pub fn lowered<'c>(
        &'c self,
        context: &'c mut Context<'p>,
        state: &'c mut State,
        loc: LocId,
    ) -> Lowered<'c, 'p> {
        Lowered {
            code: self.code,
            context,
            state,
            loc,
            inst: None,
            speaks_of_memory: true,
            objects: Vec::new(),
        }
    }

    pub fn asked(&self, query: &Query) -> &Asked {
        &self.compiled.asked[query.point as usize]
    }

    fn condition(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        bindings: &Bindings,
        condition: &Condition,
        query: &Query,
        memory: bool,
    ) -> Result<(FormulaId, Vec<ObjectId>), (String, Vec<ObjectId>)> {
        let inst = match query.at {
            At::Inst(inst) => Some(inst),
            At::End(_) | At::Exit => None,
        };
        let mut lowered = self.lowered(context, state, query.loc(self.code.program));
        lowered.speaks_of_memory = memory;
        lowered.inst = inst;
        match Lowering::new(bindings, &mut lowered).condition(condition) {
            Ok(formula) => Ok((formula, lowered.objects)),
            Err(why) => Err((why.to_string(), lowered.objects)),
        }
    }

    fn require_bound(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        bindings: &Bindings,
    ) -> Required {
        let observed = self.compiled.observed(query);
        // A model's event is about memory; a use in the code about the value itself.
        let memory = observed.via.is_some();
        let mut premise = Terms::TRUE;
        if let Some(condition) = &observed.condition
            && !is_operand_match(condition)
        {
            // A condition about something this place does not have does not hold.
            premise = self
                .condition(context, state, bindings, condition, query, memory)
                .map_or(Terms::FALSE, |(holds, _)| holds);
            if premise == Terms::FALSE {
                return Required::Holds(Terms::TRUE, Vec::new());
            }
        }
        match self.condition(context, state, bindings, &observed.require, query, memory) {
            Ok((required, objects)) => {
                Required::Holds(context.terms.implies(premise, required), objects)
            }
            Err((why, objects)) => Required::Unknown(why, objects),
        }
    }

    fn text(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        bindings: &Bindings,
        template: &Template,
    ) -> String {
        let mut text = String::new();
        let loc = query.loc(self.code.program);
        for piece in &template.pieces {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Var(var) => {
                    let named = bindings.get(*var).and_then(|a| self.name(context, state, a));
                    text.push_str(named.as_deref().unwrap_or("it"));
                }
                Piece::Expr(expr) => {
                    let mut lowered = self.lowered(context, state, loc);
                    if let At::Inst(inst) = query.at {
                        lowered.inst = Some(inst);
                    }
                    let term = Lowering::new(bindings, &mut lowered).expr(expr).ok();
                    let term = term.filter(|t| context.terms.as_constant(*t) != Some(UNDEF));
                    text.push_str(&match term.map(|term| (term, describe::term(context, term))) {
                        Some((_, Some(words))) => words,
                        Some((term, None)) => describe::amount(context, &state.path, term),
                        None => "an unknown number of".to_owned(),
                    });
                }
            }
        }
        text
    }

    /// A variable of a specification as the source spells it.
    fn name(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        argument: &Argument,
    ) -> Option<String> {
        let function = state.top().function;
        let body = self.code.program.functions[function].body.as_ref()?;
        if let Argument::Operand(operand) = argument {
            let name = crate::machine::exec::describe_value(context, body, function, *operand, 0);
            if !name.is_empty() {
                return Some(name);
            }
            // An address is null only by its base.
            let base = match operand {
                Operand::Inst(inst) => match &body.insts[*inst].op {
                    Op::Address(address) => address.base,
                    _ => *operand,
                },
                _ => *operand,
            };
            if let Some(variable) = self.last_null(state, body, base) {
                return Some(body.variables[variable].name.to_string());
            }
        }
        let mut lowered = self.lowered(context, state, LocId::UNKNOWN);
        match lowered.value(argument)? {
            Value::Pointer { object, .. } => {
                let name = describe::object(self.code.program, state, object);
                (!name.is_empty() && name != "*").then_some(name)
            }
            value => describe::value(context, value),
        }
    }

    /// The pointer that was set to null last, where a null stands in its place.
    fn last_null(&self, state: &State, body: &Body, operand: Operand) -> Option<VarId> {
        let Operand::Const(constant) = operand else { return None };
        let is_null = matches!(self.code.program.constants[constant], Const::Null);
        let here = (state.top().function, state.depth());
        let mut events = state.trail.iter().filter(|event| (event.function, event.depth) == here);
        events.find_map(|event| match event.what {
            What::Bound { at, variable, .. } if is_null => match body.insts[at].op {
                Op::Bind { value, .. } if value == operand => Some(variable),
                _ => None,
            },
            _ => None,
        })
    }

    fn apply_at(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        is_call: bool,
        forks: &mut Vec<State>,
    ) -> bool {
        let function = state.top().function;
        let Some(contributions) = self.compiled.contributions.get((function, inst)) else {
            return false;
        };
        let Some(body) = &self.code.program.functions[function].body else { return false };
        if let Op::Call(call) = &body.insts[inst].op
            && let Some(name) = self.code.callee_name(call)
            && builtin::run(context, state, library_name(name).name, call, inst)
        {
            return true;
        }
        let (loc, ty) = (body.insts[inst].loc, body.insts[inst].ty);
        if is_call {
            let makes_object = contributions.iter().any(|c| self.makes_object(c, inst));
            Applying {
                code: self.code,
                rules: self.compiled.rules,
                context,
                inst,
                loc,
                extents: Vec::new(),
            }
            .prepare_result(state, ty, makes_object);
        }
        let mut states = vec![state.clone()];
        for contribution in contributions {
            states = self.apply_one(context, states, contribution, inst, loc);
        }
        let role = self.compiled.roles.get(&(function, inst)).copied();
        if let (true, Op::Call(call)) = (is_call, &body.insts[inst].op) {
            for state in &mut states {
                self.keep_arguments(context, state, call, role);
                role.into_iter().for_each(|role| self.apply_role(context, state, role, inst));
            }
        }
        let mut states = states.into_iter();
        match states.next() {
            Some(first) => *state = first,
            None => state.path.is_dead = true,
        }
        forks.extend(states);
        true
    }

    /// What a function holds on to has another owner from now on.
    fn keep_arguments(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        call: &Call,
        role: Option<Role>,
    ) {
        let function = state.top().function;
        let ours = match role {
            Some(Role::Releases { pointer } | Role::Reallocates { pointer, .. }) => Some(pointer),
            _ => None,
        };
        for (index, arg) in call.args.iter().enumerate() {
            let is_kept = match role {
                Some(_) if ours == Some(index) => false,
                Some(_) => {
                    let fate = self.code.fate(function, call, index);
                    fate.kept || fate.released || fate.returned
                }
                None => self.code.is_kept_outside(call, index),
            };
            if is_kept {
                let mut exec = Exec { context, state };
                let value = exec.operand(*arg);
                let resource = exec.state.resource(exec.context, value);
                exec.escape(resource);
            }
        }
    }

    /// What a model cannot say of a function of the program.
    fn apply_role(&self, context: &mut Context<'p>, state: &mut State, role: Role, inst: InstId) {
        let Some(body) = &self.code.program.functions[state.top().function].body else { return };
        let Op::Call(call) = &body.insts[inst].op else { return };
        match role {
            Role::Allocates { contents, .. } => {
                let content = match contents {
                    Contents::Unset => return,
                    Contents::Zero => Content::Zero,
                    Contents::Set => Content::Made,
                };
                if let Value::Pointer { object, .. } = state.top().value(inst) {
                    state.memory.get_mut(object).forget(content, body.insts[inst].loc);
                }
            }
            // A destructor releases what the object owns, too, and its locks are gone with it.
            Role::Releases { pointer } => {
                if let Some(pointer) = call.args.get(pointer) {
                    let mut exec = Exec { context, state };
                    let value = exec.operand(*pointer);
                    exec.escape(value);
                    for place in places_in(context, state, value) {
                        state.memory.get_mut(place).attributes.remove("Held");
                    }
                }
            }
            _ => {}
        }
    }

    fn apply_one(
        &self,
        context: &mut Context<'p>,
        states: Vec<State>,
        contribution: &Contribution,
        inst: InstId,
        loc: LocId,
    ) -> Vec<State> {
        let contribute = self.compiled.contributing(contribution);
        let mut after = Vec::new();
        for mut state in states {
            let mut lowered = self.lowered(context, &mut state, loc);
            let mut lowering = Lowering::new(&contribution.bindings, &mut lowered);
            let condition = match &contribute.condition {
                Some(condition) => lowering.condition(condition),
                None => Ok(Terms::TRUE),
            };
            let effects = lowering.commands(&contribute.commands);
            let mut extents = Vec::new();
            written_extents(&mut lowering, &contribute.commands, &mut extents);
            match (condition, effects) {
                (Ok(Terms::TRUE), Ok(effects)) => {
                    let mut applying = Applying {
                        code: self.code,
                        rules: self.compiled.rules,
                        context,
                        inst,
                        loc,
                        extents,
                    };
                    after.extend(applying.apply(state, &effects));
                }
                (Ok(condition), Ok(effects)) => {
                    let when = spec::lower::Effect::When {
                        condition,
                        then: effects,
                        otherwise: Vec::new(),
                    };
                    let mut applying = Applying {
                        code: self.code,
                        rules: self.compiled.rules,
                        context,
                        inst,
                        loc,
                        extents,
                    };
                    after.extend(applying.apply(state, &[when]));
                }
                _ => after.push(state),
            }
        }
        after
    }

    /// Whether a function changes states both ways. One that only takes a lock is there to
    /// take it.
    fn pairs(&self, function: FunctionId) -> bool {
        let Some(body) = &self.code.program.functions[function].body else { return false };
        let mut callees = BTreeSet::new();
        for (id, inst) in body.insts.iter_enumerated() {
            if let Op::Call(call) = &inst.op
                && let Some(contributions) = self.compiled.contributions.get((function, id))
                && contributions
                    .iter()
                    .any(|c| assigns(self.compiled.contributing(c), &["State", "Held"]))
            {
                callees.extend(self.code.callee_name(call));
            }
        }
        callees.len() > 1
    }

    /// Whether a model gives the result of a call a size or a state: then it is a new object.
    fn makes_object(&self, contribution: &Contribution, inst: InstId) -> bool {
        let is_result = |arg: &Arg| match arg {
            Arg::Var(var) => matches!(contribution.bindings.get(*var),
                Some(Argument::Operand(Operand::Inst(result))) if *result == inst),
            _ => false,
        };
        let commands = &self.compiled.contributing(contribution).commands;
        any_command(commands, &|command| match command {
            Command::Assign { target, .. } => match &target.kind {
                ExprKind::Attr { attribute, args } => {
                    matches!(attribute.name(), "Size" | "State" | "Held" | "Init")
                        && args.first().is_some_and(is_result)
                }
                _ => false,
            },
            _ => false,
        })
    }
}

/// Whether a contribution gives one of these attributes a value.
pub fn assigns(contributing: &Contributing, attributes: &[&str]) -> bool {
    any_command(&contributing.commands, &|command| match command {
        Command::Assign { target, .. } => matches!(&target.kind,
            ExprKind::Attr { attribute, .. } if attributes.contains(&attribute.name())),
        _ => false,
    })
}

/// Whether some command, however deep, passes the test.
pub fn any_command(commands: &[Command], test: &dyn Fn(&Command) -> bool) -> bool {
    commands.iter().any(|command| {
        test(command)
            || match command {
                Command::When { then, otherwise, .. } | Command::May { first: then, otherwise } => {
                    any_command(then, test) || any_command(otherwise, test)
                }
                Command::Either(all) => all.iter().any(|some| any_command(some, test)),
                _ => false,
            }
    })
}

/// How many bytes a model says it writes through which pointer.
/// The places inside what a pointer leads to that have attributes of their own.
fn places_in(context: &mut Context, state: &State, value: Value) -> Vec<ObjectId> {
    let Some((owner, _)) = value.as_pointer() else { return Vec::new() };
    let is_inside = |place: &ObjectId| match state.memory.get(*place).kind {
        ObjectKind::Handle(address) => addresses::from_term(context, &state.memory, address)
            .as_pointer()
            .is_some_and(|(object, _)| object == owner),
        _ => false,
    };
    state.memory.ids().filter(is_inside).collect()
}

fn written_extents(
    lowering: &mut Lowering,
    commands: &[Command],
    found: &mut Vec<(Argument, TermId)>,
) {
    for command in commands {
        match command {
            Command::Event { name, args, .. } if name == "write" => {
                if let [EventArg::Var(pointer, _), EventArg::Expr(bytes)] = args.as_slice()
                    && let Some(pointer) = lowering.bindings.get(*pointer).cloned()
                    && let Ok(bytes) = lowering.expr(bytes)
                {
                    found.push((pointer, bytes));
                }
            }
            Command::When { then, otherwise, .. } | Command::May { first: then, otherwise } => {
                written_extents(lowering, then, found);
                written_extents(lowering, otherwise, found);
            }
            _ => {}
        }
    }
}

/// The values an argument is made of.
fn operands_of(argument: &Argument) -> Vec<Operand> {
    match argument {
        Argument::Operand(operand) => vec![*operand],
        Argument::Place(inst) => vec![Operand::Inst(*inst)],
        Argument::Pointee(inner) => operands_of(inner),
        Argument::Rest(rest) => rest.clone(),
        _ => Vec::new(),
    }
}

/// A condition that only says which operand was matched; matching has seen to it.
pub fn is_operand_match(condition: &Condition) -> bool {
    match condition {
        Condition::Compare { left, right, .. } => [left, right].into_iter().any(|side| {
            matches!(&side.kind, ExprKind::Attr { args, .. }
                if matches!(args.as_slice(), [Arg::Patterns(_)]))
        }),
        _ => false,
    }
}

impl<'p> Semantics<'p> for Specified<'_, 'p> {
    fn require(&self, context: &mut Context<'p>, state: &mut State, query: &Query) -> Required {
        let How::Matched(bindings) = &self.asked(query).how else {
            return Required::Unknown("an object of an exit".to_owned(), Vec::new());
        };
        self.require_bound(context, state, query, bindings)
    }

    fn subjects(&self, query: &Query) -> Vec<Operand> {
        let How::Matched(bindings) = &self.asked(query).how else { return Vec::new() };
        let require = &self.compiled.observed(query).require;
        let bound = spec::rules::variables(require).into_iter().filter_map(|var| bindings.get(var));
        bound.flat_map(operands_of).collect()
    }

    fn is_fatal(&self, query: &Query) -> bool {
        let observed = self.compiled.observed(query);
        let severity = self.compiled.rules.fault(observed.fault).severity;
        // What corrupts nothing leaves everything to go on with.
        severity == spec::ast::Severity::Error && observed.error_state.is_some()
    }

    fn stops_the_program(&self, query: &Query) -> bool {
        self.is_stopped(query)
    }

    fn message(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
    ) -> (String, String) {
        let observed = self.compiled.observed(query);
        let message = match (&observed.message, &self.asked(query).how) {
            (Some(template), How::Matched(bindings)) => {
                self.text(context, state, query, bindings, template)
            }
            _ => self.compiled.rules.fault(observed.fault).title.clone(),
        };
        let printer = spec::print::Printer { vars: &observed.vars };
        let error_state = observed.error_state.as_ref().map(|state| printer.condition(state));
        (message, error_state.unwrap_or_default())
    }

    fn model(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) -> bool {
        self.apply_at(context, state, inst, true, forks)
    }

    fn after(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) {
        self.apply_at(context, state, inst, false, forks);
    }

    fn passes(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        target: Option<BlockId>,
        forks: &mut Vec<State>,
    ) {
        let (function, block) = (state.top().function, state.top().block);
        let Some(contributions) = self.compiled.at_ends.get(&(function, block)) else { return };
        let Some(body) = &self.code.program.functions[function].body else { return };
        let end = &body.blocks[block];
        let is_taken = |edge: Option<bool>| match (edge, &end.terminator) {
            (Some(true), Terminator::Branch { then, .. }) => target == Some(*then),
            (Some(false), Terminator::Branch { otherwise, .. }) => target == Some(*otherwise),
            _ => true,
        };
        let mut states = vec![state.clone()];
        for contribution in contributions.iter().filter(|c| is_taken(c.bindings.edge)) {
            states = self.apply_one(context, states, contribution, NO_INST, end.loc);
        }
        let mut states = states.into_iter();
        match states.next() {
            Some(first) => *state = first,
            None => state.path.is_dead = true,
        }
        forks.extend(states);
    }

    fn is_stateful(&self, function: FunctionId) -> bool {
        self.stateful.contains(&function)
    }

    fn exit_objects(&self, state: &State, query: &Query, lost: &[ObjectId]) -> Vec<ObjectId> {
        if let How::AtExit { only_lost: true, .. } = self.asked(query).how {
            return lost.to_vec();
        }
        if !self.pairs(query.function) {
            return Vec::new();
        }
        let touched = |id: &ObjectId| !state.memory.get(*id).attributes.is_empty();
        state.memory.ids().filter(touched).collect()
    }

    fn corrupt(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        has_run: bool,
    ) -> Corrupted {
        if has_run {
            self.corrupted_after(context, state, query)
        } else {
            self.corrupted_before(context, state, query)
        }
    }

    fn asks_of_lost(&self, query: &Query) -> bool {
        matches!(self.asked(query).how, How::AtExit { only_lost: true, .. })
    }

    fn use_up(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        fault: FaultKey,
        object: ObjectId,
        query: &Query,
    ) {
        Specified::use_up(self, context, state, fault, query, object);
    }

    fn require_of(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        object: ObjectId,
    ) -> (Required, String) {
        let observed = self.compiled.observed(query);
        let mut bindings = Bindings::with_vars(observed.vars.len());
        let zero = context.constant(0);
        let pointer = Value::Pointer { object, offset: zero };
        if let How::AtExit { var, .. } = self.asked(query).how
            && let Some(term) = addresses::to_term(context, &state.memory, pointer)
        {
            bindings.bind(var, Argument::Term(term));
        }
        let required = self.require_bound(context, state, query, &bindings);
        let message = match &observed.message {
            Some(template) => self.text(context, state, query, &bindings, template),
            None => self.compiled.rules.fault(observed.fault).title.clone(),
        };
        (required, message)
    }
}

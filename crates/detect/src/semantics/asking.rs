//! Queries and models of specifications, evaluated on a path.

use logic::{FormulaId, Terms};
use program::{FunctionId, InstId, LocId, Operand};
use spec::ast::{Arg, Command, Condition, EventArg, ExprKind, Piece, Place, Template};
use spec::lower::{Argument, Bindings, Lowering, UNDEF};

use crate::code::Code;
use crate::describe;
use crate::machine::memory::ObjectId;
use crate::machine::{Context, State, Value};
use crate::observer::{Required, Semantics};
use crate::query::Query;
use crate::semantics::apply::Applying;
use crate::semantics::compiled::{Asked, Compiled, Contribution, How, announced};
use crate::semantics::lowered::Lowered;

/// The specifications at work on one program.
pub struct Specified<'a, 'p> {
    pub code: &'a Code<'p>,
    pub compiled: &'a Compiled<'a>,
}

impl<'p> Specified<'_, 'p> {
    fn lowered<'c>(
        &'c self,
        context: &'c mut Context<'p>,
        state: &'c mut State,
        loc: LocId,
    ) -> Lowered<'c, 'p> {
        Lowered { code: self.code, context, state, loc, objects: Vec::new() }
    }

    fn asked(&self, query: &Query) -> &Asked {
        &self.compiled.asked[query.point as usize]
    }

    /// The variables of a query in this state, and what must hold for its event to happen.
    fn bind(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
    ) -> Result<(Bindings, FormulaId), String> {
        match &self.asked(query).how {
            How::Matched(bindings) => Ok((bindings.clone(), Terms::TRUE)),
            How::Announced { contribution, path } => {
                self.bind_announced(context, state, query, contribution, path)
            }
            How::AtExit => Err("an object of an exit".to_owned()),
        }
    }

    fn bind_announced(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        contribution: &Contribution,
        path: &[usize],
    ) -> Result<(Bindings, FormulaId), String> {
        let rules = self.compiled.rules;
        let model = &rules.specs[contribution.spec].contribute[contribution.contribute];
        let (conditions, args) =
            announced(&model.commands, path).ok_or("the event is gone from its model")?;
        let mut lowered = self.lowered(context, state, query.loc(self.code.program));
        let mut lowering = Lowering { bindings: &contribution.bindings, context: &mut lowered };
        let mut happens = Vec::new();
        if let Some(condition) = &model.point.condition {
            happens.push(lowering.condition(condition).map_err(|why| why.to_string())?);
        }
        for (condition, wanted) in conditions {
            let holds = lowering.condition(condition).map_err(|why| why.to_string())?;
            let holds = if wanted { holds } else { lowering.context.terms().not(holds) };
            happens.push(holds);
        }
        let asked = self.asked(query);
        let observe = rules.observe(asked);
        let names = observe.point.places.iter().find_map(|place| match place {
            Place::Event { args, .. } => Some(args),
            Place::Code(_) => None,
        });
        let mut bindings = Bindings::with_vars(rules.specs[asked.spec].vars.len());
        for (var, arg) in names.into_iter().flatten().zip(args) {
            let argument = match arg {
                EventArg::Var(var, _) => contribution.bindings.get(*var).cloned(),
                EventArg::Expr(expr) => match direct_argument(expr, &contribution.bindings) {
                    Some(argument) => Some(argument),
                    None => {
                        let term = lowering.expr(expr).map_err(|why| why.to_string())?;
                        Some(Argument::Term(term))
                    }
                },
            };
            if let Some(argument) = argument {
                bindings.bind(*var, argument);
            }
        }
        let happens = context.terms.and(&happens);
        Ok((bindings, happens))
    }

    fn condition(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        bindings: &Bindings,
        condition: &Condition,
        loc: LocId,
    ) -> Result<(FormulaId, Vec<ObjectId>), String> {
        let mut lowered = self.lowered(context, state, loc);
        let formula = Lowering { bindings, context: &mut lowered }
            .condition(condition)
            .map_err(|why| why.to_string())?;
        Ok((formula, lowered.objects))
    }

    fn require_bound(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        bindings: &Bindings,
        happens: FormulaId,
    ) -> Result<Required, String> {
        let observe = self.compiled.rules.observe(self.asked(query));
        let loc = query.loc(self.code.program);
        let mut premise = vec![happens];
        if let Some(condition) = &observe.point.condition
            && !is_operand_match(condition)
        {
            let (holds, _) = self.condition(context, state, bindings, condition, loc)?;
            if holds == Terms::FALSE {
                return Ok(Required::Holds(Terms::TRUE, Vec::new()));
            }
            premise.push(holds);
        }
        let (required, objects) =
            self.condition(context, state, bindings, &observe.require, loc)?;
        let premise = context.terms.and(&premise);
        Ok(Required::Holds(context.terms.implies(premise, required), objects))
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
                    let term = Lowering { bindings, context: &mut lowered }.expr(expr).ok();
                    let shown = term
                        .filter(|term| context.terms.as_constant(*term) != Some(UNDEF))
                        .and_then(|term| describe::term(context, term));
                    text.push_str(shown.as_deref().unwrap_or("an unknown number of"));
                }
            }
        }
        text
    }

    /// A variable of a specification as the source spells it.
    fn name(&self, context: &mut Context<'p>, state: &mut State, argument: &Argument) -> Option<String> {
        let function = state.top().function;
        let body = self.code.program.functions[function].body.as_ref()?;
        if let Argument::Operand(operand) = argument {
            let name =
                crate::machine::exec::describe_value(context, body, function, *operand, 0);
            if !name.is_empty() {
                return Some(name);
            }
        }
        let mut lowered = self.lowered(context, state, LocId::UNKNOWN);
        match lowered.value(argument)? {
            Value::Pointer { object, .. } => {
                let name = state.memory.get(object).name.to_string();
                (!name.is_empty() && name != "*").then_some(name)
            }
            value => describe::value(context, value),
        }
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
        let Some(contributions) = self.compiled.contributions.get(&(function, inst)) else {
            return false;
        };
        let Some(body) = &self.code.program.functions[function].body else { return false };
        let (loc, ty) = (body.insts[inst].loc, body.insts[inst].ty);
        if is_call {
            let makes_object = contributions.iter().any(|c| self.makes_object(c, inst));
            Applying { code: self.code, context, inst, loc }
                .prepare_result(state, ty, makes_object);
        }
        let mut states = vec![state.clone()];
        for contribution in contributions {
            states = self.apply_one(context, states, contribution, inst, loc);
        }
        let mut states = states.into_iter();
        match states.next() {
            Some(first) => *state = first,
            None => state.path.is_dead = true,
        }
        forks.extend(states);
        true
    }

    fn apply_one(
        &self,
        context: &mut Context<'p>,
        states: Vec<State>,
        contribution: &Contribution,
        inst: InstId,
        loc: LocId,
    ) -> Vec<State> {
        let spec = &self.compiled.rules.specs[contribution.spec];
        let contribute = &spec.contribute[contribution.contribute];
        let mut after = Vec::new();
        for mut state in states {
            let mut lowered = self.lowered(context, &mut state, loc);
            let mut lowering =
                Lowering { bindings: &contribution.bindings, context: &mut lowered };
            let condition = match &contribute.point.condition {
                Some(condition) => lowering.condition(condition),
                None => Ok(Terms::TRUE),
            };
            let effects = lowering.commands(&contribute.commands);
            match (condition, effects) {
                (Ok(Terms::TRUE), Ok(effects)) => {
                    let mut applying = Applying { code: self.code, context, inst, loc };
                    after.extend(applying.apply(state, &effects));
                }
                (Ok(condition), Ok(effects)) => {
                    let when = spec::lower::Effect::When {
                        condition,
                        then: effects,
                        otherwise: Vec::new(),
                    };
                    let mut applying = Applying { code: self.code, context, inst, loc };
                    after.extend(applying.apply(state, &[when]));
                }
                _ => after.push(state),
            }
        }
        after
    }

    /// Whether a model gives the result of a call a size or a state: then it is a new object.
    fn makes_object(&self, contribution: &Contribution, inst: InstId) -> bool {
        let spec = &self.compiled.rules.specs[contribution.spec];
        let is_result = |arg: &Arg| match arg {
            Arg::Var(var) => matches!(contribution.bindings.get(*var),
                Some(Argument::Operand(Operand::Inst(result))) if *result == inst),
            _ => false,
        };
        fn any(commands: &[Command], test: &dyn Fn(&Command) -> bool) -> bool {
            commands.iter().any(|command| {
                test(command)
                    || match command {
                        Command::When { then, otherwise, .. }
                        | Command::May { first: then, otherwise } => {
                            any(then, test) || any(otherwise, test)
                        }
                        Command::Either(all) => all.iter().any(|some| any(some, test)),
                        _ => false,
                    }
            })
        }
        any(&spec.contribute[contribution.contribute].commands, &|command| match command {
            Command::Assign { target, .. } => match &target.kind {
                ExprKind::Attr { attribute, args } => {
                    matches!(attribute.name(), "Size" | "State" | "Init")
                        && args.first().is_some_and(is_result)
                }
                _ => false,
            },
            _ => false,
        })
    }
}

/// A condition that only says which operand was matched; matching has seen to it.
fn is_operand_match(condition: &Condition) -> bool {
    match condition {
        Condition::Compare { left, right, .. } => [left, right].into_iter().any(|side| {
            matches!(&side.kind, ExprKind::Attr { args, .. }
                if matches!(args.as_slice(), [Arg::Patterns(_)]))
        }),
        _ => false,
    }
}

/// `Value(x)` as an event's argument is `x` itself: its type stays known.
fn direct_argument(expr: &spec::ast::Expr, bindings: &Bindings) -> Option<Argument> {
    match &expr.kind {
        ExprKind::Attr { attribute, args } if attribute.name() == "Value" => match args.as_slice() {
            [Arg::Var(var)] => bindings.get(*var).cloned(),
            _ => None,
        },
        ExprKind::Int(number) => Some(Argument::Number(*number)),
        _ => None,
    }
}

impl<'p> Semantics<'p> for Specified<'_, 'p> {
    fn require(&self, context: &mut Context<'p>, state: &mut State, query: &Query) -> Required {
        let bound = self.bind(context, state, query);
        let required = bound.and_then(|(bindings, happens)| {
            self.require_bound(context, state, query, &bindings, happens)
        });
        required.unwrap_or_else(Required::Unknown)
    }

    fn message(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
    ) -> (String, String) {
        let asked = self.asked(query);
        let spec = &self.compiled.rules.specs[asked.spec];
        let observe = self.compiled.rules.observe(asked);
        let template = observe.message.as_ref().or(spec.message.as_ref());
        let bindings = self.bind(context, state, query).map(|(bindings, _)| bindings);
        let message = match (template, bindings) {
            (Some(template), Ok(bindings)) => {
                self.text(context, state, query, &bindings, template)
            }
            _ => spec.title.clone().unwrap_or_else(|| spec.id.clone()),
        };
        let error_state = observe.error_state.as_ref().or(spec.error_state.as_ref());
        let error_state = error_state.map(|condition| spec::print::Printer { vars: &spec.vars }.condition(condition));
        (message, error_state.unwrap_or_default())
    }

    fn model(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        callee: FunctionId,
        forks: &mut Vec<State>,
    ) -> bool {
        let _ = callee;
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

    fn exit_objects(&self, state: &State, query: &Query, lost: &[ObjectId]) -> Vec<ObjectId> {
        let observe = self.compiled.rules.observe(self.asked(query));
        let is_lost = observe
            .point
            .places
            .iter()
            .any(|place| matches!(place, Place::Event { name, .. } if name == "lost"));
        if is_lost {
            return lost.to_vec();
        }
        let touched = |id: &ObjectId| !state.memory.get(*id).attributes.is_empty();
        state.memory.ids().filter(touched).collect()
    }

    fn require_of(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        object: ObjectId,
    ) -> (Required, String) {
        let asked = self.asked(query);
        let spec = &self.compiled.rules.specs[asked.spec];
        let observe = self.compiled.rules.observe(asked);
        let zero = context.constant(0);
        let pointer = Value::Pointer { object, offset: zero };
        let term = crate::machine::addresses::to_term(context, &state.memory, pointer);
        let mut bindings = Bindings::with_vars(spec.vars.len());
        for place in &observe.point.places {
            if let (Place::Event { args, .. }, Some(term)) = (place, term)
                && let Some(var) = args.first()
            {
                bindings.bind(*var, Argument::Term(term));
            }
        }
        let required = self.require_bound(context, state, query, &bindings, Terms::TRUE);
        let message = match observe.message.as_ref().or(spec.message.as_ref()) {
            Some(template) => self.text(context, state, query, &bindings, template),
            None => spec.title.clone().unwrap_or_else(|| spec.id.clone()),
        };
        (required.unwrap_or_else(Required::Unknown), message)
    }
}

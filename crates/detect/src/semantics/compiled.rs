//! Specifications made ready for one program: which queries to raise where, and which
//! models speak at which instruction.

use program::{FunctionId, InstId, Program};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use spec::ast::{Command, EventArg, Observe, Place, Spec, SpecKind};
use spec::diagnostic::Diagnostic;
use spec::event;
use spec::lower::Bindings;
use spec::matcher::{CodePoint, Found, Pattern, PatternSet};

use crate::query::{At, Query};

/// Faults and models, with patterns to find their places.
pub struct Rules {
    pub specs: Vec<Spec>,
    observing: PatternSet,
    /// By pattern: specification and observation.
    observed: Vec<(usize, usize)>,
    contributing: PatternSet,
    contributed: Vec<(usize, usize)>,
    strict: bool,
}

/// A query's place in the specifications.
#[derive(Clone, Debug)]
pub struct Asked {
    pub spec: usize,
    pub observe: usize,
    pub how: How,
}

#[derive(Clone, Debug)]
pub enum How {
    /// The point's own match.
    Matched(Bindings),
    /// A model announces the event; `path` leads to the command among the contribution's.
    Announced { contribution: Contribution, path: Vec<usize> },
    /// An object at the exit of a function.
    AtExit,
}

/// A model (or a fault's own contribution) at an instruction.
#[derive(Clone, Debug)]
pub struct Contribution {
    pub spec: usize,
    pub contribute: usize,
    pub bindings: Bindings,
}

/// Everything the specifications say about one program.
pub struct Compiled<'r> {
    pub rules: &'r Rules,
    pub queries: Vec<Query>,
    /// By query.
    pub asked: Vec<Asked>,
    pub contributions: FxHashMap<(FunctionId, InstId), Vec<Contribution>>,
}

impl Rules {
    /// Compiles checked specifications. `strict` raises also what is only meant for it.
    pub fn new(specs: Vec<Spec>, strict: bool) -> Result<Self, Diagnostic> {
        let (mut observing, mut observed) = (Vec::new(), Vec::new());
        let (mut contributing, mut contributed) = (Vec::new(), Vec::new());
        for (s, spec) in specs.iter().enumerate() {
            for (o, observe) in spec.observe.iter().enumerate() {
                observing.push(Pattern::compile(&observe.point, &spec.vars, false)?);
                observed.push((s, o));
            }
            let library_only = spec.kind == SpecKind::Model;
            for (c, contribute) in spec.contribute.iter().enumerate() {
                contributing.push(Pattern::compile(&contribute.point, &spec.vars, library_only)?);
                contributed.push((s, c));
            }
        }
        Ok(Self {
            specs,
            observing: PatternSet::new(observing),
            observed,
            contributing: PatternSet::new(contributing),
            contributed,
            strict,
        })
    }

    /// Finds all points of a program.
    pub fn compile(&self, program: &Program) -> Compiled<'_> {
        let functions: Vec<FunctionId> = program
            .functions
            .iter_enumerated()
            .filter(|(_, function)| function.body.is_some())
            .map(|(id, _)| id)
            .collect();
        let scanned: Vec<_> = functions
            .par_iter()
            .map(|id| (self.observing.scan(program, *id), self.contributing.scan(program, *id)))
            .collect();
        let mut compiled = Compiled {
            rules: self,
            queries: Vec::new(),
            asked: Vec::new(),
            contributions: FxHashMap::default(),
        };
        for (function, (observed, contributed)) in functions.into_iter().zip(scanned) {
            compiled.add_function(function, observed, contributed);
        }
        compiled
    }

    pub fn observe(&self, asked: &Asked) -> &Observe {
        &self.specs[asked.spec].observe[asked.observe]
    }

    /// Observations of an event, as specification, observation and the variables bound.
    fn observers(&self, announced: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (s, spec) in self.specs.iter().enumerate() {
            for (o, observe) in spec.observe.iter().enumerate() {
                let hears = observe.point.places.iter().any(|place| {
                    matches!(place, Place::Event { name, .. } if event::covers(name, announced))
                });
                if hears && (self.strict || !observe.strict) {
                    found.push((s, o));
                }
            }
        }
        found
    }
}

impl Compiled<'_> {
    fn add_function(
        &mut self,
        function: FunctionId,
        observed: Vec<Found>,
        contributed: Vec<Found>,
    ) {
        for found in observed {
            let (spec, observe) = self.rules.observed[found.pattern.0 as usize];
            let rule = &self.rules.specs[spec].observe[observe];
            let CodePoint::Inst(inst) = found.point else { continue };
            if rule.strict && !self.rules.strict {
                continue;
            }
            let how = How::Matched(found.bindings);
            self.add(function, At::Inst(inst), Asked { spec, observe, how });
        }
        for found in contributed {
            let (spec, contribute) = self.rules.contributed[found.pattern.0 as usize];
            let CodePoint::Inst(inst) = found.point else { continue };
            let contribution = Contribution { spec, contribute, bindings: found.bindings };
            self.add_announced(function, inst, &contribution);
            self.contributions.entry((function, inst)).or_default().push(contribution);
        }
        for event in ["lost", "exit"] {
            for (spec, observe) in self.rules.observers(event) {
                self.add(function, At::Exit, Asked { spec, observe, how: How::AtExit });
            }
        }
    }

    fn add(&mut self, function: FunctionId, at: At, asked: Asked) {
        let (rule, point) = (asked.spec as u32, self.asked.len() as u32);
        self.queries.push(Query { rule, point, function, at });
        self.asked.push(asked);
    }

    /// Queries about the events a contribution announces.
    fn add_announced(&mut self, function: FunctionId, inst: InstId, contribution: &Contribution) {
        let spec = &self.rules.specs[contribution.spec];
        let mut events = Vec::new();
        collect_events(
            &spec.contribute[contribution.contribute].commands,
            &mut Vec::new(),
            &mut events,
        );
        for (name, path) in events {
            for (spec, observe) in self.rules.observers(&name) {
                let how =
                    How::Announced { contribution: contribution.clone(), path: path.clone() };
                self.add(function, At::Inst(inst), Asked { spec, observe, how });
            }
        }
    }
}

/// The events among commands, with the way to each.
fn collect_events(
    commands: &[Command],
    path: &mut Vec<usize>,
    found: &mut Vec<(String, Vec<usize>)>,
) {
    for (index, command) in commands.iter().enumerate() {
        path.push(index);
        match command {
            Command::Event { name, .. } if name != event::SCAN => {
                found.push((name.clone(), path.clone()));
            }
            Command::When { then, otherwise, .. } | Command::May { first: then, otherwise } => {
                for (side, commands) in [then, otherwise].into_iter().enumerate() {
                    path.push(side);
                    collect_events(commands, path, found);
                    path.pop();
                }
            }
            Command::Either(all) => {
                for (side, commands) in all.iter().enumerate() {
                    path.push(side);
                    collect_events(commands, path, found);
                    path.pop();
                }
            }
            _ => {}
        }
        path.pop();
    }
}

/// The commands that announce an event, outermost first, with the conditions on the way:
/// for each `when` passed, its condition and whether it must hold.
pub fn announced<'a>(
    commands: &'a [Command],
    path: &[usize],
) -> Option<(Vec<(&'a spec::ast::Condition, bool)>, &'a [EventArg])> {
    let (index, rest) = path.split_first()?;
    match commands.get(*index)? {
        Command::Event { args, .. } => Some((Vec::new(), args)),
        Command::When { condition, then, otherwise } => {
            let (side, rest) = rest.split_first()?;
            let inner = if *side == 0 { then } else { otherwise };
            let (mut conditions, args) = announced(inner, rest)?;
            conditions.insert(0, (condition, *side == 0));
            Some((conditions, args))
        }
        Command::May { first, otherwise } => {
            let (side, rest) = rest.split_first()?;
            announced(if *side == 0 { first } else { otherwise }, rest)
        }
        Command::Either(all) => {
            let (side, rest) = rest.split_first()?;
            announced(all.get(*side)?, rest)
        }
        _ => None,
    }
}

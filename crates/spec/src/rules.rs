//! Faults and models joined into what a detection run needs: where to raise queries, what
//! must hold there, and what happens on the way.

mod allocation;
mod instantiate;

pub use instantiate::variables;

use std::collections::BTreeMap;

use crate::ast::{Command, Condition, Expr, ExprKind, Place, Point, Severity, Spec, SpecKind};
use crate::ast::{Contribute, Observe, Template, Var};
use crate::check;
use crate::diagnostic::Diagnostic;
use crate::matcher::{Pattern, PatternId, PatternSet, Scan};

/// Index into [`Rules::faults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultIndex(pub u32);

/// What a run has to look for. Immutable and shared by all threads.
#[derive(Debug)]
pub struct Rules {
    /// Allocations are taken to succeed: see [`assume_alloc_succeeds`](Self::assume_alloc_succeeds).
    pub allocations_succeed: bool,
    pub faults: Vec<Fault>,
    /// By the pattern of [`Rules::observed_patterns`] that finds it.
    pub observed: Vec<Observed>,
    pub observed_patterns: PatternSet,
    /// By the pattern of [`Rules::contributing_patterns`] that finds it.
    pub contributing: Vec<Contributing>,
    pub contributing_patterns: PatternSet,
    names: BTreeMap<String, i128>,
}

#[derive(Clone, Debug)]
pub struct Fault {
    pub id: String,
    pub title: String,
    pub severity: Severity,
    pub cwe: Vec<u32>,
}

/// A kind of place where a fault can be observed.
#[derive(Clone, Debug)]
pub struct Observed {
    pub fault: FaultIndex,
    /// Raised only under `--strict`.
    pub strict: bool,
    pub vars: Vec<Var>,
    /// Narrows the places the pattern finds; decided per match, mostly from the text.
    pub condition: Option<Condition>,
    pub require: Condition,
    pub error_state: Option<Condition>,
    pub message: Option<Template>,
    /// The model whose event this is, where the fault does not name the code itself.
    pub via: Option<String>,
}

/// A kind of place that contributes.
#[derive(Clone, Debug)]
pub struct Contributing {
    /// The fault it is for, or `None` for a model: for all.
    pub fault: Option<FaultIndex>,
    pub vars: Vec<Var>,
    pub condition: Option<Condition>,
    pub commands: Vec<Command>,
}

impl Rules {
    /// Joins checked specifications. Of two faults with one id the later stands.
    pub fn new(specs: &[Spec]) -> Result<Self, Vec<Diagnostic>> {
        let mut builder = Builder::default();
        let standing: Vec<&Spec> = specs
            .iter()
            .enumerate()
            .filter(|(index, spec)| {
                let same = |other: &Spec| other.kind == spec.kind && other.id == spec.id;
                spec.kind == SpecKind::Model || !specs[index + 1..].iter().any(same)
            })
            .map(|(_, spec)| spec)
            .collect();
        for spec in &standing {
            builder.contributions(spec);
        }
        let announcing: Vec<(&Spec, &Contribute)> = standing
            .iter()
            .flat_map(|spec| spec.contribute.iter().map(move |contribute| (*spec, contribute)))
            .collect();
        for spec in standing.iter().filter(|spec| spec.kind == SpecKind::Fault) {
            builder.observations(spec, &announcing);
        }
        builder.finish(&standing)
    }

    pub fn observed(&self, pattern: PatternId) -> &Observed {
        &self.observed[pattern.0 as usize]
    }

    pub fn contributing(&self, pattern: PatternId) -> &Contributing {
        &self.contributing[pattern.0 as usize]
    }

    pub fn fault(&self, index: FaultIndex) -> &Fault {
        &self.faults[index.0 as usize]
    }

    pub fn find_fault(&self, id: &str) -> Option<FaultIndex> {
        let index = self.faults.iter().position(|fault| fault.id == id)?;
        Some(FaultIndex(index as u32))
    }

    /// The number that stands for a name; names no specification holds are -1.
    pub fn name_code(&self, name: &str) -> i128 {
        self.names.get(name).copied().unwrap_or(-1)
    }

    /// Every name a specification holds: states, operations, kinds of memory.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The name a number stands for.
    pub fn name_of(&self, code: i128) -> Option<&str> {
        self.names.iter().find(|(_, c)| **c == code).map(|(name, _)| name.as_str())
    }
}

#[derive(Default)]
struct Builder {
    faults: Vec<Fault>,
    observed: Vec<(Pattern, Observed)>,
    contributing: Vec<(Pattern, Contributing)>,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    fn contributions(&mut self, spec: &Spec) {
        let fault = (spec.kind == SpecKind::Fault).then(|| {
            self.faults.push(Fault {
                id: spec.id.clone(),
                title: spec.title.clone().unwrap_or_else(|| spec.id.clone()),
                severity: spec.severity,
                cwe: spec.cwe.clone(),
            });
            FaultIndex(self.faults.len() as u32 - 1)
        });
        for contribute in &spec.contribute {
            let library = spec.kind == SpecKind::Model;
            match Pattern::compile(&contribute.point, &spec.vars, library) {
                Ok(pattern) => self.contributing.push((
                    pattern,
                    Contributing {
                        fault,
                        vars: spec.vars.clone(),
                        condition: contribute.point.condition.clone(),
                        commands: contribute.commands.clone(),
                    },
                )),
                Err(diagnostic) => self.diagnostics.push(diagnostic),
            }
        }
    }

    fn observations(&mut self, spec: &Spec, announcing: &[(&Spec, &Contribute)]) {
        let fault = self.faults.iter().position(|fault| fault.id == spec.id);
        let fault = FaultIndex(fault.unwrap_or_default() as u32);
        for observe in &spec.observe {
            self.observation(spec, fault, observe);
            for place in &observe.point.places {
                if let Place::Event { name, args, .. } = place {
                    for (model, contribute) in announcing {
                        let instances =
                            instantiate::instances(spec, observe, name, args, model, contribute);
                        for made in instances {
                            let observed = Observed { fault, ..made.observed };
                            let library = model.kind == SpecKind::Model;
                            self.observe(&made.point, library, observed, made.scan);
                        }
                    }
                }
            }
        }
    }

    fn observation(&mut self, spec: &Spec, fault: FaultIndex, observe: &Observe) {
        let observed = Observed {
            fault,
            strict: observe.strict,
            vars: spec.vars.clone(),
            condition: observe.point.condition.clone(),
            require: observe.require.clone(),
            error_state: observe.error_state.clone().or_else(|| spec.error_state.clone()),
            message: observe.message.clone().or_else(|| spec.message.clone()),
            via: None,
        };
        self.observe(&observe.point, false, observed, None);
    }

    fn observe(
        &mut self,
        point: &Point,
        library_only: bool,
        observed: Observed,
        scan: Option<Scan>,
    ) {
        match Pattern::compile(point, &observed.vars, library_only) {
            Ok(mut pattern) => {
                pattern.scan = scan;
                self.observed.push((pattern, observed));
            }
            Err(diagnostic) => self.diagnostics.push(diagnostic),
        }
    }

    fn finish(self, specs: &[&Spec]) -> Result<Rules, Vec<Diagnostic>> {
        if check::has_errors(&self.diagnostics) {
            return Err(self.diagnostics);
        }
        let (observed_patterns, observed): (Vec<_>, Vec<_>) = self.observed.into_iter().unzip();
        let (contributing_patterns, contributing): (Vec<_>, Vec<_>) =
            self.contributing.into_iter().unzip();
        let mut names = BTreeMap::new();
        for spec in specs {
            names_of(spec, &mut names);
        }
        for (index, code) in names.values_mut().enumerate() {
            *code = index as i128 + 1;
        }
        Ok(Rules {
            allocations_succeed: false,
            faults: self.faults,
            observed,
            observed_patterns: PatternSet::new(observed_patterns),
            contributing,
            contributing_patterns: PatternSet::new(contributing_patterns),
            names,
        })
    }
}

/// Every name a specification mentions, and every name an attribute can have.
fn names_of(spec: &Spec, names: &mut BTreeMap<String, i128>) {
    for id in crate::attribute::AttributeId::all() {
        for name in id.get().names().unwrap_or_default() {
            names.insert(name.to_string(), 0);
        }
    }
    let mut visit = |expr: &Expr| {
        if let ExprKind::Name(name) = &expr.kind {
            names.insert(name.clone(), 0);
        }
    };
    instantiate::walk_spec(spec, &mut visit);
}

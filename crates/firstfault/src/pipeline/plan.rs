//! Which imported units make which program.

use std::path::Path;

use capture::{ProgramKind, ProgramPlan};
use program::Program;
use program::link::split;

/// One program to be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub name: String,
    /// Positions among the imported units, in link order.
    pub units: Vec<usize>,
}

/// The plans of the project, in terms of the units that could be imported. `positions` says
/// where each of the project's units went. Where nothing is known about linking, `main`
/// functions and the symbols they need tell programs apart.
pub fn plans(
    programs: &[ProgramPlan],
    positions: &[Option<usize>],
    units: &[Program],
) -> Vec<Plan> {
    let mut plans = Vec::new();
    for program in programs {
        if program.kind == ProgramKind::Unsplit {
            // A database: one plan over all units.
            plans.extend(divided(&program.name, units));
            continue;
        }
        let position = |unit: &usize| positions.get(*unit).copied().flatten();
        let units: Vec<usize> = program.units.iter().filter_map(position).collect();
        if !units.is_empty() {
            plans.push(Plan { name: program.name.clone(), units });
        }
    }
    plans
}

fn divided(name: &str, units: &[Program]) -> Vec<Plan> {
    let split = split(units);
    let several = split.programs.len() > 1;
    let mut plans: Vec<Plan> = split
        .programs
        .into_iter()
        .map(|members| {
            let main = members.iter().find(|&&unit| defines_main(&units[unit]));
            let own_name = main.filter(|_| several).map(|&unit| stem(&units[unit]));
            Plan { name: own_name.unwrap_or_else(|| name.to_owned()), units: members }
        })
        .collect();
    if !split.unused.is_empty() {
        plans.push(Plan { name: format!("{name} (used by no program)"), units: split.unused });
    }
    plans
}

fn defines_main(unit: &Program) -> bool {
    unit.functions.iter().any(|function| &*function.name == "main" && function.body.is_some())
}

fn stem(unit: &Program) -> String {
    let path = unit.units.iter().next().map(|unit| unit.path.as_str()).unwrap_or_default();
    Path::new(path).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

//! Second opinions on what the static engine found: the functions it speaks of are run, and what
//! runs come to and never do is open, not found.

use std::collections::BTreeSet;

use base::Cancel;
use explore::{Claim, Line, Opinion};
use findings::{DontKnow, Fault, FaultOrigin, Findings, Level, Place, Step};
use program::{FunctionId, Program};
use spec::rules::Rules;

/// Asks for the faults from the `first` on.
pub fn weigh(
    program: &Program,
    rules: &Rules,
    first: usize,
    findings: &mut Findings,
    cancel: &Cancel,
) {
    let mut asked = Vec::new();
    let mut claims = Vec::new();
    for (number, fault) in findings.faults.iter().enumerate().skip(first) {
        let is_open = fault.level == Level::Likely && fault.origin == FaultOrigin::Detection;
        if let Some(claim) = claim(program, fault).filter(|_| is_open) {
            asked.push(number);
            claims.push(claim);
        }
    }
    let opinions = explore::confirm(program, rules, &claims, cancel);
    if cancel.is_cancelled() {
        return;
    }
    let mut dropped = BTreeSet::new();
    for ((number, claim), opinion) in asked.into_iter().zip(&claims).zip(opinions) {
        let name = match opinion {
            Opinion::Happens => "confirmed",
            Opinion::ComesThere => "confirm_refuted",
            Opinion::NotReached => "confirm_not_reached",
            Opinion::None => "confirm_not_run",
        };
        findings.count(name, 1);
        if opinion == Opinion::ComesThere {
            let fault = &findings.faults[number];
            let function = &program.functions[claim.entry].name;
            findings.dont_knows.push(DontKnow {
                place: fault.place.clone(),
                rule: fault.rule.clone(),
                reason: format!("no run of {function} that comes here does it"),
                at: fault.place.clone(),
                resolve: String::new(),
            });
            dropped.insert(fault.id.clone());
        }
    }
    if !dropped.is_empty() {
        findings.retain_faults(|fault| !dropped.contains(&fault.id));
    }
}

/// What a fault says: that runs from where its path begins come to its line and violate its rule.
fn claim(program: &Program, fault: &Fault) -> Option<Claim> {
    let steps = &fault.segments.first()?.steps;
    let outermost = steps.iter().map(|step| step.depth).min()?;
    let start = steps.iter().find(|step| step.depth == outermost)?;
    let entry = function_at(program, &start.place)?;
    let function = function_at(program, &fault.place)?;
    let line = |step: &Step| Line { file: Some(step.place.file.clone()), line: step.place.line };
    let own = Line { file: Some(fault.place.file.clone()), line: fault.place.line };
    let mut lines = vec![own];
    lines.extend(steps.iter().filter(|step| step.impact).map(line));
    lines.dedup();
    Some(Claim { entry, function, rule: fault.rule.clone(), lines })
}

/// The function of a place, which may share its name with those of other files.
fn function_at(program: &Program, place: &Place) -> Option<FunctionId> {
    let named = program
        .functions
        .iter_enumerated()
        .filter(|(_, function)| *function.name == *place.function && function.body.is_some());
    let file = |id: FunctionId| {
        let loc = &program.locs[program.functions[id].loc];
        program.files.get(loc.file).map(|file| file.path.clone())
    };
    let mut named: Vec<FunctionId> = named.map(|(id, _)| id).collect();
    if named.len() > 1 {
        named.retain(|id| file(*id).as_deref() == Some(&*place.file));
    }
    named.first().copied()
}

//! One program, all opinions.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use findings::{Fault, RunInput};
use fixture::idioms::{self, Idiom, Input, Spec};

use crate::case::Case;
use crate::judge::{self, Confirmed, Contradiction, Kind, Seeded, Shown};
use crate::native::{self, Native, Sanitizer, Surroundings};
use crate::tool::{Answer, Engine, Tool};

/// How much is done for one program.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Times each line of an idiom's grammar is used.
    pub n_rounds: u32,
    /// Inputs at most.
    pub n_inputs: usize,
}

/// The inputs of a program: round after round, as many as there is room for.
pub fn inputs(idioms: &[Idiom], spec: &Spec, seed: u64, effort: Effort) -> Vec<Input> {
    let mut inputs = idioms::inputs(idioms, spec, seed, effort.n_rounds);
    inputs.truncate(effort.n_inputs);
    inputs
}

/// What came of a program.
#[derive(Clone, Debug, Default)]
pub struct Examined {
    pub contradictions: Vec<Contradiction>,
    pub seeded: Vec<Seeded>,
    /// What the static engine reports in wrong parts under other rules.
    pub n_unclear: u32,
    /// Of the proved faults: confirmed, different, nothing, unseen rule, cannot be run.
    pub proved: [u32; 5],
    /// Static reports, each line and rule.
    pub n_static: u32,
    /// Questions of the rules, and how many of them facts settle; 0 where the tool does not tell.
    pub n_asked: u32,
    pub n_settled: u32,
    pub n_runs: u32,
    /// Natively, static, explore.
    pub cpu: [Duration; 3],
    /// Faults natively shown in right parts: a defect of the generator.
    pub broken: Vec<Shown>,
}

/// Asks everybody about a program.
pub fn examine(tool: &Tool, case: &Case, inputs: &[Input]) -> Result<Examined> {
    let native = Native::new(case)?;
    let mut examined = Examined::default();
    let shown = show(&native, case, inputs, &mut examined)?;
    let statically = ask(tool, Engine::Static, case, &mut examined)?;
    let explored = ask(tool, Engine::Explore, case, &mut examined)?;
    if let Some(points) = tool.settled(&case.text())? {
        examined.n_settled = points.iter().filter(|point| point.is_settled).count() as u32;
        examined.n_asked = points.len() as u32;
        examined.contradictions.extend(judge::wrongly_settled(case, &shown, &points));
    }
    let (statically, explored) = (statically.findings.as_ref(), explored.findings.as_ref());
    examined.seeded = judge::seeded(case, &shown, statically, explored);
    examined.contradictions.extend(judge::missed(case, &examined.seeded, &shown));
    if let Some(statically) = statically {
        let (found, n_unclear) = judge::falsely(case, &shown, statically);
        let places = statically.faults.iter().map(|fault| (fault.place.line, &fault.rule));
        examined.n_static = places.collect::<BTreeSet<_>>().len() as u32;
        examined.n_unclear = n_unclear;
        examined.contradictions.extend(found);
    }
    for fault in explored.iter().flat_map(|findings| &findings.faults) {
        let Some(witness) = &fault.witness else { continue };
        let verdict = on_witness(&native, case, fault, witness)?;
        examined.proved[match &verdict {
            Some(Confirmed::Yes) => 0,
            Some(Confirmed::Different(_)) => 1,
            Some(Confirmed::Nothing) => 2,
            Some(Confirmed::Unseen) => 3,
            None => 4,
        }] += 1;
        if verdict == Some(Confirmed::Nothing) {
            examined.contradictions.push(unshown(case, fault));
        }
    }
    examined.broken = shown
        .into_iter()
        .filter(|shown| shown.counts(case) && case.rules(shown.part).is_empty())
        .filter(|shown| shown.part.is_some() || case.parts.iter().all(|p| p.variant.is_none()))
        .collect();
    examined
        .contradictions
        .sort_by(|a, b| (a.kind, a.part, &a.rule, a.line).cmp(&(b.kind, b.part, &b.rule, b.line)));
    Ok(examined)
}

/// Runs every input; values never set are looked for where no allocation is made to fail.
fn show(
    native: &Native,
    case: &Case,
    inputs: &[Input],
    examined: &mut Examined,
) -> Result<Vec<Shown>> {
    let mut all = Vec::new();
    for input in inputs {
        for sanitizer in [Sanitizer::Address, Sanitizer::Memory] {
            if sanitizer == Sanitizer::Memory && input.failing_allocation.is_some() {
                continue;
            }
            let showed = native.run(sanitizer, input)?;
            examined.n_runs += 1;
            examined.cpu[0] += showed.cpu;
            all.extend(showed.seen.into_iter().map(|seen| Shown::new(case, seen, input)));
        }
    }
    Ok(all)
}

fn ask(tool: &Tool, engine: Engine, case: &Case, examined: &mut Examined) -> Result<Answer> {
    let answer = tool.ask(engine, &case.text())?;
    examined.cpu[1 + engine as usize] += answer.cpu;
    examined.contradictions.extend(answer.failed.as_ref().map(|why| failed(engine, why)));
    Ok(answer)
}

pub(crate) fn failed(engine: Engine, why: &str) -> Contradiction {
    Contradiction {
        kind: Kind::Failed,
        engine: Some(engine),
        rule: String::new(),
        line: 0,
        part: None,
        told: why.to_owned(),
        witness: None,
        input: None,
    }
}

pub(crate) fn unshown(case: &Case, fault: &Fault) -> Contradiction {
    Contradiction {
        kind: Kind::Unshown,
        engine: Some(Engine::Explore),
        rule: fault.rule.clone(),
        line: fault.place.line,
        part: case.part_at(fault.place.line),
        told: fault.message.clone(),
        witness: fault.witness.clone(),
        input: None,
    }
}

/// Runs the program on a witness; `None` where no command line gives it.
pub(crate) fn on_witness(
    native: &Native,
    case: &Case,
    fault: &Fault,
    witness: &RunInput,
) -> Result<Option<Confirmed>> {
    let Some(surroundings) = surroundings(witness) else { return Ok(None) };
    let input = native_input(witness);
    let mut verdict = Confirmed::Nothing;
    for sanitizer in [Sanitizer::Address, Sanitizer::Memory] {
        let showed = native.run_in(sanitizer, &input, &surroundings)?;
        match (judge::confirmed(case, fault, &showed.seen), &verdict) {
            (Confirmed::Nothing, _) => {}
            (Confirmed::Different(_), Confirmed::Different(_)) => {}
            (better, _) => verdict = better,
        }
        if verdict == Confirmed::Yes {
            break;
        }
    }
    Ok(Some(verdict))
}

/// What a witness needs beside arguments and standard input; `None` where it is not to be had.
fn surroundings(witness: &RunInput) -> Option<Surroundings> {
    let mut failing = Vec::new();
    for other in &witness.others {
        match native::failing_call(other) {
            Some(call) => failing.push(call),
            // It may hold anything: that does not keep the program from being run.
            None if other.starts_with("what was never set") => {}
            None => return None,
        }
    }
    if !witness.files.iter().all(|file| is_below(&file.name)) {
        return None;
    }
    let files = witness.files.iter();
    let files =
        files.filter_map(|file| Some((PathBuf::from(&file.name), bytes(file.content.as_ref()?))));
    let environment = witness.environment.iter();
    let environment = environment.filter_map(|v| Some((bytes(&v.name), bytes(v.value.as_ref()?))));
    Some(Surroundings { environment: environment.collect(), files: files.collect(), failing })
}

/// Arguments and standard input of a witness.
pub(crate) fn native_input(witness: &RunInput) -> Input {
    Input {
        arguments: witness.arguments.iter().map(bytes).collect(),
        stdin: witness.stdin.as_deref().map(bytes).unwrap_or_default(),
        ..Input::default()
    }
}

/// The bytes of a text with one character for each.
fn bytes(text: impl AsRef<str>) -> Vec<u8> {
    text.as_ref().chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

fn is_below(name: &str) -> bool {
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    !name.is_empty() && Path::new(name).components().all(is_plain)
}

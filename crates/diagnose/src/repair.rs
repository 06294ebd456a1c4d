//! The default way: enumerate edits, replay, check, rank.

use std::collections::{BTreeMap, BTreeSet};

use base::Cancel;
use findings::{Change, Place, Repair};
use interpret::{Inputs, Machine};
use program::{BlockId, FunctionId, Program};
use syntax::Source;

use crate::edits::{self, Edit};
use crate::explore::{BOUNDS, Ending, Explored, RUNS_AFTER, Search, Violation, ending, loc_of};
use crate::judge::{Given, Judge, Outcome};
use crate::meta::Meta;
use crate::rank::Evidence;
use crate::trace::{self, Trace};
use crate::{Compile, DiagnoseError, Rejected, Request, check};

/// Edits of one request, likeliest first.
const MAX_EDITS: usize = 4000;
/// Other inputs every edit must survive.
const MAX_SAMPLES: usize = 40;

/// Error traces whose solutions are intersected.
const MAX_TRACES: usize = 3;

/// What was found out about a program.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// `None` where no property is violated, as far as was looked.
    pub violation: Option<Found>,
    pub repairs: Vec<Repair>,
    /// What limits what is said.
    pub notes: Vec<String>,
    pub stats: BTreeMap<&'static str, u64>,
}

/// A violated property.
#[derive(Clone, Debug)]
pub struct Found {
    pub rule: &'static str,
    pub message: String,
    pub place: Place,
    pub trace: Trace,
    /// The inputs it happens with, for people.
    pub inputs: String,
}

/// An edit that survived so far.
struct Survivor {
    index: usize,
    evidence: Evidence,
    verified: Vec<String>,
}

pub fn diagnose(
    request: &Request,
    compiler: &dyn Compile,
    cancel: &Cancel,
) -> Result<Diagnosis, DiagnoseError> {
    let entry = entry(request)?;
    let search = Search {
        program: request.program,
        entry: &entry,
        selected: None,
        max_runs: request.options.search_runs,
        max_steps: request.options.steps,
        resources: request.options.resources,
        runs_after: RUNS_AFTER,
        max_unknown: 30,
    };
    let wanted = |violation: &Violation| request.target.matches(request.program, violation);
    let mut explored = search.run(&wanted, cancel);
    // Faults of one group are diagnosed together: each needs a failing run of its own.
    for target in request.target.singly().into_iter().skip(1) {
        let wanted = |violation: &Violation| target.matches(request.program, violation);
        if !explored.violations.iter().any(wanted) {
            explored.violations.extend(search.run(&wanted, cancel).violations);
        }
    }
    check(cancel)?;
    let mut diagnosis = Diagnosis::default();
    diagnosis.stats.insert("search runs", explored.n_runs.into());
    diagnosis.stats.insert("solver checks", explored.n_checks);
    let failing = failing(request, &entry, &explored);
    let Some(failing) = failing else {
        diagnosis.notes.push(match &explored.incomplete {
            Some(why) => {
                format!("no violated property was found in {} runs; {why}", explored.n_runs)
            }
            None => format!(
                "no property is violated on any of {} paths within the bounds",
                explored.n_runs
            ),
        });
        return Ok(diagnosis);
    };
    let found = found(request, &entry, &failing);
    let samples = samples(request, &explored, &failing);
    let trace = found.trace.clone();
    diagnosis.violation = Some(found);
    let mined = crate::trust::mine(request.program);
    diagnosis.stats.insert("properties proved", mined.n_proved as u64);
    diagnosis.stats.insert("properties left to search", mined.n_open as u64);
    if let Some(settings) = request.paper {
        let failing = traces(request, &search, &explored, failing, settings.config, cancel);
        let (repairs, notes) = crate::paper::localise(
            request,
            compiler,
            settings,
            (&entry, &failing),
            (&trace, &mined),
            cancel,
        )?;
        diagnosis.repairs = repairs;
        diagnosis.notes.extend(notes);
        return Ok(diagnosis);
    }
    let workshop = Workshop { request, compiler, cancel, entry: &entry, mined: &mined };
    workshop.repair(&failing, &samples, &trace, &mut diagnosis)?;
    Ok(diagnosis)
}

/// The failing input, and from the second configuration on others that violate the same
/// property.
fn traces(
    request: &Request,
    search: &Search,
    explored: &Explored,
    failing: Given,
    config: crate::Config,
    cancel: &Cancel,
) -> Vec<Given> {
    let mut traces = vec![failing];
    let first = explored.violations.iter().find(|v| request.target.matches(request.program, v));
    let (Some(first), true) = (first, config >= crate::Config::Constraints) else {
        return traces;
    };
    for given in search.run_all(first.at, MAX_TRACES, cancel) {
        if !traces.contains(&given) && traces.len() < MAX_TRACES {
            traces.push(given);
        }
    }
    traces
}

fn entry(request: &Request) -> Result<String, DiagnoseError> {
    let has =
        |name: &str| request.program.functions.iter().any(|f| *f.name == *name && f.body.is_some());
    match &request.entry {
        Some(name) if has(name) => Ok(name.clone()),
        Some(name) => Err(DiagnoseError::NoEntry(name.clone())),
        None if has("main") => Ok("main".to_owned()),
        None => {
            // The only function that nothing else could be meant by.
            let bodies = request.program.functions.iter().filter(|f| f.body.is_some());
            let names: Vec<&str> = bodies.map(|f| &*f.name).collect();
            match names[..] {
                [only] => Ok(only.to_owned()),
                _ => Err(DiagnoseError::NoMain),
            }
        }
    }
}

/// The input to diagnose: what the search found, else a test that violates a property.
fn failing(request: &Request, entry: &str, explored: &Explored) -> Option<Given> {
    let wanted = |v: &&Violation| request.target.matches(request.program, v);
    if let Some(violation) = explored.violations.iter().find(wanted) {
        return Some(Given::Found(violation.inputs.clone(), violation.limits));
    }
    let judge = Judge { program: request.program, entry, max_steps: request.options.steps };
    request.tests.iter().map(|test| Given::Test(test.clone())).find(|given| {
        let outcome = judge.run(None, given);
        matches!(outcome.ending, Ending::Violates(_))
    })
}

/// Runs the failing input once more and tells what happens.
fn found(request: &Request, entry: &str, failing: &Given) -> Found {
    let program = request.program;
    let mut machine = Machine::new(program, request.options.steps).ok();
    let mut result = Ok(None);
    let mut record = interpret::Record::default();
    let mut at = None;
    if let Some(machine) = &mut machine {
        machine.start_record();
        result = match failing {
            Given::Found(inputs, limits) => machine.run_unknown(entry, inputs, limits, false),
            Given::Test(test) => machine.run_main(&test.arguments, &test.stdin),
        };
        record = machine.take_record();
        at = machine.stopped_at;
    }
    let property = match ending(&result) {
        Ending::Violates(property) => property,
        _ => crate::Property::Assertion,
    };
    let message = property.message().to_owned();
    let trace = trace::trace(program, &record, property, &message);
    let place = at.map(|at| trace::place(program, loc_of(program, at), at.0)).unwrap_or_default();
    Found { rule: property.rule(), message, place, trace, inputs: describe(failing) }
}

/// Inputs other than the failing one.
fn samples(request: &Request, explored: &Explored, failing: &Given) -> Vec<Given> {
    let passing = explored.passing.iter();
    let passing = passing.map(|(inputs, limits)| Given::Found(inputs.clone(), *limits));
    let mut samples: Vec<Given> = passing.collect();
    // The last ones went furthest.
    samples.reverse();
    samples.truncate(MAX_SAMPLES);
    // What else fails at the same place must be mended as well, and so must other faults of
    // the same group.
    let matching = |v: &&Violation| request.target.matches(request.program, v);
    let first = explored.violations.iter().find(matching).map(|v| v.at);
    let meant = explored
        .violations
        .iter()
        .filter(|v| Some(v.at) == first || request.target.lines.len() > 1 && matching(v));
    samples.extend(meant.map(|v| Given::Found(v.inputs.clone(), v.limits)));
    samples.retain(|sample| sample != failing);
    samples
}

struct Workshop<'a> {
    request: &'a Request<'a>,
    compiler: &'a dyn Compile,
    cancel: &'a Cancel,
    entry: &'a str,
    mined: &'a crate::trust::Mined,
}

/// Edits in a compiled repair program.
struct Bench {
    edits: Vec<Edit>,
    program: Program,
    paths: Vec<String>,
    /// Global, element and value of each edit.
    selectors: Vec<(String, u32, u32)>,
}

impl Workshop<'_> {
    fn repair(
        &self,
        failing: &Given,
        samples: &[Given],
        trace: &Trace,
        diagnosis: &mut Diagnosis,
    ) -> Result<(), DiagnoseError> {
        let sources: Vec<Source> =
            self.request.files.iter().map(|file| Source::parse(file.text.clone())).collect();
        let edits = self.enumerate(&sources, trace);
        diagnosis.stats.insert("edits", edits.len() as u64);
        let bench = self.compile(&sources, edits)?;
        diagnosis.stats.insert("edits that compile", bench.edits.len() as u64);
        let original = self.judge(&bench).run(None, failing);
        let max_steps = original.n_steps * 20 + 20_000;
        let judge =
            Judge { max_steps: max_steps.min(self.request.options.steps), ..self.judge(&bench) };
        let before = Coverage::of(&bench, &judge, None, failing, samples, self.request);
        let mut survivors = Vec::new();
        for index in 0..bench.edits.len() {
            check(self.cancel)?;
            survivors.extend(self.try_edit(
                &bench,
                &judge,
                index,
                (failing, samples),
                &before,
                (trace, &sources),
            ));
        }
        diagnosis.stats.insert("edits that survive", survivors.len() as u64);
        let key = |survivor: &Survivor| {
            let edit = &bench.edits[survivor.index];
            (
                survivor.evidence.cost(),
                survivor.evidence.distance,
                edit.file,
                edit.bytes.start,
                survivor.index,
            )
        };
        survivors.sort_by_key(key);
        self.check_best(&bench, &mut survivors, max_steps)?;
        let repairs = survivors.iter().take(self.request.options.top).zip(1..);
        diagnosis.repairs =
            repairs.map(|(survivor, rank)| self.report(&bench, survivor, rank, &sources)).collect();
        if diagnosis.repairs.is_empty() {
            diagnosis.notes.push(format!(
                "none of {} changes from the annotation library removes the violation",
                bench.edits.len()
            ));
        }
        Ok(())
    }

    fn judge<'b>(&'b self, bench: &'b Bench) -> Judge<'b> {
        Judge { program: &bench.program, entry: self.entry, max_steps: self.request.options.steps }
    }

    fn enumerate(&self, sources: &[Source], trace: &Trace) -> Vec<Edit> {
        let mut all = Vec::new();
        for (index, file) in self.request.files.iter().enumerate() {
            let lines: BTreeSet<u32> = trace
                .executed
                .iter()
                .filter(|(path, _)| *path == file.path)
                .map(|(_, line)| *line)
                .collect();
            all.extend(edits::enumerate(&sources[index], index, &self.request.library, &lines));
        }
        all.sort_by_key(|edit| u32::MAX - edit.weight);
        all.truncate(MAX_EDITS);
        all
    }

    /// Compiles all edits at once, leaving out those the compiler objects to.
    fn compile(&self, sources: &[Source], mut edits: Vec<Edit>) -> Result<Bench, DiagnoseError> {
        for _ in 0..20 {
            check(self.cancel)?;
            let mut texts = Vec::new();
            let mut metas = Vec::new();
            let mut selectors = vec![(String::new(), 0, 0); edits.len()];
            for (file, source) in sources.iter().enumerate() {
                let of_file: Vec<usize> =
                    (0..edits.len()).filter(|index| edits[*index].file == file).collect();
                let own: Vec<Edit> = of_file.iter().map(|index| edits[*index].clone()).collect();
                let meta = Meta::write(source, file, &own);
                for (position, index) in of_file.iter().enumerate() {
                    let (element, value) = meta.selectors[position];
                    selectors[*index] = (meta.global.clone(), element, value);
                }
                texts.push(meta.text.clone());
                metas.push((of_file, meta));
            }
            let errors = match self.compiler.compile(&texts) {
                Ok(compiled) => {
                    let (program, paths) = (compiled.program, compiled.paths);
                    return Ok(Bench { edits, program, paths, selectors });
                }
                Err(Rejected::Failed(why)) => return Err(DiagnoseError::Uncompilable(why)),
                Err(Rejected::At(errors)) => errors,
            };
            let mut dropped = BTreeSet::new();
            for (file, line, column) in errors {
                let Some((of_file, meta)) = metas.get(file) else { continue };
                dropped.extend(meta.edits_at(line, column).into_iter().map(|at| of_file[at]));
            }
            if dropped.is_empty() {
                let why = "the compiler objects to something else".to_owned();
                return Err(DiagnoseError::Uncompilable(why));
            }
            let mut index = 0;
            edits.retain(|_| {
                index += 1;
                !dropped.contains(&(index - 1))
            });
        }
        Err(DiagnoseError::Uncompilable("too many changes do not compile".to_owned()))
    }

    fn try_edit(
        &self,
        bench: &Bench,
        judge: &Judge,
        index: usize,
        (failing, samples): (&Given, &[Given]),
        before: &Coverage,
        (trace, sources): (&Trace, &[Source]),
    ) -> Option<Survivor> {
        let (global, element, value) = &bench.selectors[index];
        let selected = Some((global.as_str(), *element, *value));
        let first = judge.run(selected, failing);
        if !is_fine(&first, failing) {
            return None;
        }
        let mut covered = first.covered.clone();
        for sample in samples {
            let outcome = judge.run(selected, sample);
            if outcome.ending != Ending::Fine {
                return None;
            }
            covered.extend(outcome.covered);
        }
        for test in &self.request.tests {
            let given = Given::Test(test.clone());
            let outcome = judge.run(selected, &given);
            if !outcome.passes(test) {
                return None;
            }
            covered.extend(outcome.covered);
        }
        let mut verified = vec!["the failing run finishes".to_owned()];
        if !samples.is_empty() {
            verified.push(format!("{} other inputs violate nothing", samples.len()));
        }
        match self.request.tests.len() {
            0 => {}
            1 => verified.push("the test passes".to_owned()),
            n => verified.push(format!("all {n} tests pass")),
        }
        let evidence = self.evidence(bench, index, &covered, before, trace, sources);
        Some(Survivor { index, evidence, verified })
    }

    fn evidence(
        &self,
        bench: &Bench,
        index: usize,
        covered: &BTreeSet<(FunctionId, BlockId)>,
        before: &Coverage,
        trace: &Trace,
        sources: &[Source],
    ) -> Evidence {
        let edit = &bench.edits[index];
        let source = &sources[edit.file];
        let path = &self.request.files[edit.file].path;
        let (first, _) = source.position(edit.statement.start);
        let (last, _) = source.position(edit.statement.end.saturating_sub(1));
        let mut lines = first..=last;
        let in_slice = lines.any(|line| trace.sliced.contains(&(path.clone(), line)));
        let now = lines_of(bench, covered);
        let newly_dead = before.lines.difference(&now).count() as u32;
        let (line, _) = source.position(edit.bytes.start);
        let steps = trace.steps.iter().rev();
        let position = steps.take_while(|step| step.place.line != line).count();
        Evidence {
            weight: edit.weight,
            in_slice,
            newly_dead,
            is_trusted: self.is_trusted(edit, path, source),
            is_proved: false,
            distance: position,
        }
    }

    fn is_trusted(&self, edit: &Edit, path: &str, source: &Source) -> bool {
        let (line, _) = source.position(edit.bytes.start);
        let is_in =
            |is_condition| self.mined.trusted.contains(&(path.to_owned(), line, is_condition));
        let expressions = source.expressions(&edit.statement);
        let in_condition = expressions.iter().any(|e| {
            e.parent.1 == Some("condition")
                && e.bytes.start <= edit.bytes.start
                && edit.bytes.end <= e.bytes.end
        });
        is_in(in_condition)
    }

    /// Bounded checks of the best edits; what violates something is dropped, and what it
    /// fails on is tried on the others.
    fn check_best(
        &self,
        bench: &Bench,
        survivors: &mut Vec<Survivor>,
        max_steps: u64,
    ) -> Result<(), DiagnoseError> {
        let judge = Judge { max_steps, ..self.judge(bench) };
        let mut at = 0;
        while at < survivors.len().min(self.request.options.checked) {
            check(self.cancel)?;
            let (global, element, value) = &bench.selectors[survivors[at].index];
            let search = Search {
                program: &bench.program,
                entry: self.entry,
                selected: Some((global, *element, *value)),
                max_runs: self.request.options.check_runs,
                max_steps: max_steps.max(self.request.options.steps / 4),
                resources: self.request.options.resources / 3,
                runs_after: 0,
                max_unknown: 3,
            };
            let explored = search.run(&|_| true, self.cancel);
            if let Some(violation) = explored.violations.first() {
                let counter = Given::Found(violation.inputs.clone(), violation.limits);
                survivors.remove(at);
                survivors.retain(|survivor| {
                    let (global, element, value) = &bench.selectors[survivor.index];
                    let outcome = judge.run(Some((global, *element, *value)), &counter);
                    !matches!(outcome.ending, Ending::Violates(_))
                });
                continue;
            }
            let survivor = &mut survivors[at];
            survivor.evidence.is_proved = explored.incomplete.is_none();
            survivor.verified.push(match &explored.incomplete {
                None if explored.n_runs == 1 => "the only path is free of violations".to_owned(),
                None => format!(
                    "all {} paths within the bounds are free of violations",
                    explored.n_runs
                ),
                Some(_) => format!("{} paths are free of violations", explored.n_runs),
            });
            at += 1;
        }
        Ok(())
    }

    fn report(&self, bench: &Bench, survivor: &Survivor, rank: u32, sources: &[Source]) -> Repair {
        let edit = &bench.edits[survivor.index];
        let source = &sources[edit.file];
        let (line, column) = source.position(edit.bytes.start);
        let place = Place {
            file: self.request.files[edit.file].path.clone(),
            line,
            column,
            function: edit.function.clone(),
        };
        Repair {
            rank,
            fault: None,
            changes: vec![Change { place, old: source.slice(&edit.bytes), new: edit.new.clone() }],
            // The fault has the error trace.
            steps: Vec::new(),
            verified: survivor.verified.clone(),
            why: edit.kind.replace('-', " "),
        }
    }
}

/// Lines that the program ran on some input.
struct Coverage {
    lines: BTreeSet<(usize, u32)>,
}

impl Coverage {
    fn of(
        bench: &Bench,
        judge: &Judge,
        selected: Option<(&str, u32, u32)>,
        failing: &Given,
        samples: &[Given],
        request: &Request,
    ) -> Self {
        let mut covered = judge.run(selected, failing).covered;
        for sample in samples {
            covered.extend(judge.run(selected, sample).covered);
        }
        for test in &request.tests {
            covered.extend(judge.run(selected, &Given::Test(test.clone())).covered);
        }
        Self { lines: lines_of(bench, &covered) }
    }
}

fn lines_of(bench: &Bench, covered: &BTreeSet<(FunctionId, BlockId)>) -> BTreeSet<(usize, u32)> {
    let program = &bench.program;
    let mut lines = BTreeSet::new();
    for (function, block) in covered {
        let Some(body) = &program.functions[*function].body else { continue };
        for inst in body.blocks[*block].inst_ids() {
            let loc = &program.locs[body.insts[inst].loc];
            let path = program.files.get(loc.file).map(|file| file.path.as_str());
            let file = bench.paths.iter().position(|known| Some(known.as_str()) == path);
            lines.extend(file.filter(|_| loc.line > 0).map(|file| (file, loc.line)));
        }
    }
    lines
}

fn is_fine(outcome: &Outcome, given: &Given) -> bool {
    match given {
        Given::Found(..) => outcome.ending == Ending::Fine,
        Given::Test(test) => outcome.passes(test),
    }
}

/// Inputs as people give them.
fn describe(given: &Given) -> String {
    match given {
        Given::Test(test) => format!("test {}", test.name),
        Given::Found(inputs, limits) => describe_inputs(inputs, limits.argument_bytes),
    }
}

fn describe_inputs(inputs: &Inputs, bytes: u32) -> String {
    use interpret::Input;
    let mut parts = Vec::new();
    let n_arguments = inputs.get(Input::ArgumentCount) as u32;
    for index in 1..=n_arguments.min(BOUNDS[2].arguments) {
        let text = (0..bytes).map(|byte| inputs.get(Input::Argument { index, byte }) as u8);
        let text: Vec<u8> = text.take_while(|byte| *byte != 0).collect();
        parts.push(format!("argument {index} {:?}", String::from_utf8_lossy(&text)));
    }
    let length = inputs.get(Input::StdinLength) as u32;
    if length > 0 {
        let text: Vec<u8> =
            (0..length.min(256)).map(|at| inputs.get(Input::Stdin(at)) as u8).collect();
        parts.push(format!("standard input {:?}", String::from_utf8_lossy(&text)));
    }
    for (input, value) in &inputs.0 {
        match input {
            Input::Parameter(index) => {
                parts.push(format!("parameter {} is {}", index + 1, *value as u32 as i32))
            }
            Input::Outside(index) => {
                parts.push(format!("call {} outside gives {value}", index + 1))
            }
            _ => {}
        }
    }
    if parts.is_empty() { "no input".to_owned() } else { parts.join(", ") }
}

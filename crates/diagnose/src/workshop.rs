//! Where edits are tried: compiled into one repair program, replayed, checked and put in order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use base::Cancel;
use findings::Repair;
use interpret::FaultKind;
use program::{BlockId, FunctionId, Program};
use syntax::{Source, StatementKind};

use crate::coverage::{Coverage, lines_of};
use crate::edits::{self, Edit};
use crate::meta::Meta;
use crate::rank::{self, Evidence};
use crate::repair::{Diagnosis, Others};
use crate::verify::Verifier;
use crate::{Compile, DiagnoseError, Rejected, Request, check};
use explore::ending::{Ending, Property, loc_of};
use explore::judge::{Given, Judge, Outcome};
use explore::trace::Trace;

/// Edits of one request, likeliest first.
const MAX_EDITS: usize = 4000;
/// An edit that survived so far.
pub struct Survivor {
    pub index: usize,
    pub evidence: Evidence,
    pub verified: Vec<String>,
    /// By a bounded search of its own.
    pub is_checked: bool,
}

pub struct Workshop<'a> {
    pub request: &'a Request<'a>,
    pub compiler: &'a dyn Compile,
    pub cancel: &'a Cancel,
    pub entry: &'a str,
    pub mined: &'a crate::trust::Mined,
    /// What nobody has set may hold anything.
    pub unset_is_input: bool,
}

/// A line of a function of the repair program.
pub type Line = (FunctionId, u32);

/// Why an edit is no repair.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Dropped {
    StillViolates,
    /// What was violated is not, but something else is, later on the same run.
    ViolatesLater(Line),
    Endless,
    OtherInput,
    /// The test of this name.
    Test(String),
}

/// Edits in a compiled repair program.
pub struct Bench {
    edits: Vec<Edit>,
    pub program: Program,
    pub paths: Vec<String>,
    /// Global, element and value of each edit.
    selectors: Vec<(String, u32, u32)>,
}

impl Bench {
    /// What switches an edit on.
    pub fn selector(&self, index: usize) -> (&str, u32, u32) {
        let (global, element, value) = &self.selectors[index];
        (global, *element, *value)
    }
}

impl Workshop<'_> {
    pub fn repair(
        &self,
        failing: &Given,
        others: &Others,
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
        let before = Coverage::of(&bench, &judge, failing, others, self.request);
        let mut survivors = Vec::new();
        let mut dropped: Vec<(usize, Dropped)> = Vec::new();
        let about = (trace, &sources[..]);
        let given = (failing, others);
        for index in 0..bench.edits.len() {
            check(self.cancel)?;
            match self.try_edit(&bench, &judge, index, (given, None), &before, about) {
                Ok(survivor) => survivors.push(survivor),
                Err(why) => dropped.push((index, why)),
            }
        }
        // Behind one fault there may be another.
        let behind = behind(&bench, &dropped);
        for (index, why) in &dropped {
            let Dropped::ViolatesLater(line) = why else { continue };
            check(self.cancel)?;
            let tolerated = Some(*line).filter(|line| behind.contains(line));
            if tolerated.is_some() {
                let given = (given, tolerated);
                survivors.extend(self.try_edit(&bench, &judge, *index, given, &before, about).ok());
            }
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
        count_alternatives(&bench, &mut survivors);
        survivors.sort_by_key(key);
        let verifier = Verifier::new(self, &bench, max_steps, (failing, original.at), behind);
        verifier.check_best(&mut survivors)?;
        let (of_property, survivors): (Vec<_>, Vec<_>) =
            survivors.into_iter().partition(|survivor| survivor.evidence.is_property);
        diagnosis.has_no_change =
            survivors.iter().all(|survivor| survivor.evidence.is_switched_off());
        let mut survivors = rank::spread(survivors, |survivor| {
            let edit = &bench.edits[survivor.index];
            (edit.file, sources[edit.file].position(edit.bytes.start).0)
        });
        // It may be what is asserted that is wrong, which is worth one of the first places.
        let mut of_property = of_property.into_iter();
        let at = rank::SHOWN.saturating_sub(1).min(survivors.len());
        of_property.next().into_iter().for_each(|best| survivors.insert(at, best));
        survivors.extend(of_property);
        let repairs = survivors.iter().take(self.request.options.top).zip(1..);
        diagnosis.repairs =
            repairs.map(|(survivor, rank)| self.report(&bench, survivor, rank, &sources)).collect();
        if diagnosis.repairs.is_empty() {
            let mut reasons: BTreeMap<Dropped, usize> = BTreeMap::new();
            for (_, why) in dropped {
                let why = match why {
                    Dropped::ViolatesLater(_) => Dropped::StillViolates,
                    why => why,
                };
                *reasons.entry(why).or_default() += 1;
            }
            diagnosis.notes.push(no_repair(&reasons));
        }
        Ok(())
    }

    fn judge<'b>(&'b self, bench: &'b Bench) -> Judge<'b> {
        Judge { program: &bench.program, entry: self.entry, max_steps: self.request.options.steps }
    }

    fn enumerate(&self, sources: &[Source], trace: &Trace) -> Vec<Edit> {
        let mut all = Vec::new();
        let files = self.request.files.iter().enumerate();
        for (index, file) in files.filter(|(_, file)| !file.is_kept) {
            let lines: BTreeSet<u32> = trace
                .executed
                .iter()
                .filter(|(path, _)| *path == file.path)
                .map(|(_, line)| *line)
                .collect();
            let library = &self.request.library;
            all.extend(edits::enumerate(&sources[index], index, library, &lines));
            let failing = trace.steps.last().filter(|step| step.place.file == file.path);
            if let (Some(failing), Some(violated)) = (failing, trace.violated) {
                let at = (failing.place.line, violated);
                all.extend(edits::guards(&sources[index], index, library, at));
            }
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
        ((failing, others), tolerated): ((&Given, &Others), Option<Line>),
        before: &Coverage,
        (trace, sources): (&Trace, &[Source]),
    ) -> Result<Survivor, Dropped> {
        let selected = Some(bench.selector(index));
        let first = judge.run(selected, failing);
        let goes_on = match (&first.ending, failing) {
            (Ending::Violates(_), _) => {
                let later = later(bench, &first, &before.failing);
                match later.filter(|_| later == tolerated) {
                    Some((_, line)) => Some(format!(
                        "another violation follows in line {line}, which this one hid"
                    )),
                    None => {
                        return Err(later.map_or(Dropped::StillViolates, Dropped::ViolatesLater));
                    }
                }
            }
            (Ending::Fine, Given::Test(test)) if !first.passes(test) => {
                return Err(Dropped::Test(test.name.clone()));
            }
            (Ending::Fine, _) => None,
            (Ending::Unclear(_), _) if first.is_endless => return Err(Dropped::Endless),
            (Ending::Unclear(why), _) => Some(why.clone()),
        };
        let mut covered = first.covered.clone();
        let (mut n_changed, mut n_compared) = (0, 0);
        for (sample, original) in others.samples.iter().zip(&before.samples) {
            let outcome = judge.run(selected, sample);
            let is_tolerated = tolerated.is_some_and(|line| line_of(bench, &outcome) == Some(line));
            if outcome.ending != Ending::Fine && !is_tolerated {
                return Err(Dropped::OtherInput);
            }
            if original.ending == Ending::Fine {
                n_compared += 1;
                n_changed += u32::from(!outcome.does_the_same(original));
            }
            covered.extend(outcome.covered);
        }
        for test in &self.request.tests {
            let given = Given::Test(test.clone());
            let outcome = judge.run(selected, &given);
            if !outcome.passes(test) {
                return Err(Dropped::Test(test.name.clone()));
            }
            covered.extend(outcome.covered);
        }
        let mut left = Vec::new();
        for other in &others.violating {
            let outcome = judge.run(selected, other);
            if outcome.ending != Ending::Fine {
                left.push(outcome.at.map(|at| line(&bench.program, at)));
            }
            covered.extend(outcome.covered);
        }
        let mut verified = vec![match &goes_on {
            None if first.is_waiting => {
                "the failing run goes on without a violation as long as it was followed".to_owned()
            }
            None => "the failing run finishes".to_owned(),
            Some(why) => format!("the failing run goes on, but not to its end: {why}"),
        }];
        match others.samples.len() {
            0 => {}
            1 => verified.push("another input violates nothing".to_owned()),
            n => verified.push(format!("{n} other inputs violate nothing")),
        }
        match self.request.tests.len() {
            0 => {}
            1 => verified.push("the test passes".to_owned()),
            n => verified.push(format!("all {n} tests pass")),
        }
        verified.extend(told_left(&left));
        let evidence = self.evidence(bench, index, &covered, before, trace, sources);
        if evidence.newly_dead > 0 {
            let (n, of) = (evidence.newly_dead, evidence.n_lines);
            verified.push(format!("these inputs reach {n} of {of} lines no more"));
        }
        let evidence = Evidence {
            n_left: left.len() as u32,
            n_changed,
            n_compared,
            is_unclear: goes_on.is_some(),
            // A limit that is one off is mended by doing less.
            is_shorter: first.n_steps < before.failing.n_steps
                && !bench.edits[index].is_about_equality(&sources[bench.edits[index].file]),
            ..evidence
        };
        Ok(Survivor { index, evidence, verified, is_checked: false })
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
        // No slice has what was not written, nor a declaration.
        let cannot_be = trace.violated == Some(Property::Fault(FaultKind::Uninitialised))
            || matches!(edit.kind, "array-too-short" | "array-length");
        let in_slice = cannot_be || lines.any(|line| trace.sliced.contains(&(path.clone(), line)));
        let now = lines_of(bench, covered);
        let newly_dead = before.lines.difference(&now).count() as u32;
        let (line, _) = source.position(edit.bytes.start);
        let steps = trace.steps.iter().rev();
        let position = steps.take_while(|step| step.place.line != line).count();
        Evidence {
            weight: edit.weight,
            in_slice,
            newly_dead,
            n_lines: before.lines.len() as u32,
            is_trusted: self.is_trusted(edit, path, source),
            n_left: 0,
            n_changed: 0,
            n_compared: 0,
            is_shorter: false,
            is_unclear: false,
            is_property: trace.violated == Some(Property::Assertion)
                && trace.steps.last().is_some_and(|step| {
                    let line = step.place.line;
                    step.place.file == *path
                        && ((first..=last).contains(&line) || only_guards(source, edit, line))
                }),
            is_guard: is_guard(edit.kind, path, first..=last, trace),
            n_better_here: 0,
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

    fn report(&self, bench: &Bench, survivor: &Survivor, rank: u32, sources: &[Source]) -> Repair {
        let edit = &bench.edits[survivor.index];
        let source = &sources[edit.file];
        let path = &self.request.files[edit.file].path;
        Repair {
            rank,
            fault: None,
            changes: vec![edit.change(path, source)],
            // The fault has the error trace.
            steps: Vec::new(),
            verified: survivor.verified.clone(),
            why: edit.why(source),
        }
    }
}

fn line(program: &Program, at: (FunctionId, interpret::Point)) -> u32 {
    program.locs[explore::ending::loc_of(program, at)].line
}

/// Violations of other properties that an edit leaves, by their lines.
fn told_left(left: &[Option<u32>]) -> Option<String> {
    let lines: BTreeSet<u32> = left.iter().flatten().copied().filter(|line| *line > 0).collect();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let place = match &lines[..] {
        [] => String::new(),
        [line] => format!(" in line {line}"),
        lines => format!(" in lines {}", lines.join(", ")),
    };
    match left.len() {
        0 => None,
        1 => Some(format!("a violation{place} is left, which was there before")),
        n => Some(format!("{n} violations{place} are left, which were there before")),
    }
}

/// Of several edits of one place the first may be right; were it not, the place is less likely
/// wrong at all, and others come before the rest.
fn count_alternatives(bench: &Bench, survivors: &mut [Survivor]) {
    let mut counts: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for survivor in survivors {
        let edit = &bench.edits[survivor.index];
        let count = counts.entry((edit.file, edit.bytes.start)).or_default();
        survivor.evidence.n_better_here = *count;
        *count += 1;
    }
}

/// Whether an edit of these lines adds a test of just what is violated there.
fn is_guard(kind: &str, path: &str, mut lines: RangeInclusive<u32>, trace: &Trace) -> bool {
    let is_access = trace.violated == Some(Property::Fault(FaultKind::OutOfBounds));
    if is_access && matches!(kind, "missing-limit" | "missing-full-test" | "unbounded-copy") {
        return true;
    }
    let is_meant = match trace.violated {
        _ if kind == "missing-exit-test" => true,
        Some(Property::Fault(FaultKind::Null)) => kind == "missing-null-test",
        Some(Property::Fault(FaultKind::OutOfBounds)) => kind == "missing-bound-test",
        _ => false,
    };
    let failing = trace.steps.last().map(|step| &step.place);
    is_meant && failing.is_some_and(|at| at.file == path && lines.any(|line| line == at.line))
}

/// Whether an edit changes the `if` that decides about nothing but what stands in a line: the
/// condition of an `abort();` says what is meant.
fn only_guards(source: &Source, edit: &Edit, line: u32) -> bool {
    let statements = source.statements();
    let own = statements.iter().find(|s| s.bytes == edit.statement);
    let Some(own) = own.filter(|s| s.kind == StatementKind::If) else { return false };
    let mut inside = statements
        .iter()
        .filter(|s| own.whole.contains(&s.bytes.start) && s.bytes != own.bytes)
        .filter(|s| s.kind != StatementKind::Other);
    inside.clone().count() == 1 && inside.all(|s| source.position(s.bytes.start).0 == line)
}

/// Where a run stopped.
fn line_of(bench: &Bench, outcome: &Outcome) -> Option<Line> {
    let at = outcome.at?;
    let loc = bench.program.locs.get(loc_of(&bench.program, at))?;
    Some((at.0, loc.line))
}

/// Where the run of an edited program violates something else, after what failed before.
fn later(bench: &Bench, edited: &Outcome, failing: &Outcome) -> Option<Line> {
    let (now, before) = (line_of(bench, edited)?, line_of(bench, failing)?);
    (now != before && edited.n_steps > failing.n_steps).then_some(now)
}

/// Violations that come up whichever of several lines is changed: they are there without the
/// change as well, behind the one that is diagnosed.
fn behind(bench: &Bench, dropped: &[(usize, Dropped)]) -> BTreeSet<Line> {
    let mut causes: BTreeMap<Line, BTreeSet<(usize, usize)>> = BTreeMap::new();
    for (index, why) in dropped {
        if let Dropped::ViolatesLater(line) = why {
            let edit = &bench.edits[*index];
            causes.entry(*line).or_default().insert((edit.file, edit.statement.start));
        }
    }
    causes.into_iter().filter(|(_, places)| places.len() > 1).map(|(line, _)| line).collect()
}

/// Why there is none.
fn no_repair(dropped: &BTreeMap<Dropped, usize>) -> String {
    let n_tried: usize = dropped.values().sum();
    let n_still = dropped.get(&Dropped::StillViolates).copied().unwrap_or(0);
    if n_still == n_tried {
        return format!(
            "none of {n_tried} changes from the annotation library removes the violation"
        );
    }
    let told = |(why, n): (&Dropped, &usize)| match why {
        Dropped::StillViolates | Dropped::ViolatesLater(_) => {
            format!("{n} leave a violation on this run")
        }
        Dropped::Endless => format!("{n} do not let it end"),
        Dropped::OtherInput => format!("{n} violate something on other inputs"),
        Dropped::Test(name) => format!("{n} fail test {name}"),
    };
    let told: Vec<String> = dropped.iter().map(told).collect();
    format!("no change is left of {n_tried} from the annotation library: {}", told.join(", "))
}

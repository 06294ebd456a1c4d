//! `firstfault suggest`: how a suspicious statement may be fixed, from how similar ones were.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use base::{Cancel, Edit, Trial, TryEdit};
use bugfix::{Candidate, Evidence, Ranked, Scope, Situation, Store};
use clap::Args;
use findings::{Change, Findings, Notice, Place, Suggestion};
use locate::Which;
use report::Options;
use report::output::Target;
use syntax::Source;

use super::reporting::Reporting;
use super::{Outcome, project};
use crate::args::{KnowledgeArgs, ListFormat, OutputArgs, TestedArgs};
use crate::statement_at::{Marked, evidence_of, lines_of, mark, read_report};
use crate::try_edit::Trials;

#[derive(Args)]
pub struct SuggestArgs {
    #[command(flatten)]
    tested: TestedArgs,
    /// The statement in this line, instead of the most suspicious one
    #[arg(long, value_name = "[FILE:]LINE")]
    line: Option<String>,
    /// A JSON report of check, locate, crash, diagnose or beliefs: its first finding, or the one
    /// in --line or --fault
    #[arg(long, value_name = "REPORT")]
    from: Option<PathBuf>,
    /// A fault of the report: F3
    #[arg(long, value_name = "ID", requires = "from")]
    fault: Option<String>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    /// How many suggestions to give
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Edits tried on the tests at most; 0 tries none
    #[arg(long, value_name = "N", default_value_t = 60)]
    tries: usize,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// No source lines, no reasons
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &SuggestArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    // A knowledge base that cannot be used is said before anything is built.
    let database = args.knowledge.database(&args.tested.run)?;
    let question = question(args, cancel)?;
    let Question { mut findings, marked, evidence } = question;
    let scope = Scope::new(&marked.source);
    let situation = bugfix::situation(&marked.source, &scope, &marked.statement, &evidence);
    let suggested = bugfix::suggested(&database, &situation, args.knowledge.wanted(&database));
    if suggested.is_cut {
        let message = "not all rules were looked at: raise --support".to_owned();
        findings.notices.push(Notice { place: Place::default(), message });
    }
    let mut list = suggested.list;
    list.truncate(args.top);
    let hints = bugfix::alternates(&evidence.sites);
    let candidates = bugfix::candidates(&marked.source, &scope, &marked.statement, &hints);
    let mut tried = Tried::new(args, cancel)?;
    for ranked in list {
        let suggestion = tried.suggestion(&marked, ranked, &candidates)?;
        findings.suggestions.push(suggestion);
    }
    remember(args, &marked, &situation);
    if findings.suggestions.is_empty() {
        let message = format!(
            "no rule learned from {} past fixes applies here; `firstfault learn` adds more",
            database.len()
        );
        findings.notices.push(Notice { place: marked.place.clone(), message });
    }
    findings.rules.push("suggest".to_owned());
    findings.finish();
    let options = Options { brief: args.brief, ..Options::default() };
    let root = project::root(args.tested.project.as_deref())?;
    let (format, state) = (args.format.into(), args.tested.run.state.as_deref());
    Reporting { target: &target, root: &root, format, options, state }.write(&findings)?;
    Ok(Outcome::of(&findings))
}

/// A statement and what is known of it.
struct Question {
    findings: Findings,
    marked: Marked,
    evidence: Evidence,
}

fn question(args: &SuggestArgs, cancel: &Cancel) -> Result<Question> {
    let asked = args.line.as_deref().map(|line| place_of(line, &args.tested.files)).transpose()?;
    let report = args.from.as_deref().map(read_report).transpose()?;
    let (from_report, found) = match &report {
        Some(report) => {
            let (place, found) = evidence_of(report, asked.as_ref(), args.fault.as_deref())?;
            (Some(place), found)
        }
        None => (None, Situation::new()),
    };
    let asked = asked.or(from_report);
    let Some(tests) = &args.tested.tests else {
        let place = asked.ok_or_else(|| {
            anyhow!("which statement? give --tests, --line or --from a JSON report")
        })?;
        let marked = mark(&place)?;
        let evidence = Evidence { sites: Vec::new(), found };
        return Ok(Question { findings: Findings::new(), marked, evidence });
    };
    let which = asked.map_or(Which::Top, Which::At);
    let request = args.tested.request(args.tested.build_options(cancel)?, tests);
    let examined = locate::examine(&request, &which, &lines_of, cancel)?;
    let marked = mark(&examined.place)?;
    let mut findings = examined.findings;
    findings.statements.truncate(usize::from(which == Which::Top));
    let evidence = Evidence { sites: examined.sites, found };
    Ok(Question { findings, marked, evidence })
}

/// `LINE` of the only file, or `FILE:LINE`.
fn place_of(text: &str, files: &[PathBuf]) -> Result<Place> {
    let (file, line) = match text.rsplit_once(':') {
        Some((file, line)) => (file.to_owned(), line),
        None => match files {
            [file] => (file.to_string_lossy().into_owned(), text),
            _ => bail!("in which file is line {text}? give --line FILE:LINE"),
        },
    };
    let line = line.parse().ok().filter(|line| *line > 0);
    let line = line.with_context(|| format!("{text:?} is no line"))?;
    Ok(Place { file, line, ..Place::default() })
}

/// For `learn`, once the fix is known. That there is no place to remember it is no error.
fn remember(args: &SuggestArgs, marked: &Marked, situation: &Situation) {
    let path = args.knowledge.path(&args.tested.run);
    let stored =
        Store::open(&path).and_then(|mut store| store.remember(&marked.statement_key(), situation));
    if let Err(error) = stored {
        crate::log::warning(&format!("the situation is not remembered: {error}"));
    }
}

/// Edits tried so far.
struct Tried<'a> {
    trials: Option<Trials>,
    n_left: usize,
    known: Vec<(Edit, Trial)>,
    cancel: &'a Cancel,
}

impl<'a> Tried<'a> {
    fn new(args: &SuggestArgs, cancel: &'a Cancel) -> Result<Self> {
        let trials = match &args.tested.tests {
            Some(tests) if args.tries > 0 => {
                let build = args.tested.build_options(cancel)?;
                let tests = (tests.as_path(), &args.tested.allow.allowed());
                let mut trials = Trials::new(&build, tests, args.tested.limits(), cancel)?;
                trials.stops_at_failure = true;
                Some(trials)
            }
            _ => None,
        };
        Ok(Self { trials, n_left: args.tries, known: Vec::new(), cancel })
    }

    /// A suggestion with the first edit of its kind that passes all tests; without tests, with
    /// the edit where there is only one.
    fn suggestion(
        &mut self,
        marked: &Marked,
        ranked: Ranked,
        candidates: &[Candidate],
    ) -> Result<Suggestion> {
        let Ranked { rank, rule } = ranked;
        let fitting: Vec<Edit> = candidates
            .iter()
            .filter(|candidate| candidate.fixes.contains(&rule.fix))
            .map(|candidate| as_edit(marked, candidate))
            .collect();
        let mut suggestion = Suggestion {
            rank,
            place: Some(marked.place.clone()),
            description: rule.fix.clone(),
            confidence: rule.confidence(),
            n_fixes: rule.n_both,
            because: rule.descriptors.iter().cloned().collect(),
            changes: Vec::new(),
            verified: Vec::new(),
        };
        if self.trials.is_none() {
            if let [only] = fitting.as_slice() {
                suggestion.changes.push(as_change(only));
            }
            return Ok(suggestion);
        }
        for edit in fitting {
            let Some(trial) = self.trial(&edit) else { break };
            if let (true, Trial::Tested { passed, .. }) = (trial.passes_all(), &trial) {
                suggestion.changes.push(as_change(&edit));
                suggestion.verified.push(format!("passes all {} tests", passed.len()));
                break;
            }
        }
        Ok(suggestion)
    }

    /// Nothing once enough has been tried.
    fn trial(&mut self, edit: &Edit) -> Option<Trial> {
        if let Some((_, trial)) = self.known.iter().find(|(known, _)| known == edit) {
            return Some(trial.clone());
        }
        if self.n_left == 0 || self.cancel.is_cancelled() {
            return None;
        }
        self.n_left -= 1;
        let trial = self.trials.as_ref()?.try_edit(std::slice::from_ref(edit), self.cancel);
        self.known.push((edit.clone(), trial.clone()));
        Some(trial)
    }
}

fn as_edit(marked: &Marked, candidate: &Candidate) -> Edit {
    let (line, column) = marked.source.position(candidate.bytes.start);
    Edit {
        file: PathBuf::from(&marked.place.file),
        line,
        column,
        old: Source::slice(&marked.source, &candidate.bytes),
        new: candidate.new.clone(),
    }
}

fn as_change(edit: &Edit) -> Change {
    let file = edit.file.to_string_lossy().into_owned();
    let place = Place { file, line: edit.line, column: edit.column, ..Place::default() };
    Change { place, old: edit.old.clone(), new: edit.new.clone() }
}

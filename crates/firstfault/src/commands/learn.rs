//! `firstfault learn`: adds fixes to the knowledge base, and shows what is in it.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use base::Cancel;
use bugfix::patch::{self, PatchError};
use bugfix::{
    Database, Evidence, Judged, LeaveOut, NoFix, Repository, Scenario, Scope, Situation,
    StatementFix, Store, statement_fix,
};
use clap::Args;
use findings::Place;
use locate::Which;
use report::output::Target;
use run::ChangedFile;
use syntax::Source;

use super::Outcome;
use crate::args::{KnowledgeArgs, OutputArgs, TestedArgs};
use crate::statement_at::{
    evidence_of, lines_of_statement, read_report, read_source, statement_key,
};

#[derive(Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub struct LearnArgs {
    #[command(flatten)]
    tested: TestedArgs,
    /// The fix of one statement: a diff, or a commit of the repository in this folder
    #[arg(long, value_name = "COMMIT|DIFF", group = "what")]
    fixed_by: Option<String>,
    /// The fix in your own words, besides the descriptions derived from it; may be repeated
    #[arg(long, value_name = "TEXT", requires = "fixed_by")]
    describe: Vec<String>,
    /// Where the fix comes from, instead of the commit or the diff and the file
    #[arg(long, value_name = "NAME", requires = "fixed_by")]
    origin: Option<String>,
    /// A JSON report from before the fix: what it says of the statement is part of the situation
    #[arg(long, value_name = "REPORT", requires = "fixed_by")]
    from: Option<PathBuf>,
    /// All fixes of one statement in the history of the repository in a folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", group = "what")]
    from_history: Option<PathBuf>,
    /// Commits of the history to look at, the newest first
    #[arg(long, value_name = "N", default_value_t = 5000)]
    max_commits: usize,
    /// Another knowledge base, or scenarios as --list writes them
    #[arg(long, value_name = "FILE", group = "what")]
    import: Option<PathBuf>,
    /// Drop what was learned from this origin
    #[arg(long, value_name = "ORIGIN", group = "what")]
    forget: Option<String>,
    /// List what is known, one scenario a line, as JSON
    #[arg(long, group = "what")]
    list: bool,
    /// List the rules that follow from what is known (see --support and --confidence)
    #[arg(long, group = "what")]
    rules: bool,
    /// Ask about each known situation as if it had not been learned, or about the scenarios in a
    /// file as --list writes them, and count right answers
    #[arg(long, value_name = "FILE", num_args = 0..=1, group = "what")]
    evaluate: Option<Option<PathBuf>>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Sets of descriptors looked at when rules are listed.
const MAX_SETS: usize = 50_000;

/// Characters of a description in one's own words.
const MAX_WORDS: usize = 300;

pub fn run(args: &LearnArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let text = if let Some(fixed_by) = &args.fixed_by {
        learn_fix(args, fixed_by, cancel)?
    } else if let Some(folder) = &args.from_history {
        learn_history(args, folder, cancel)?
    } else if let Some(other) = &args.import {
        import(args, other)?
    } else if let Some(origin) = &args.forget {
        let n = store(args)?.forget(origin)?;
        format!("forgot {n} scenarios of {origin}\n")
    } else {
        let database = args.knowledge.database(&args.tested.run)?;
        if args.list {
            listed(&database)?
        } else if args.rules {
            rules(args, &database)
        } else {
            evaluated(args, &database)?
        }
    };
    target.write(text.as_bytes())?;
    Ok(Outcome::Clean)
}

fn store(args: &LearnArgs) -> Result<Store> {
    Ok(Store::open(&args.knowledge.path(&args.tested.run))?)
}

/// A file the fix changes.
struct Fixed {
    path: PathBuf,
    old: Vec<u8>,
    new: Vec<u8>,
}

fn learn_fix(args: &LearnArgs, fixed_by: &str, cancel: &Cancel) -> Result<String> {
    // Said before anything is built: that the knowledge base cannot be used.
    let mut store = store(args)?;
    let (origin, files) = fixed_files(fixed_by, cancel)?;
    let (file, fix) = one_statement(files)?;
    let source = Source::parse(file.old.as_slice());
    let origin = args
        .origin
        .clone()
        .unwrap_or_else(|| format!("{origin}:{}:{}", file.path.display(), fix.statement.function));
    let situation = situation(args, &store, &file, &source, &fix, cancel)?;
    let mut fixes = fix.fixes;
    for words in &args.describe {
        let words = words.trim();
        if words.is_empty() || words.chars().count() > MAX_WORDS || words.contains('\n') {
            bail!("a description is one line of at most {MAX_WORDS} characters");
        }
        fixes.insert(words.to_owned());
    }
    let scenario = Scenario { origin, situation, fixes };
    let n_new = store.learn(std::slice::from_ref(&scenario))?;
    let mut text = String::new();
    let statement = source.slice(&fix.statement.bytes);
    let (line, _) = source.position(fix.statement.bytes.start);
    let word = if n_new == 0 { "known already" } else { "learned" };
    let first = statement.lines().next().unwrap_or("").trim();
    writeln!(text, "{word}: {}:{line}: `{first}`", file.path.display())?;
    writeln!(text, "  fix: {}", joined(&scenario.fixes))?;
    writeln!(text, "  situation: {}", joined(&scenario.situation))?;
    Ok(text)
}

fn joined(items: &std::collections::BTreeSet<String>) -> String {
    items.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Both versions of what a diff or a commit changes, and where that comes from.
fn fixed_files(fixed_by: &str, cancel: &Cancel) -> Result<(String, Vec<Fixed>)> {
    if fixed_by == "-" || Path::new(fixed_by).is_file() {
        let name = Path::new(fixed_by).file_name().unwrap_or_default().to_string_lossy();
        return Ok((name.into_owned(), of_diff(&read_diff(fixed_by)?)?));
    }
    let repository = Repository::new(Path::new("."), cancel);
    let (id, blobs) = repository
        .changed_by(fixed_by)
        .with_context(|| format!("{fixed_by} is neither a diff nor a commit that can be read"))?;
    let fixed = |blob: bugfix::ChangedBlob| -> Result<Fixed, PatchError> {
        let path = patch::inside(&blob.path)?;
        Ok(Fixed { path, old: blob.old, new: blob.new })
    };
    let files: Result<Vec<Fixed>, PatchError> = blobs.into_iter().map(fixed).collect();
    Ok((id.chars().take(12).collect(), files?))
}

fn read_diff(name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = patch::MAX_PATCH as u64 + 1;
    if name == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        let file = std::fs::File::open(name).with_context(|| format!("cannot read {name}"))?;
        file.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn of_diff(diff: &[u8]) -> Result<Vec<Fixed>> {
    let mut files = Vec::new();
    for file in patch::parse(diff)? {
        // A link may lead out of the project, wherever its name says it is.
        let is_link = std::fs::symlink_metadata(&file.path).is_ok_and(|m| m.is_symlink());
        if is_link {
            bail!("{} is a symbolic link", file.path.display());
        }
        let versions = file.versions(&read_source(&file.path)?)?;
        files.push(Fixed { path: file.path, old: versions.old, new: versions.new });
    }
    Ok(files)
}

/// The one file in which one statement changes.
fn one_statement(files: Vec<Fixed>) -> Result<(Fixed, StatementFix)> {
    let mut found = None;
    for file in files {
        match statement_fix(&file.old, &file.new) {
            Ok(fix) if found.is_none() => found = Some((file, fix)),
            Ok(_) => bail!("not a fix of one statement: several files change"),
            Err(NoFix::Nothing) => {}
            Err(why) => bail!("not a fix of one statement: {}: {why}", file.path.display()),
        }
    }
    found.ok_or_else(|| anyhow!("not a fix of one statement: no statement changes"))
}

/// What is known of the statement before it was fixed: from the tests, from when suggestions
/// were made for it, or from its structure alone.
fn situation(
    args: &LearnArgs,
    store: &Store,
    file: &Fixed,
    source: &Source,
    fix: &StatementFix,
    cancel: &Cancel,
) -> Result<Situation> {
    let statement = &fix.statement;
    let name = file.path.to_string_lossy().into_owned();
    let (line, column) = source.position(statement.bytes.start);
    let function = statement.function.clone();
    let place = Place { file: name.clone(), line, column, function };
    let mut evidence = Evidence::default();
    if let Some(report) = &args.from {
        let asked = Some(&place);
        evidence.found = evidence_of(&read_report(report)?, asked, None)?.1;
    }
    if let Some(tests) = &args.tested.tests {
        let home = base::Scratch::new().context("cannot make a scratch folder")?;
        let old = ChangedFile { path: file.path.clone(), text: file.old.clone() };
        let build = args.tested.build_options(cancel)?.with_changed(&[old], home.path())?;
        let lines = lines_of_statement(source, statement);
        let request = args.tested.request(build, tests);
        let examined = locate::examine(&request, &Which::At(place), &|_| lines.clone(), cancel)?;
        evidence.sites = examined.sites;
    } else if evidence.found.is_empty() {
        let text = &file.old[statement.bytes.clone()];
        let key = statement_key(&name, &statement.function, text);
        if let Some(remembered) = store.remembered(&key)? {
            return Ok(remembered);
        }
    }
    Ok(bugfix::situation(source, &Scope::new(source), statement, &evidence))
}

fn learn_history(args: &LearnArgs, folder: &Path, cancel: &Cancel) -> Result<String> {
    let mut store = store(args)?;
    let repository = Repository::new(folder, cancel);
    let (fixes, n_commits) = repository.past_fixes(args.max_commits)?;
    let scenario = |past: &bugfix::PastFix| {
        let source = Source::parse(past.old.as_slice());
        let scope = Scope::new(&source);
        let statement = &past.fix.statement;
        let situation = bugfix::situation(&source, &scope, statement, &Evidence::default());
        let commit: String = past.commit.chars().take(12).collect();
        let origin = format!("{commit}:{}:{}", past.path, statement.function);
        Scenario { origin, situation, fixes: past.fix.fixes.clone() }
    };
    let scenarios: Vec<Scenario> = fixes.iter().map(scenario).collect();
    let n_new = store.learn(&scenarios)?;
    Ok(format!(
        "looked at {n_commits} commits that fix something: {} fix one statement, {n_new} of them \
         are new\n",
        scenarios.len()
    ))
}

fn import(args: &LearnArgs, other: &Path) -> Result<String> {
    let mut store = store(args)?;
    let scenarios = if is_database(other)? {
        let from = Store::open_existing(other)?
            .ok_or_else(|| anyhow!("there is no knowledge base {}", other.display()))?;
        let mut database = Database::new();
        from.load(&mut database)?;
        database.scenarios().collect()
    } else {
        read_scenarios(other)?
    };
    let n_new = store.learn(&scenarios)?;
    Ok(format!("learned {n_new} of {} scenarios\n", scenarios.len()))
}

fn is_database(path: &Path) -> Result<bool> {
    let cannot = || format!("cannot read {}", path.display());
    let mut start = Vec::new();
    std::fs::File::open(path).with_context(cannot)?.take(16).read_to_end(&mut start)?;
    Ok(start.starts_with(b"SQLite format 3"))
}

fn read_scenarios(path: &Path) -> Result<Vec<Scenario>> {
    let bytes = read_source(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let read = |(number, line): (usize, &str)| {
        serde_json::from_str(line)
            .with_context(|| format!("{}:{}: no scenario", path.display(), number + 1))
    };
    text.lines().enumerate().map(read).collect()
}

fn listed(database: &Database) -> Result<String> {
    let mut text = String::new();
    for scenario in database.scenarios() {
        writeln!(text, "{}", serde_json::to_string(&scenario)?)?;
    }
    Ok(text)
}

fn rules(args: &LearnArgs, database: &Database) -> String {
    let scenarios: Vec<Scenario> = database.scenarios().collect();
    let mut found = bugfix::apriori(&scenarios, args.knowledge.thresholds(database), MAX_SETS);
    bugfix::in_reading_order(&mut found.rules);
    let mut text = String::new();
    for rule in &found.rules {
        let percent = rule.confidence() * 100.0;
        let counts = format!("{percent:.0} %, {} of {}", rule.n_both, rule.n_situations);
        text += &format!("{} -> {} ({counts})\n", joined(&rule.descriptors), rule.fix);
    }
    if found.is_cut {
        text += "and more rules with more descriptors: raise --support\n";
    }
    text
}

fn evaluated(args: &LearnArgs, database: &Database) -> Result<String> {
    let wanted = args.knowledge.wanted(database);
    if let Some(Some(file)) = &args.evaluate {
        let judged = bugfix::evaluate_on(database, wanted, read_scenarios(file)?);
        return Ok(counted("asked", &judged) + &missed(&judged));
    }
    let one = bugfix::evaluate(database, wanted, LeaveOut::One);
    let program = bugfix::evaluate(database, wanted, LeaveOut::Program);
    Ok(counted("leave-one-out", &one) + &missed(&one) + &counted("leave-program-out", &program))
}

fn counted(what: &str, judged: &[Judged]) -> String {
    let within = |n: usize| {
        let is_right = |judged: &&Judged| judged.position.is_some_and(|at| at <= n);
        judged.iter().filter(is_right).count()
    };
    format!(
        "{what}: {} scenarios, a right suggestion first for {}, within 3 for {}, within 5 for {}; \
         one that few have within 3 for {}\n",
        judged.len(),
        within(1),
        within(3),
        within(5),
        judged.iter().filter(|judged| judged.is_told_apart).count()
    )
}

fn missed(judged: &[Judged]) -> String {
    let late = judged.iter().filter(|judged| judged.position.is_none_or(|at| at > 3));
    late.map(|judged| format!("  missed: {}: {}\n", judged.origin, judged.suggested.join(", ")))
        .collect()
}

//! `cargo xtask bench inject`: faults put into real code in the source text, and which of them are
//! reported.
//!
//! Faults are drawn by a seed from all places where the text shows that a change can be one
//! (`kinds`), so no two seeds measure the same, and nothing can be fitted to them. The tool that is
//! measured is not asked where to put them.

mod code;
mod draw;
mod facts;
mod kind;
mod kinds;
mod measure;
mod page;
mod peers;
mod project;
mod rows;
mod sanitize;
mod score;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::tool::ToolArgs;
use super::{ledger, obtained};
use kind::Kind;
use measure::Measure;
use project::Project;
use rows::{Before, Header, Row, Store};
use sanitize::Tests;

#[derive(Args)]
pub struct Inject {
    /// Corpora of bench/corpora.toml; xz, lua and libssh2 where neither this nor --in is given
    #[arg(long, value_name = "NAME", num_args = 1..)]
    corpus: Vec<String>,
    /// Folders with a compile_commands.json, as those of drawn packages
    #[arg(long = "in", value_name = "DIR", num_args = 1..)]
    folders: Vec<PathBuf>,
    /// Which faults are drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many, over all corpora and folders
    #[arg(long, default_value_t = 300)]
    count: usize,
    /// Only these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<Kind>,
    /// How many injections in distant functions may share a run
    #[arg(long, value_name = "N", default_value_t = 3)]
    batch: usize,
    /// Also run clang-19's analyzer with its default checkers on each changed unit
    #[arg(long)]
    peers: bool,
    /// Builds a package and runs its tests, in a copy of its folder, with $CC, $CFLAGS and $LDFLAGS
    #[arg(long, value_name = "COMMAND")]
    tests: Option<String>,
    /// A run of the tests that takes longer is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    tests_limit: u64,
    /// A run of firstfault that takes more processor time is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    limit: u64,
    /// Keep rows in this file, and go on from those that are there
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Rows of another commit on the same faults, to stand beside these
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// Write the misses to this file, each with its diff
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Keep changed units and reports in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Only draw, and print each diff
    #[arg(long)]
    dry_run: bool,
    /// Write bench/results/inject.md and the ledger
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    tool: ToolArgs,
    /// Options given to `firstfault check`
    #[arg(last = true, value_name = "OPTIONS")]
    check: Vec<String>,
}

const CORPORA: [&str; 3] = ["xz", "lua", "libssh2"];

pub fn run(root: &Path, options: &Inject) -> Result<()> {
    if options.batch == 0 {
        bail!("--batch must be at least 1");
    }
    let projects = options.projects(root)?;
    if options.dry_run {
        return options.show(&projects);
    }
    let tool = options.tool.tool(root)?;
    let header = Header {
        commit: tool.commit.clone(),
        seed: options.seed,
        count: options.count,
        batch: options.batch,
        projects: projects.iter().map(|project| project.name.clone()).collect(),
        kinds: options.kinds(),
        options: options.check.clone(),
    };
    let mut store = Store::open(options.resume.as_deref(), &header)?;
    let before = options.before.as_deref().map(|path| Before::load(path, &header)).transpose()?;
    if let Some(keep) = &options.keep {
        std::fs::create_dir_all(keep)
            .with_context(|| format!("cannot create {}", keep.display()))?;
    }
    let keep = options.keep.as_ref().map(|keep| keep.canonicalize()).transpose()?;
    let mut drawn = String::new();
    let mut ids = Vec::new();
    let mut left = options.count;
    for (index, project) in projects.iter().enumerate() {
        let scratch = tempfile::tempdir()?;
        let scratch = scratch.path().canonicalize()?;
        let n = left / (projects.len() - index);
        let of = draw::draw(project, &header.kinds, options.seed, n, &scratch)?;
        left -= of.injected.len();
        drawn += &summary(project, &of);
        ids.extend(of.injected.iter().map(|injected| injected.id.clone()));
        let measure = Measure {
            project,
            program: &tool.path,
            options: &options.check,
            cpu_limit: Duration::from_secs(options.limit),
            scratch,
            keep: keep.clone(),
        };
        options.measure(&measure, &of.injected, &mut store)?;
    }
    let rows: Vec<Row> = ids.iter().filter_map(|id| store.rows.get(id).cloned()).collect();
    let (command, date) = (options.command(), ledger::today(root));
    let text = page::document(&rows, before.as_ref(), &header, &command, &date, &drawn);
    println!("\n{text}");
    if let Some(list) = &options.list {
        draw::write(list, &page::misses(&rows))?;
    }
    if options.write {
        draw::write(&root.join("bench/results/inject.md"), &text)?;
        ledger::record(root, page::entries(&rows, &header, &command, &date))?;
    }
    Ok(())
}

fn summary(project: &Project, drawn: &draw::Drawn) -> String {
    let kinds = drawn.n_candidates.iter();
    let kinds: Vec<String> = kinds.map(|(kind, n)| format!("{} {n}", kind.title())).collect();
    format!(
        "- {}: places by kind: {}; {} drawn, {} dropped that did not compile, {} that meant the \
         same.\n",
        project.name,
        kinds.join(", "),
        drawn.injected.len(),
        drawn.n_broken,
        drawn.n_same
    )
}

impl Inject {
    fn kinds(&self) -> Vec<Kind> {
        match self.kinds.as_slice() {
            [] => Kind::ALL.to_vec(),
            some => some.to_vec(),
        }
    }

    fn projects(&self, root: &Path) -> Result<Vec<Project>> {
        let default: Vec<String> = CORPORA.iter().map(|name| name.to_string()).collect();
        let names = match (&self.corpus[..], &self.folders[..]) {
            ([], []) => &default,
            (names, _) => names,
        };
        let mut projects = Vec::new();
        if !names.is_empty() {
            for corpus in obtained(root, names)? {
                projects.push(Project::load(&corpus.name, &corpus.folder)?);
            }
        }
        for folder in &self.folders {
            let path = folder.canonicalize();
            let path = path.with_context(|| format!("cannot find {}", folder.display()))?;
            let name = path.file_name().map_or("root".into(), |name| name.to_string_lossy());
            projects.push(Project::load(&name, &path)?);
        }
        let mut names: Vec<&str> = projects.iter().map(|project| project.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("two projects are named {}", twice[0]);
        }
        Ok(projects)
    }

    /// The command that draws and measures the same.
    fn command(&self) -> String {
        let mut words = vec!["cargo xtask bench inject".to_owned()];
        if !self.corpus.is_empty() {
            words.push(format!("--corpus {}", self.corpus.join(" ")));
        }
        let folders = self.folders.iter().filter_map(|folder| folder.file_name());
        let folders: Vec<_> = folders.map(|name| name.to_string_lossy()).collect();
        if !folders.is_empty() {
            words.push(format!("--in {}", folders.join(" ")));
        }
        words.push(format!("--seed {} --count {}", self.seed, self.count));
        if self.peers {
            words.push("--peers".to_owned());
        }
        if !self.check.is_empty() {
            words.push(format!("-- {}", self.check.join(" ")));
        }
        words.join(" ")
    }

    fn show(&self, projects: &[Project]) -> Result<()> {
        let mut left = self.count;
        for (index, project) in projects.iter().enumerate() {
            let scratch = tempfile::tempdir()?;
            let n = left / (projects.len() - index);
            let of = draw::draw(project, &self.kinds(), self.seed, n, scratch.path())?;
            left -= of.injected.len();
            for one in &of.injected {
                println!("{} {} in {}\n{}", one.id, one.kind.title(), one.function, one.diff);
            }
            print!("{}", summary(project, &of));
        }
        Ok(())
    }

    fn measure(&self, measure: &Measure, all: &[draw::Injected], store: &mut Store) -> Result<()> {
        let project = measure.project;
        let batches = measure::batches(all, self.batch);
        let is_open = |batch: &Vec<&draw::Injected>| {
            batch.iter().any(|injected| !store.rows.contains_key(&injected.id))
        };
        let open: Vec<_> = batches.into_iter().filter(is_open).collect();
        if !open.is_empty() {
            self.check(measure, open, store)?;
        }
        let mut clang = peers::Clang::new(project, &measure.scratch);
        let mut tests = None;
        for injected in all {
            let Some(row) = store.rows.get(&injected.id) else { continue };
            let asks_clang = self.peers && row.clang.is_none();
            let command = self.tests.as_ref().filter(|_| row.tests.is_none());
            if !asks_clang && command.is_none() {
                continue;
            }
            let mut row = row.clone();
            if asks_clang {
                row.clang = Some(clang.shows(injected)?);
            }
            if let Some(command) = command {
                let limit = Duration::from_secs(self.tests_limit);
                if tests.is_none() {
                    tests = Some(Tests::new(project, command, &measure.scratch, limit)?);
                }
                row.tests = tests.as_ref().map(|tests| tests.show(injected)).transpose()?.flatten();
            }
            store.add(row)?;
        }
        Ok(())
    }

    /// What is still open of `firstfault`'s own answers.
    fn check(
        &self,
        measure: &Measure,
        open: Vec<Vec<&draw::Injected>>,
        store: &mut Store,
    ) -> Result<()> {
        let project = measure.project;
        let (before, checked) = measure.unchanged()?;
        let seconds = checked.cpu.as_secs_f64();
        eprintln!("{}: {} reports before, {seconds:.1} CPU s", project.name, before.len());
        if !checked.trouble.is_empty() {
            eprintln!("  {}", checked.trouble);
        }
        for batch in open {
            let outcomes = measure.batch(&batch, &before)?;
            for (injected, outcome) in batch.iter().zip(&outcomes) {
                if store.rows.contains_key(&injected.id) {
                    continue;
                }
                let file = project.short(&injected.source);
                let row = Row::new(&project.name, file, injected, outcome);
                store.add(row)?;
            }
        }
        Ok(())
    }
}

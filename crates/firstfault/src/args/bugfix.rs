//! What `suggest` and `learn` share: a program with its tests, and knowledge bases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use base::Cancel;
use bugfix::{Database, Store, Thresholds, Wanted, load_shipped};
use clap::Args;
use locate::{BuildOptions, Request, Source};

use super::{AllowArgs, RunArgs, SandboxArgs};
use crate::commands::project;

/// A program, and tests of which some fail.
#[derive(Args)]
pub struct TestedArgs {
    /// The C files of the program
    #[arg(value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// Instead of files: a folder with a captured build or a compile_commands.json
    #[arg(short = 'p', long, value_name = "DIR", conflicts_with = "files")]
    pub project: Option<PathBuf>,
    /// Which program of the project; for a compile_commands.json, the file with its main
    #[arg(long, value_name = "PROG", conflicts_with = "files")]
    pub target: Option<String>,
    /// A folder with NAME.args, NAME.in and NAME.out, or a tests.toml
    #[arg(long, value_name = "DIR|FILE")]
    pub tests: Option<PathBuf>,
    /// Compiler and linker flags; linker flags alone for a project
    #[arg(last = true, value_name = "CFLAGS")]
    pub flags: Vec<String>,
    /// Seconds a run of the program may take
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: u64,
    /// Tests that need more time or steps than allowed fail, instead of being set aside
    #[arg(long)]
    pub limit_fails: bool,
    #[command(flatten)]
    pub sandbox: SandboxArgs,
    #[command(flatten)]
    pub allow: AllowArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

impl TestedArgs {
    pub fn jobs(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        self.run.jobs.map_or(cores, usize::from)
    }

    pub fn build_options(&self, cancel: &Cancel) -> Result<BuildOptions> {
        let mut options = if self.files.is_empty() {
            let folder = self.project.clone().unwrap_or_else(|| PathBuf::from("."));
            project::build_options(&folder, self.target.as_deref(), &self.run, cancel)?
        } else {
            let sources = self.files.iter().cloned().map(Source::File).collect();
            BuildOptions { sources, ..BuildOptions::default() }
        };
        options.flags.extend(self.flags.iter().cloned());
        options.jobs = self.jobs();
        project::say_unknown_flags(&options);
        Ok(options)
    }

    pub fn limits(&self) -> run::Limits {
        let time = Duration::from_secs(self.time_limit);
        self.sandbox.limits(run::Limits { time, ..run::Limits::default() })
    }

    pub fn request(&self, build: BuildOptions, tests: &Path) -> Request {
        let options = locate::Options {
            jobs: self.jobs(),
            limits: self.limits(),
            limit_is_failure: self.limit_fails,
            ..locate::Options::default()
        };
        let allowed = self.allow.allowed();
        Request { build, tests: tests.to_owned(), allowed, options, ..Request::default() }
    }
}

/// How sure a rule is by default.
const CONFIDENCE: f64 = 0.8;

/// Suggestions that are made even where rules are less sure.
const ENOUGH: usize = 3;

#[derive(Args)]
pub struct KnowledgeArgs {
    /// A knowledge base to use instead of knowledge.db in the state folder
    #[arg(long, value_name = "FILE")]
    pub knowledge: Option<PathBuf>,
    /// Without what firstfault was shipped with
    #[arg(long)]
    pub no_shipped: bool,
    /// Past fixes a rule must hold in; 1 by default, 2 where 30 or more are known, and one in
    /// fifty where that is more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub support: Option<u32>,
    /// The share of similar situations in which a rule must hold; 0.8 by default, and less where
    /// fewer than three suggestions are as sure
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub confidence: Option<f64>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_string())
}

impl KnowledgeArgs {
    pub fn thresholds(&self, database: &Database) -> Thresholds {
        let default = Thresholds::for_scenarios(database.len());
        let support = self.support.unwrap_or(default.support);
        Thresholds { support, confidence: self.confidence.unwrap_or(CONFIDENCE) }
    }

    /// What is suggested: whoever says how sure it must be gets nothing else.
    pub fn wanted(&self, database: &Database) -> Wanted {
        let at_least = if self.confidence.is_some() { 0 } else { ENOUGH };
        Wanted { thresholds: self.thresholds(database), at_least }
    }

    /// Where this project's knowledge base is.
    pub fn path(&self, run: &RunArgs) -> PathBuf {
        let state = || {
            let from_environment = || std::env::var_os("FIRSTFAULT_STATE").map(PathBuf::from);
            let state = run.state.clone().or_else(from_environment);
            state.unwrap_or_else(|| PathBuf::from(".firstfault"))
        };
        self.knowledge.clone().unwrap_or_else(|| state().join("knowledge.db"))
    }

    /// All that is known: the shipped scenarios, and those of the knowledge base.
    pub fn database(&self, run: &RunArgs) -> Result<Database> {
        let mut database = Database::new();
        if !self.no_shipped {
            load_shipped(&mut database);
        }
        if let Some(store) = Store::open_existing(&self.path(run))? {
            store.load(&mut database)?;
        }
        Ok(database)
    }
}

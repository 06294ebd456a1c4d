//! The command line's grammar.

mod bugfix;
mod input;
mod sandbox;
mod select;
mod spec;

pub use bugfix::{KnowledgeArgs, TestedArgs};
pub use input::{InputArgs, build};
pub use sandbox::{AllowArgs, SandboxArgs};
pub use select::SelectArgs;
pub use spec::{ExplainArgs, SpecAction, SpecArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

#[derive(Parser)]
#[command(
    name = "firstfault",
    version,
    about = "From many symptoms in C programs to the few first faults behind them",
    after_help = "Exit codes: 0 nothing found, 1 findings, 2 the tool or its use failed, \
                  3 part of the input could not be analysed."
)]
pub struct Cli {
    #[command(flatten)]
    pub color: colorchoice_clap::Color,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Analyse a C program and report what is wrong with it
    Check(CheckArgs),
    /// Say which faults cause which, those of other tools included
    Correlate(CorrelateArgs),
    /// Find rules the code itself follows, and the places that break them
    Beliefs(crate::commands::beliefs::BeliefsArgs),
    /// Run a build and remember what it compiles, for later commands
    Capture(CaptureArgs),
    /// Print the program as firstfault sees it
    Show(ShowArgs),
    /// Find the faulty statement from tests that fail
    Locate(crate::commands::locate::LocateArgs),
    /// Find where a run that crashes first corrupted its memory
    Crash(crate::commands::crash::CrashArgs),
    /// Suggest fixes for a statement, from how similar ones were fixed
    Suggest(crate::commands::suggest::SuggestArgs),
    /// Learn from a fix, or from the fixes in a repository
    Learn(crate::commands::learn::LearnArgs),
    /// Find the statement behind a violated property, and what it should probably be
    Diagnose(crate::commands::diagnose::DiagnoseArgs),
    /// Check, show, test and start fault specifications
    Spec(SpecArgs),
    /// Run the real program, built with sanitizers, on the input a fault was proved with
    Replay(crate::commands::replay::ReplayArgs),
    /// Write the findings of the last command again, in any format
    Report(crate::commands::report::ReportArgs),
    /// Show findings in an editor, new ones with every save (Language Server Protocol)
    Lsp(crate::commands::lsp::LspArgs),
    /// List the rules and belief templates
    Rules,
    /// Say what a rule finds, why it is a fault, and how to fix it
    Explain(ExplainArgs),
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// What looks for faults
    #[arg(long, value_enum, default_value_t = EngineArg::All)]
    pub engine: EngineArg,
    /// Only faults of this level of evidence and above
    #[arg(long, value_enum, default_value_t = LevelArg::Likely)]
    pub level: LevelArg,
    /// Run the real program, built with sanitizers, on every witness: what it shows is reproduced
    #[arg(long)]
    pub replay: bool,
    #[command(flatten)]
    pub sandbox: SandboxArgs,
    /// The order in which the search by running tries inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Report also what is only a fault to a strict reader: wrapping of any unsigned number,
    /// casts that lose part of a value
    #[arg(long)]
    pub strict: bool,
    /// Only this rule; may be given several times
    #[arg(long, value_name = "RULE")]
    pub rule: Vec<String>,
    /// Only what goes wrong in this function, looked for harder; may be given several times
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,
    /// A specification of your own, or a folder of them
    #[arg(long, value_name = "PATH")]
    pub spec: Vec<PathBuf>,
    /// An interface function and its parameters that come from outside: parse:state,data[len],len
    ///
    /// Numbers and the bytes of buffers are anything; data[len] points to len elements. Records
    /// hold what the program itself can have stored there in earlier calls.
    #[arg(long, value_name = "FUNCTION:PARAMETERS")]
    pub entry: Vec<String>,
    /// Leave out what happens only when there is no memory: allocators never return null
    #[arg(long)]
    pub assume_alloc_succeeds: bool,
    /// One line for each finding: no source lines, no paths
    #[arg(long)]
    pub brief: bool,
    /// List what stayed undecided, and why
    #[arg(long)]
    pub dont_knows: bool,
    /// List what functions ask of callers outside the program
    #[arg(long)]
    pub contracts: bool,
    /// Only which fault causes which
    #[arg(long)]
    pub graph: bool,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Which of the provers answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// The static engine, then the search by running
    All,
    /// Paths through the program, in any code
    Static,
    /// Search by running: programs with a main, each fault with the input that makes it happen
    Explore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// A feasible path leads to the fault
    Likely,
    /// A run of the program model on a concrete input does it
    Proved,
    /// The compiled program did it on the witness (see `firstfault replay`)
    Reproduced,
}

impl From<LevelArg> for findings::Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Likely => Self::Likely,
            LevelArg::Proved => Self::Proved,
            LevelArg::Reproduced => Self::Reproduced,
        }
    }
}

#[derive(Args)]
pub struct CorrelateArgs {
    /// A SARIF report of another tool; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    pub import: Vec<PathBuf>,
    /// Only what the other tools reported, without what firstfault finds itself
    #[arg(long)]
    pub alone: bool,
    #[command(flatten)]
    pub check: CheckArgs,
}

#[derive(Args)]
pub struct CaptureArgs {
    /// The build, for example: firstfault capture -- make -j2
    #[arg(last = true, required = true, value_name = "BUILD COMMAND")]
    pub command: Vec<std::ffi::OsString>,
    #[command(flatten)]
    pub run: RunArgs,
    /// Also put compiler shims in front of PATH, for builds run by statically linked programs
    #[arg(long)]
    pub shims: bool,
}

#[derive(Args)]
pub struct ShowArgs {
    /// What to show
    #[arg(value_enum)]
    pub what: View,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// Only this function
    #[arg(short = 'f', long, value_name = "NAME")]
    pub function: Option<String>,
    /// Only this program, where the input makes several
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// The typed intermediate code, in C terms
    Ir,
    /// The control flow of each function
    Cfg,
    /// Who calls whom, calls through pointers included
    Callgraph,
    /// Control flow across calls and returns
    Icfg,
    /// Every question of the rules, and which of them facts settle before a path is followed
    Settled,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    Text,
    /// For Graphviz
    Dot,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people, and for editors that jump to places
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning services and editors
    Sarif,
    /// One file that a browser shows by itself: paths, graph, beliefs, repairs
    Html,
    /// Which fault causes which, for Graphviz
    Dot,
    /// Which fault causes which, as a picture
    Svg,
}

impl From<ReportFormat> for report::Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Text => Self::Text,
            ReportFormat::Json => Self::Json,
            ReportFormat::Sarif => Self::Sarif,
            ReportFormat::Html => Self::Html,
            ReportFormat::Dot => Self::Dot,
            ReportFormat::Svg => Self::Svg,
        }
    }
}

/// Formats of reports without a graph.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people, and for editors that jump to places
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning services and editors
    Sarif,
    /// One file that a browser shows by itself
    Html,
}

impl From<ListFormat> for report::Format {
    fn from(format: ListFormat) -> Self {
        match format {
            ListFormat::Text => Self::Text,
            ListFormat::Json => Self::Json,
            ListFormat::Sarif => Self::Sarif,
            ListFormat::Html => Self::Html,
        }
    }
}

/// How to run, for every command.
#[derive(Args)]
pub struct RunArgs {
    /// Threads to use; one per core by default
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Where the cache and captured builds are kept; $FIRSTFAULT_STATE or .firstfault by default
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// A compiler that uses more processor time than this on one unit, or waits five times as
    /// long, is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    pub unit_timeout: u64,
    /// Write the processor time each phase took to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub timings: Option<PathBuf>,
}

#[derive(Args)]
pub struct OutputArgs {
    /// Write here instead of to standard output; the file is replaced only by a whole report
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        super::Cli::command().debug_assert();
    }
}

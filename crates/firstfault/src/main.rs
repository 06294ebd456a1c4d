//! The command line: reads the arguments, composes the other crates, and ends with an exit
//! code that scripts can rely on.

mod args;
mod commands;
mod config;
mod identity;
mod interrupt;
mod log;
mod pipeline;
mod progress;
mod replay;
mod statement_at;
mod try_edit;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use commands::Outcome;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.write_global();
    let cancel = interrupt::watch();
    let outcome = match cli.command {
        Command::Check(args) => commands::check::run(&args, &cancel),
        Command::Beliefs(args) => commands::beliefs::run(&args, &cancel),
        Command::Correlate(args) => commands::correlate::run(&args, &cancel),
        Command::Capture(args) => commands::capture::run(&args, &cancel),
        Command::Show(args) => commands::show::run(&args, &cancel),
        Command::Locate(args) => commands::locate::run(&args, &cancel),
        Command::Diagnose(args) => commands::diagnose::run(&args, &cancel),
        Command::Crash(args) => commands::crash::run(&args, &cancel),
        Command::Suggest(args) => commands::suggest::run(&args, &cancel),
        Command::Learn(args) => commands::learn::run(&args, &cancel),
        Command::Spec(args) => commands::spec::run(&args),
        Command::Replay(args) => commands::replay::run(&args, &cancel),
        Command::Report(args) => commands::report::run(&args),
        Command::Lsp(args) => commands::lsp::run(&args, &cancel),
        Command::Rules => commands::spec::rules(),
        Command::Explain(args) => commands::spec::explain(&args),
    };
    if cancel.is_cancelled() {
        return interrupt::exit_code();
    }
    match outcome {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            log::error(&format!("{error:#}"));
            Outcome::Failed.exit_code()
        }
    }
}

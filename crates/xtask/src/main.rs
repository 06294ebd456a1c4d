//! The project's own chores: `cargo xtask tidy`, `new-fault`, `seed-knowledge` and `bench`.

mod bench;
mod mutated;
mod new_fault;
mod seed_knowledge;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the firstfault project")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check what compilers do not: crate edges, file sizes, module docs, fault directories
    Tidy,
    /// Start a built-in fault: its folder with specification, documentation and fixtures
    NewFault {
        /// Lowercase words joined by dashes that name what is wrong
        id: String,
    },
    /// Learn the shipped knowledge base from the faults seeded into bench/bugfix
    SeedKnowledge {
        /// The firstfault to run; the release build of this repository by default
        #[arg(long)]
        firstfault: Option<PathBuf>,
    },
    /// Measure on real code
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Tidy => tidy::run(&repository()),
        Chore::NewFault { id } => new_fault::run(&repository(), &id),
        Chore::SeedKnowledge { firstfault } => {
            seed_knowledge::run(&repository(), firstfault.as_deref())
        }
        Chore::Bench(bench) => bench::run(&repository(), bench),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository this program was built from.
fn repository() -> PathBuf {
    let crate_folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).map(PathBuf::from).unwrap_or(crate_folder)
}

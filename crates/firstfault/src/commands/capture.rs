//! `firstfault capture -- BUILD COMMAND`: runs the build and remembers what it compiles.

use anyhow::Result;
use base::Cancel;

use super::Outcome;
use crate::args::{CaptureArgs, build};
use crate::pipeline::{self, counted};

pub fn run(args: &CaptureArgs, cancel: &Cancel) -> Result<Outcome> {
    let here = std::env::current_dir()?;
    let project = pipeline::load(&build(&args.command, args.shims), &here, &args.run, cancel)?;
    let findings = pipeline::findings_about(&project, &here);
    for missing in &findings.incomplete {
        crate::log::incomplete(missing);
    }
    for notice in &findings.notices {
        crate::log::warning(&notice.message);
    }
    let mut text = format!("captured {}", counted(project.units.len(), "unit"));
    let n_programs = project.programs.len();
    text += &format!(" of {}:\n", counted(n_programs, "program"));
    for program in &project.programs {
        text += &format!("  {}: {}\n", program.name, counted(program.units.len(), "unit"));
    }
    text += "analyse them with: firstfault check\n";
    report::output::Target::Stdout.write(text.as_bytes())?;
    Ok(Outcome::of(&findings))
}

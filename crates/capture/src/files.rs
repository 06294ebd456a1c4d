//! Input of the first kind: C files named by the user, with flags they share.

use std::path::{Path, PathBuf};

use crate::command::words::expand_response_files;
use crate::command::{Invocation, Language};
use crate::error::UnitFailure;
use crate::preprocess::UnitCommand;

/// Commands for the files that can be compiled, failures for the others.
pub fn commands(
    files: &[PathBuf],
    flags: &[String],
    directory: &Path,
) -> (Vec<UnitCommand>, Vec<UnitFailure>) {
    let flags = expand_response_files(flags.to_vec(), directory);
    // The files come after the flags: `-x c` among the flags holds for all of them.
    let mut args = flags;
    args.push("--".to_owned());
    let n_flagged = Invocation::parse(&args).sources.len();
    let mut commands = Vec::new();
    let mut failures = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        match check(file, &args, n_flagged, directory) {
            Ok(command) => commands.push(command),
            Err(reason) => failures.push(UnitFailure::new(shown, reason)),
        }
    }
    (commands, failures)
}

fn check(
    file: &Path,
    args: &[String],
    n_flagged: usize,
    directory: &Path,
) -> Result<UnitCommand, String> {
    let name = file.to_str().ok_or("its name is not UTF-8; rename it")?;
    let path = directory.join(file);
    match path.metadata() {
        Err(error) => return Err(format!("cannot read it: {error}")),
        Ok(metadata) if metadata.is_dir() => {
            return Err("is a folder; name C files, or use -p for a folder with a build".to_owned());
        }
        Ok(_) => {}
    }
    std::fs::File::open(&path).map_err(|error| format!("cannot read it: {error}"))?;
    let mut args = args.to_vec();
    args.push(name.to_owned());
    let invocation = Invocation::parse(&args);
    match invocation.sources.get(n_flagged) {
        Some((_, language)) if language.is_c() => Ok(UnitCommand {
            directory: directory.to_owned(),
            source: name.to_owned(),
            language: *language,
            flags: invocation.flags,
            object: None,
        }),
        Some((_, Language::Assembler)) => {
            Err("is assembler, not C: what it does stays unknown".to_owned())
        }
        _ => Err("is not a C file (.c or .i); give -x c after -- if it is".to_owned()),
    }
}

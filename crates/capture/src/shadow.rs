//! Headers that are not there yet: a file created earlier in the include search than
//! the one that was found changes what a unit reads, though none of the files it read
//! has changed.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::deps::{Dependency, Files};
use crate::preprocess::UnitCommand;

const INCLUDE_OPTIONS: [&str; 4] = ["-I", "-iquote", "-isystem", "-idirafter"];

/// Paths where a file is now that could have been found in place of a dependency: its
/// name, relative to any folder of the search, seen from every folder that does not
/// belong to the system. They were passed over when the unit was preprocessed, for
/// reasons of the search order; one more of them means another search.
pub fn passed_over(
    files: &Files,
    command: &UnitCommand,
    dependencies: &[Dependency],
) -> Vec<PathBuf> {
    let folders = search_folders(command, dependencies);
    let mut names: HashSet<&Path> = HashSet::new();
    for dependency in dependencies {
        names.extend(folders.iter().filter_map(|f| dependency.path.strip_prefix(f).ok()));
        names.extend(system_name(&dependency.path));
    }
    let known: HashSet<&Path> = dependencies.iter().map(|d| d.path.as_path()).collect();
    let mut found = Vec::new();
    for folder in &folders {
        // Nearly all names fail at their first part, which costs no path and no system call.
        let entries = files.entries(folder);
        let present = names.iter().filter(|n| n.iter().next().is_some_and(|p| entries.contains(p)));
        let paths = present.map(|name| folder.join(name));
        found.extend(paths.filter(|path| !known.contains(path.as_path()) && files.exists(path)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The folders of the user's options and those of the user's files that were read.
fn search_folders(command: &UnitCommand, dependencies: &[Dependency]) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    let mut words = command.flags.preprocess.iter();
    while let Some(word) = words.next() {
        let option = INCLUDE_OPTIONS.iter().find_map(|option| word.strip_prefix(option));
        let folder = match option {
            Some("") => words.next().map(String::as_str),
            folder => folder,
        };
        folders.extend(folder.map(|folder| command.directory.join(folder)));
    }
    let own = dependencies.iter().filter(|d| system_name(&d.path).is_none());
    folders.extend(own.filter_map(|d| d.path.parent().map(Path::to_owned)));
    folders
}

/// The name by which a system header is included: `sys/types.h`.
fn system_name(path: &Path) -> Option<&Path> {
    let text = path.to_str()?;
    if !text.starts_with("/usr/") {
        return None;
    }
    let (_, name) = text.split_once("/include/")?;
    match name.split_once('/') {
        // A multiarch folder is not part of the name.
        Some((folder, name)) if folder.contains("-linux-") => Some(Path::new(name)),
        _ => Some(Path::new(name)),
    }
}

//! Headers that are not there yet: a file created earlier in the include search than
//! the one that was found changes what a unit reads, though none of the files it read
//! has changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::deps::{Dependency, Files};
use crate::preprocess::UnitCommand;

const INCLUDE_OPTIONS: [&str; 4] = ["-I", "-iquote", "-isystem", "-idirafter"];

/// Paths where a new file could take the place of a dependency and where a file is now.
/// They were passed over when the unit was preprocessed, for reasons of the search order.
pub fn passed_over(
    files: &Files,
    command: &UnitCommand,
    dependencies: &[Dependency],
) -> Vec<PathBuf> {
    candidates(command, dependencies).into_iter().filter(|path| files.exists(path)).collect()
}

/// Where the name of each dependency could also be found: its path relative to any
/// folder of the search, seen from every other folder that does not belong to the system.
fn candidates(command: &UnitCommand, dependencies: &[Dependency]) -> BTreeSet<PathBuf> {
    let folders = search_folders(command, dependencies);
    let mut found = BTreeSet::new();
    for dependency in dependencies {
        let names = folders.iter().filter_map(|folder| dependency.path.strip_prefix(folder).ok());
        let names: BTreeSet<&Path> = names.chain(system_name(&dependency.path)).collect();
        for name in names {
            found.extend(folders.iter().map(|folder| folder.join(name)));
        }
    }
    for dependency in dependencies {
        found.remove(&dependency.path);
    }
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

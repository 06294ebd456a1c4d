//! From an input to a project: find the commands, preprocess them, plan the programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cache::{Cache, Key};
use crate::clang::Clang;
use crate::deps::Files;
use crate::error::{CaptureError, UnitFailure};
use crate::preprocess::{Preprocessed, UnitCommand, Workshop, preprocess};
use crate::project::{Inputs, ProgramKind, ProgramPlan, Progress, Project, Settings, Unit};
use crate::{database, files, parallel};

/// Finds and preprocesses all units of the input.
///
/// Fails only if nothing at all can be analysed; what fails for single units is in
/// [`Project::failures`].
pub fn load(
    inputs: &Inputs,
    cache: &Arc<Cache>,
    settings: &Settings,
) -> Result<Project, CaptureError> {
    let clang = Clang::find()?;
    let root = std::path::absolute(&settings.project_root)
        .map_err(|source| unreadable(&settings.project_root, source))?;
    match inputs {
        Inputs::Files { files, flags } => {
            if files.is_empty() {
                return Err(CaptureError::NoInput);
            }
            let directory = std::env::current_dir().map_err(|e| unreadable(Path::new("."), e))?;
            let (commands, failures) = files::commands(files, flags, &directory);
            let mut project = Project { failures, ..Project::default() };
            preprocess_all(&commands, &clang, cache, settings, &root, &mut project)?;
            let name = project.units.first().map(|u| stem(&u.path)).unwrap_or_default();
            plan_one(&mut project, name, ProgramKind::Files);
            finish(project, cache)
        }
        Inputs::Folder(folder) => {
            let path = find_database(folder)?;
            let read = database::read(&path)?;
            let mut project =
                Project { failures: read.failures, notices: read.notices, ..Project::default() };
            preprocess_all(&read.commands, &clang, cache, settings, &root, &mut project)?;
            let name = root.file_name().map(|n| n.display().to_string()).unwrap_or_default();
            plan_one(&mut project, name, ProgramKind::Unsplit);
            finish(project, cache)
        }
        Inputs::Build(_) => Err(CaptureError::NoInput),
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> CaptureError {
    CaptureError::Unreadable { path: path.to_owned(), source }
}

fn stem(path: &str) -> String {
    Path::new(path).file_stem().map(|stem| stem.display().to_string()).unwrap_or_default()
}

/// The database itself, or the one in a folder.
fn find_database(folder: &Path) -> Result<PathBuf, CaptureError> {
    let folder = std::path::absolute(folder).map_err(|e| unreadable(folder, e))?;
    let metadata = folder.metadata().map_err(|e| unreadable(&folder, e))?;
    if metadata.is_file() {
        return Ok(folder);
    }
    std::fs::read_dir(&folder).map_err(|e| unreadable(&folder, e))?;
    let path = folder.join(database::FILE_NAME);
    if path.exists() { Ok(path) } else { Err(CaptureError::NoBuild(folder)) }
}

fn plan_one(project: &mut Project, name: String, kind: ProgramKind) {
    let units = (0..project.units.len()).collect();
    project.programs.push(ProgramPlan { name, kind, units, unknown: Vec::new() });
}

/// Preprocesses all commands, in parallel, into units and failures in order.
fn preprocess_all(
    commands: &[UnitCommand],
    clang: &Clang,
    cache: &Arc<Cache>,
    settings: &Settings,
    root: &Path,
    project: &mut Project,
) -> Result<(), CaptureError> {
    let files = Files::default();
    let shop = Workshop {
        clang,
        cache,
        files: &files,
        cancel: &settings.cancel,
        deadline: settings.unit_deadline,
    };
    let done = AtomicUsize::new(0);
    let results = parallel::map(settings.jobs, commands, |command| {
        if settings.cancel.is_cancelled() {
            return Err(UnitFailure::new(&command.source, "interrupted"));
        }
        let result = preprocess(&shop, command);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(progress) = settings.progress {
            progress(Progress { done, total: commands.len() });
        }
        result
    });
    if settings.cancel.is_cancelled() {
        return Err(CaptureError::Cancelled);
    }
    let mut rejected: BTreeMap<String, usize> = BTreeMap::new();
    for (command, result) in commands.iter().zip(results) {
        match result {
            Ok(unit) => {
                for flag in unit.manifest.rejected.iter().collect::<BTreeSet<_>>() {
                    *rejected.entry(flag.clone()).or_default() += 1;
                }
                project.add(command, unit, root);
            }
            Err(mut failure) => {
                failure.path = shown_path(&command.source_path(), root);
                project.failures.push(failure);
            }
        }
    }
    project.notices.extend(rejected_notice(&rejected));
    Ok(())
}

/// One notice for all flags that clang does not know.
fn rejected_notice(rejected: &BTreeMap<String, usize>) -> Option<String> {
    let most = rejected.values().max()?;
    let flags: Vec<&str> = rejected.keys().map(String::as_str).collect();
    Some(format!(
        "flags that clang does not know were left out in {most} unit{}: {}",
        if *most == 1 { "" } else { "s" },
        flags.join(" ")
    ))
}

fn finish(mut project: Project, cache: &Cache) -> Result<Project, CaptureError> {
    cache.trim();
    project.notices.extend(cache.notices());
    if project.units.is_empty() && !project.failures.is_empty() {
        return Err(CaptureError::AllFailed(project.failures));
    }
    Ok(project)
}

/// A path as users know it: relative to the project where it lies inside.
pub(crate) fn shown_path(path: &Path, root: &Path) -> String {
    let path = database::normal(path);
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

impl Project {
    fn add(&mut self, command: &UnitCommand, unit: Preprocessed, root: &Path) {
        if let Some(cpu) = unit.cpu {
            self.clang_cpu += cpu;
            self.n_clang_runs += 1;
        }
        let rejected = &unit.manifest.rejected;
        let flags = &command.flags.compile;
        let flags: Vec<String> = flags.iter().filter(|f| !rejected.contains(f)).cloned().collect();
        self.units.push(Unit {
            path: shown_path(&command.source_path(), root),
            source: command.source_path(),
            key: unit_key(command, &unit, &flags, root),
            directory: command.directory.clone(),
            flags,
            text: unit.text,
            dependencies: unit.manifest.dependencies,
            object: command.object.clone(),
        });
    }
}

/// Covers all that anything computed from the unit can depend on. The directory and the
/// root decide how the paths in the text are shown.
fn unit_key(command: &UnitCommand, unit: &Preprocessed, flags: &[String], root: &Path) -> Key {
    let mut parts = vec![
        unit.manifest.text.as_bytes(),
        command.directory.as_os_str().as_encoded_bytes(),
        root.as_os_str().as_encoded_bytes(),
        command.source.as_bytes(),
    ];
    parts.extend(flags.iter().map(String::as_bytes));
    Key::new("unit", parts)
}

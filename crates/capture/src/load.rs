//! From an input to a project: find the commands, preprocess them, plan the programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cache::{Cache, Key};
use crate::captured::{self, StoredUnit};
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
    let root = std::path::absolute(&settings.project_root)
        .map_err(|source| unreadable(&settings.project_root, source))?;
    let clang = match &settings.clang {
        Some(program) => Clang::at(program)?,
        None => Clang::find()?,
    };
    let clang = clang.held();
    let loader = Loader { clang, cache, settings, root: database::normal(&root) };
    let project = match inputs {
        Inputs::Files { files, flags } => loader.files(files, flags),
        Inputs::Folder(folder) => loader.folder(folder),
        Inputs::Build(build) => loader.build(build),
    }?;
    let mut project = loader.finish(project)?;
    project.clang = Some(loader.clang);
    Ok(project)
}

pub(crate) fn unreadable(path: &Path, source: std::io::Error) -> CaptureError {
    CaptureError::Unreadable { path: path.to_owned(), cause: source }
}

/// A path as users know it: relative to the project where it lies inside.
pub(crate) fn shown_path(path: &Path, root: &Path) -> String {
    let path = database::normal(path);
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

/// What all ways of input share.
pub(crate) struct Loader<'a> {
    pub clang: Clang,
    pub cache: &'a Arc<Cache>,
    pub settings: &'a Settings<'a>,
    /// Absolute.
    pub root: PathBuf,
}

/// A unit to make: from its command, or as a captured build has left it.
pub(crate) struct Task {
    pub command: UnitCommand,
    pub stored: Option<StoredUnit>,
}

impl From<UnitCommand> for Task {
    fn from(command: UnitCommand) -> Self {
        Self { command, stored: None }
    }
}

impl Loader<'_> {
    fn files(&self, files: &[PathBuf], flags: &[String]) -> Result<Project, CaptureError> {
        if files.is_empty() {
            return Err(CaptureError::NoInput);
        }
        let directory = std::env::current_dir().map_err(|e| unreadable(Path::new("."), e))?;
        let (commands, failures) = files::commands(files, flags, &directory);
        let mut project = Project { failures, ..Project::default() };
        self.make_units(commands.into_iter().map(Task::from).collect(), &mut project)?;
        let stem = |unit: &Unit| Some(unit.source.file_stem()?.display().to_string());
        let name = project.units.first().and_then(stem).unwrap_or_default();
        plan_one(&mut project, name, ProgramKind::Files);
        Ok(project)
    }

    /// A database or a captured build; where there are both, the newer.
    fn folder(&self, folder: &Path) -> Result<Project, CaptureError> {
        let folder = std::path::absolute(folder).map_err(|e| unreadable(folder, e))?;
        let metadata = folder.metadata().map_err(|e| unreadable(&folder, e))?;
        if metadata.is_file() {
            return self.database(&folder);
        }
        std::fs::read_dir(&folder).map_err(|e| unreadable(&folder, e))?;
        let path = folder.join(database::FILE_NAME);
        let written = path.metadata().and_then(|m| m.modified()).ok();
        match (captured::find(&folder, self.settings), written) {
            (Some(capture), Some(written)) if capture.last_change() < Some(written) => {
                let mut project = self.database(&path)?;
                project.notices.push(format!(
                    "using {}, which is newer than the captured build",
                    database::FILE_NAME
                ));
                Ok(project)
            }
            (Some(capture), _) => self.captured(&capture),
            (None, Some(_)) => self.database(&path),
            (None, None) => Err(CaptureError::NoBuild(folder)),
        }
    }

    fn database(&self, path: &Path) -> Result<Project, CaptureError> {
        let read = database::read(path)?;
        let mut project =
            Project { failures: read.failures, notices: read.notices, ..Project::default() };
        self.make_units(read.commands.into_iter().map(Task::from).collect(), &mut project)?;
        let name = self.root.file_name().map(|n| n.display().to_string()).unwrap_or_default();
        plan_one(&mut project, name, ProgramKind::Unsplit);
        Ok(project)
    }

    /// Makes all units, in parallel, in order. Gives the number of the unit made from
    /// each task, `None` for those that failed.
    pub fn make_units(
        &self,
        tasks: Vec<Task>,
        project: &mut Project,
    ) -> Result<Vec<Option<usize>>, CaptureError> {
        let files = Files::default();
        let shop = Workshop {
            clang: &self.clang,
            cache: self.cache,
            files: &files,
            cancel: &self.settings.cancel,
            time_limit: self.settings.unit_time,
        };
        let done = AtomicUsize::new(0);
        let results = parallel::map(self.settings.jobs, &tasks, |task| {
            if self.settings.cancel.is_cancelled() {
                return Err(UnitFailure::new(&task.command.source, "interrupted"));
            }
            let result = match &task.stored {
                Some(stored) => stored.revive(&shop, &task.command),
                None => preprocess(&shop, &task.command),
            };
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(progress) = self.settings.progress {
                progress(Progress { done, total: tasks.len() });
            }
            result
        });
        if self.settings.cancel.is_cancelled() {
            return Err(CaptureError::Cancelled);
        }
        let mut rejected: BTreeMap<String, usize> = BTreeMap::new();
        let mut numbers = Vec::with_capacity(tasks.len());
        for (task, result) in tasks.iter().zip(results) {
            numbers.push(match result {
                Ok(unit) => {
                    let left_out = unit.manifest.rejected.iter().chain(&task.command.flags.unknown);
                    for flag in left_out.collect::<BTreeSet<_>>() {
                        *rejected.entry(flag.clone()).or_default() += 1;
                    }
                    project.add(&task.command, unit, &self.root);
                    Some(project.units.len() - 1)
                }
                Err(mut failure) => {
                    failure.path = shown_path(&task.command.source_path(), &self.root);
                    project.failures.push(failure);
                    None
                }
            });
        }
        project.notices.extend(rejected_notice(&rejected));
        Ok(numbers)
    }

    fn finish(&self, mut project: Project) -> Result<Project, CaptureError> {
        self.cache.trim();
        project.notices.extend(self.cache.notices());
        if project.units.is_empty() && !project.failures.is_empty() {
            return Err(CaptureError::AllFailed(project.failures));
        }
        Ok(project)
    }
}

fn plan_one(project: &mut Project, name: String, kind: ProgramKind) {
    let units = (0..project.units.len()).collect();
    project.programs.push(ProgramPlan { name, kind, units, unknown: Vec::new() });
}

/// One notice for all flags that neither we nor clang know.
fn rejected_notice(rejected: &BTreeMap<String, usize>) -> Option<String> {
    let most = rejected.values().max()?;
    let flags: Vec<&str> = rejected.keys().map(String::as_str).collect();
    Some(format!(
        "unknown flags were left out in {most} unit{}: {}",
        if *most == 1 { "" } else { "s" },
        flags.join(" ")
    ))
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

//! What goes in and what comes out: inputs, units, and the programs they make.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base::Cancel;

use crate::cache::{Cache, Key};
use crate::clang::Clang;
use crate::deps::Dependency;
use crate::error::UnitFailure;
use crate::preprocess::UnitCommand;

/// Where the C code comes from.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// Files with the flags they share: one program.
    Files { files: Vec<PathBuf>, flags: Vec<String> },
    /// A folder with a `compile_commands.json` (or that file itself), or one whose
    /// build was captured.
    Folder(PathBuf),
    /// Run this command in the project root and watch what it compiles.
    Build(Build),
}

/// A build to watch.
#[derive(Clone, Debug)]
pub struct Build {
    pub command: Vec<OsString>,
    /// Also put compiler shims in front of `PATH`, for builds run by statically linked
    /// programs, which the exec hook cannot enter. A build that records the path of
    /// its compiler will record that of the shim, so this is not the default.
    pub shims: bool,
}

/// Everything about a run that is not its input.
pub struct Settings<'a> {
    /// Where the cache and captured builds live (`.firstfault`).
    pub state_dir: PathBuf,
    /// Paths are shown relative to this folder.
    pub project_root: PathBuf,
    pub jobs: usize,
    pub cancel: Cancel,
    /// Called from several threads as units become ready.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// A compiler that uses more processor time than this on one unit is stopped.
    pub unit_time: Duration,
    /// The clang to use; by default `$FIRSTFAULT_CLANG`, or clang 19 where it is installed.
    pub clang: Option<PathBuf>,
}

impl Settings<'_> {
    /// Settings for a project: state in `$FIRSTFAULT_STATE` or `.firstfault` beside it,
    /// as many jobs as there are processors, two minutes for each unit.
    pub fn for_project(root: &Path) -> Self {
        let state = std::env::var_os("FIRSTFAULT_STATE").filter(|state| !state.is_empty());
        Self {
            state_dir: state.map_or_else(|| root.join(".firstfault"), PathBuf::from),
            project_root: root.to_owned(),
            jobs: std::thread::available_parallelism().map_or(1, |n| n.get()),
            cancel: Cancel::new(),
            progress: None,
            unit_time: Duration::from_secs(120),
            clang: None,
        }
    }
}

/// How far preprocessing has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

/// All that was found out about the input.
#[derive(Debug, Default)]
pub struct Project {
    /// In the order of the input.
    pub units: Vec<Unit>,
    pub programs: Vec<ProgramPlan>,
    pub failures: Vec<UnitFailure>,
    /// For the user, one line each.
    pub notices: Vec<String>,
    /// The status of a watched build that failed.
    pub build_failed: Option<String>,
    /// Processor time spent in clang by this run.
    pub clang_cpu: Duration,
    /// How often clang was started by this run.
    pub n_clang_runs: usize,
    /// The clang it was preprocessed with, ready to compile it.
    pub clang: Option<Clang>,
}

/// A preprocessed translation unit.
#[derive(Debug)]
pub struct Unit {
    /// The source as users know it: relative to the project where possible.
    pub path: String,
    pub source: PathBuf,
    /// Where the compiler ran: relative paths in `text` start here.
    pub directory: PathBuf,
    /// Flags for compiling `text` (dialect, target, semantics; nothing for the preprocessor).
    pub flags: Vec<String>,
    /// What `clang -E -dD` printed.
    pub text: Text,
    /// Changes whenever `text` or `flags` do: key for all that is computed from a unit.
    pub key: Key,
    /// The files read for it, the source first.
    pub dependencies: Vec<Dependency>,
    pub object: Option<PathBuf>,
}

/// A unit's text, read on demand: a project's units together can be larger than memory.
#[derive(Clone, Debug)]
pub enum Text {
    Memory(Arc<Vec<u8>>),
    Stored {
        cache: Arc<Cache>,
        key: Key,
        /// How to make it again, should it be damaged or evicted.
        remake: Option<Arc<UnitCommand>>,
    },
}

impl Text {
    /// Fails only if the stored text is gone and cannot be made again.
    pub fn read(&self) -> io::Result<Arc<Vec<u8>>> {
        match self {
            Text::Memory(text) => Ok(text.clone()),
            Text::Stored { cache, key, remake } => {
                let remade = || crate::preprocess::remake(remake.as_deref()?, cache, *key);
                cache.get(key).or_else(remade).map(Arc::new).ok_or_else(|| {
                    io::Error::new(io::ErrorKind::NotFound, "its stored text is gone; run again")
                })
            }
        }
    }
}

/// What kind of program a plan describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramKind {
    /// Files named by the user.
    Files,
    Executable,
    SharedLibrary,
    StaticLibrary,
    /// Compiled and never linked.
    Objects,
    /// Nothing is known about linking: a compilation database. To be divided by
    /// [`ProgramPlan::split_by_main`] once it is known which units define `main`.
    Unsplit,
}

/// The units of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    pub name: String,
    pub kind: ProgramKind,
    /// Indices into [`Project::units`], in link order.
    pub units: Vec<usize>,
    /// Linked code we have no C source for: assembler, foreign objects.
    pub unknown: Vec<String>,
}

impl ProgramPlan {
    /// Divides an [`Unsplit`](ProgramKind::Unsplit) plan. If at most one unit defines
    /// `main`, all units are one program. Otherwise each unit with a `main` is a
    /// program of its own, together with all units without one, as a project of several
    /// tools around common code is built. Other plans come back unchanged.
    ///
    /// `defines_main` and `name_of` get an index into [`Project::units`].
    pub fn split_by_main(
        self,
        mut defines_main: impl FnMut(usize) -> bool,
        mut name_of: impl FnMut(usize) -> String,
    ) -> Vec<ProgramPlan> {
        if self.kind != ProgramKind::Unsplit {
            return vec![self];
        }
        let mains: Vec<usize> = self.units.iter().copied().filter(|&u| defines_main(u)).collect();
        if mains.len() <= 1 {
            return vec![self];
        }
        let program = |&main: &usize| ProgramPlan {
            name: name_of(main),
            kind: ProgramKind::Unsplit,
            units: self
                .units
                .iter()
                .copied()
                .filter(|u| *u == main || !mains.contains(u))
                .collect(),
            unknown: self.unknown.clone(),
        };
        mains.iter().map(program).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_without_main_are_shared_by_all_mains() {
        let plan = ProgramPlan {
            name: "project".into(),
            kind: ProgramKind::Unsplit,
            units: vec![0, 1, 2, 3],
            unknown: Vec::new(),
        };
        let split = |mains: &'static [usize]| -> Vec<Vec<usize>> {
            let plans = plan.clone().split_by_main(|u| mains.contains(&u), |u| u.to_string());
            plans.into_iter().map(|plan| plan.units).collect()
        };
        assert_eq!(split(&[]), [[0, 1, 2, 3]]);
        assert_eq!(split(&[2]), [[0, 1, 2, 3]]);
        assert_eq!(split(&[0, 2]), [[0, 1, 3], [1, 2, 3]]);
    }
}

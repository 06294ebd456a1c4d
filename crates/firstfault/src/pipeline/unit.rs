//! One preprocessed unit to one program, or to a sentence on why not.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};
use base::Cancel;
use base::child::Limits;
use capture::provenance::{self, Extent};
use capture::{Cache, Clang, Key, Unit};
use findings::Incomplete;
use llvm::CompileError;
use program::Program;
use serde::{Deserialize, Serialize};

use super::guarded::guarded;
use super::timings::Timings;

/// What a unit needs to become a program.
pub struct Importer<'a> {
    root: PathBuf,
    cache: &'a Cache,
    clang: Clang,
    limits: Limits,
    timings: &'a Timings,
    cancel: &'a Cancel,
    /// Changes when this very executable does: its programs are not another build's.
    identity: String,
}

/// Why a unit has no program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    pub reason: String,
    pub details: Vec<String>,
    pub is_panic: bool,
}

impl Failure {
    pub fn about(self, unit: &str) -> Incomplete {
        Incomplete { what: unit.to_owned(), reason: self.reason, details: self.details }
    }

    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), details: Vec::new(), is_panic: false }
    }
}

impl<'a> Importer<'a> {
    pub fn new(
        root: &Path,
        cache: &'a Cache,
        clang: Clang,
        unit_time: Duration,
        timings: &'a Timings,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        Ok(Self {
            root: std::path::absolute(root)?,
            cache,
            clang,
            limits: Limits::of_processor_time(unit_time),
            timings,
            cancel,
            identity: own_identity().context("cannot look at the running program")?,
        })
    }

    pub fn import(&self, unit: &Unit) -> Result<Program, Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::new("interrupted"));
        }
        let key = self.key(unit);
        if let Some(stored) = self.timings.on_thread("cache", || self.recall(&key)) {
            return stored;
        }
        let outcome = guarded(|| self.compile_and_import(unit))
            .unwrap_or_else(|message| Err(Failure { is_panic: true, ..Failure::new(message) }));
        self.timings.on_thread("cache", || self.store(&key, &outcome));
        outcome
    }

    fn compile_and_import(&self, unit: &Unit) -> Result<Program, Failure> {
        let text = unit.text.read().map_err(|error| Failure::new(error.to_string()))?;
        match self.compile_part(unit, &text, Extent::Needed) {
            // Whatever is wrong is said of the unit as it is.
            Err(failure) if failure.reason == DOES_NOT_COMPILE => {
                self.compile_part(unit, &text, Extent::Whole)
            }
            outcome => outcome,
        }
    }

    fn compile_part(&self, unit: &Unit, text: &[u8], extent: Extent) -> Result<Program, Failure> {
        let mut read = |path: &Path| base::read::source(&unit.directory.join(path)).ok();
        let mut prepared =
            self.timings.on_thread("positions", || provenance::prepare(text, extent, &mut read));
        for file in &mut prepared.map.files {
            if !file.is_empty() && !file.starts_with('<') {
                *file = shown(&self.root, &unit.directory.join(&*file));
            }
        }
        let compiled = llvm::compile_with(
            &self.clang.tool,
            &prepared.text,
            &unit.flags,
            &prepared.map,
            &self.limits,
            self.cancel,
        );
        let bitcode = compiled.map_err(|error| explain(error, &self.limits))?;
        self.timings
            .on_thread("import", || {
                llvm::import_with_text(&bitcode, &prepared.map, &unit.path, &prepared.text)
            })
            .map_err(|error| Failure::new(format!("cannot be imported: {error}")))
    }

    fn key(&self, unit: &Unit) -> Key {
        self.key_of("program", unit, &[])
    }

    /// The key of something made from a unit and `more`: everything the program is made from,
    /// that is the unit, the files its positions are looked up in, the compiler, and this
    /// executable.
    pub fn key_of(&self, what: &str, unit: &Unit, more: &[u8]) -> Key {
        let mut parts = vec![
            unit.key.as_bytes(),
            self.clang.identity.as_bytes(),
            self.identity.as_bytes(),
            more,
        ];
        parts.extend(unit.dependencies.iter().map(|dependency| dependency.hash.as_bytes()));
        Key::new(what, parts)
    }

    fn recall(&self, key: &Key) -> Option<Result<Program, Failure>> {
        let bytes = self.cache.get(key)?;
        let stored = postcard::from_bytes(&bytes).ok();
        if stored.is_none() {
            self.cache.forget(key);
        }
        stored
    }

    /// Programs and compile errors come out the same next time; crashes and time-outs may not.
    fn store(&self, key: &Key, outcome: &Result<Program, Failure>) {
        let lasts = match outcome {
            Ok(_) => true,
            Err(failure) => failure.reason == DOES_NOT_COMPILE,
        };
        if lasts && let Ok(bytes) = postcard::to_stdvec(outcome) {
            self.cache.put(key, &bytes);
        }
    }
}

const DOES_NOT_COMPILE: &str = "does not compile";

fn explain(error: CompileError, limits: &Limits) -> Failure {
    use base::child::Ending;
    match error {
        CompileError::Rejected(details) => Failure { details, ..Failure::new(DOES_NOT_COMPILE) },
        CompileError::Died { ending: Ending::TimedOut, .. } => Failure::new(format!(
            "clang did not finish compiling it within {} s and was stopped",
            limits.cpu.unwrap_or(limits.deadline).as_secs()
        )),
        CompileError::Died { ending: Ending::Signalled(signal), messages } => Failure {
            details: messages,
            ..Failure::new(format!("clang crashed (signal {signal}) while compiling it"))
        },
        CompileError::Died { ending, messages } => {
            Failure { details: messages, ..Failure::new(format!("clang {ending}")) }
        }
        other => Failure::new(other.to_string()),
    }
}

/// A path as users know it: relative to the project where it lies inside.
pub fn shown(root: &Path, path: &Path) -> String {
    let path = normal(path);
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

/// The path without `.` and `..`, as far as the text alone allows.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// Size and time stamp of the running executable, which a new build changes.
fn own_identity() -> Result<String> {
    let metadata = std::env::current_exe()?.metadata()?;
    let stamp = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {}", metadata.len(), stamp.as_nanos()))
}

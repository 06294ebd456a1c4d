//! Finding specifications: the built-in ones, and files and folders a user names.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::ast::{Spec, SpecKind};
use crate::check::{check, has_errors};
use crate::diagnostic::Diagnostic;
use crate::rules::Rules;

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// A fault that is part of the binary.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinFault {
    pub id: &'static str,
    pub path: &'static str,
    pub text: &'static str,
    /// What `firstfault explain` prints.
    pub doc: &'static str,
    /// Names and texts of the annotated C files that show what it finds.
    pub fixtures: &'static [(&'static str, &'static str)],
}

/// A model that is part of the binary.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinModel {
    pub path: &'static str,
    pub text: &'static str,
}

/// A specification with its text.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub path: String,
    pub text: String,
    pub spec: Spec,
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    fn new(path: String, text: String) -> Self {
        let (spec, mut diagnostics) = check(&text);
        // Shapes that no operation has are found when patterns are compiled.
        if !has_errors(&diagnostics)
            && let Err(more) = Rules::new(std::slice::from_ref(&spec))
        {
            diagnostics.extend(more);
        }
        Self { path, text, spec, diagnostics }
    }

    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }

    /// All diagnostics as text; of very many, the first.
    pub fn render(&self) -> String {
        let shown = self.diagnostics.iter().take(MAX_SHOWN);
        let mut text: String = shown.map(|d| d.render(&self.path, &self.text)).collect();
        if self.diagnostics.len() > MAX_SHOWN {
            let n_more = self.diagnostics.len() - MAX_SHOWN;
            text += &format!("{}: {n_more} more mistakes\n", self.path);
        }
        text
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot read {path}: {why}")]
    Read { path: PathBuf, why: io::Error },
    #[error("{path} holds no specification; expected a .fault or .model file")]
    Empty { path: PathBuf },
    #[error("rule `{id}` is specified in both {first} and {second}; rename one")]
    Twice { id: String, first: String, second: String },
    #[error("{rendered}{n_errors} errors in {n_files} specifications; see `firstfault spec check`")]
    Mistakes { rendered: String, n_errors: usize, n_files: usize },
}

/// Mistakes of one file that are shown: nobody reads more.
const MAX_SHOWN: usize = 50;

/// Specifications larger than this are refused: they are no specifications.
const MAX_BYTES: u64 = 4 << 20;

/// The built-in faults and models. Tests see to it that they have no mistakes.
pub fn builtin() -> Vec<Loaded> {
    let models = MODELS.iter().map(|model| (model.path, model.text));
    let faults = FAULTS.iter().map(|fault| (fault.path, fault.text));
    models.chain(faults).map(|(path, text)| Loaded::new(path.into(), text.into())).collect()
}

/// The specifications of files and folders, in the order named and by name within folders.
/// Folders are searched for `*.fault` and `*.model`, and one level down. A file that is named
/// twice, as by a project's settings and on the command line, is one.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Loaded>, LoadError> {
    let mut loaded: Vec<Loaded> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in paths {
        let files = if path.is_dir() { specifications_below(path)? } else { vec![path.clone()] };
        if files.is_empty() {
            return Err(LoadError::Empty { path: path.clone() });
        }
        for file in files {
            if !seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())) {
                continue;
            }
            loaded.push(Loaded::new(file.display().to_string(), read(&file)?));
        }
    }
    for (index, later) in loaded.iter().enumerate() {
        let same = |earlier: &&Loaded| {
            later.spec.kind == SpecKind::Fault
                && earlier.spec.kind == SpecKind::Fault
                && earlier.spec.id == later.spec.id
        };
        if let Some(earlier) = loaded[..index].iter().find(same) {
            return Err(LoadError::Twice {
                id: later.spec.id.clone(),
                first: earlier.path.clone(),
                second: later.path.clone(),
            });
        }
    }
    Ok(loaded)
}

/// Everything a run looks for: the built-in rules, and the user's, which replace built-in
/// rules of the same id.
pub fn rules(user: &[PathBuf]) -> Result<Rules, LoadError> {
    let mut all = builtin();
    all.extend(load(user)?);
    let mistaken: Vec<&Loaded> = all.iter().filter(|loaded| loaded.has_errors()).collect();
    let rendered = || mistaken.iter().map(|loaded| loaded.render()).collect::<String>();
    if !mistaken.is_empty() {
        let n_errors = mistaken.iter().map(|loaded| loaded.diagnostics.len()).sum();
        return Err(LoadError::Mistakes {
            rendered: rendered(),
            n_errors,
            n_files: mistaken.len(),
        });
    }
    let specs: Vec<Spec> = all.iter().map(|loaded| loaded.spec.clone()).collect();
    Rules::new(&specs).map_err(|diagnostics| LoadError::Mistakes {
        rendered: diagnostics.iter().map(|d| format!("error: {}\n", d.message)).collect(),
        n_errors: diagnostics.len(),
        n_files: 1,
    })
}

/// What `firstfault explain RULE` prints.
pub fn documentation(id: &str) -> Option<&'static str> {
    FAULTS.iter().find(|fault| fault.id == id).map(|fault| fault.doc)
}

fn read(path: &Path) -> Result<String, LoadError> {
    let failed = |why: io::Error| LoadError::Read { path: path.to_owned(), why };
    if fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(failed(io::Error::other("larger than 4 MiB")));
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        failed(io::Error::other(format!("line {line} is not UTF-8 text")))
    })
}

fn specifications_below(dir: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let mut files = Vec::new();
    for path in entries(dir)? {
        if path.is_dir() {
            files.extend(entries(&path)?.into_iter().filter(|path| is_specification(path)));
        } else if is_specification(&path) {
            files.push(path);
        }
    }
    Ok(files)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let failed = |why: io::Error| LoadError::Read { path: dir.to_owned(), why };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn is_specification(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|e| e == "fault" || e == "model")
}

//! Changed sources, compiled as the original ones are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::{Cancel, Scratch};
use capture::Inputs;
use diagnose::{Compile, Compiled, Rejected};

use super::DiagnoseArgs;
use crate::pipeline;

/// Compiles changed copies of the files in a scratch folder.
pub struct Compiler<'a> {
    args: &'a DiagnoseArgs,
    folder: Scratch,
    files: Vec<PathBuf>,
    flags: Vec<String>,
    cancel: &'a Cancel,
}

impl<'a> Compiler<'a> {
    pub fn new(
        (args, given): (&'a DiagnoseArgs, &[PathBuf]),
        inputs: &Inputs,
        root: &Path,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let folder = Scratch::new().context("cannot make a scratch folder")?;
        let Inputs::Files { flags, .. } = inputs else { bail!("diagnose takes files") };
        let mut flags = flags.clone();
        let mut files = Vec::new();
        for (index, path) in given.iter().enumerate() {
            let name = path.file_name().context("a file has no name")?;
            let own = folder.path().join(index.to_string());
            std::fs::create_dir(&own)?;
            files.push(own.join(name));
            // What the file includes lies beside the original.
            let beside = root.join(path.parent().unwrap_or(Path::new("")));
            flags.extend(["-iquote".to_owned(), beside.display().to_string()]);
        }
        Ok(Self { args, folder, files, flags, cancel })
    }

    fn try_compile(&self, texts: &[Vec<u8>]) -> Result<Result<Compiled, Rejected>> {
        for (path, text) in self.files.iter().zip(texts) {
            std::fs::write(path, text)?;
        }
        let inputs = Inputs::Files { files: self.files.clone(), flags: self.flags.clone() };
        let imported =
            pipeline::import_changed(&inputs, self.folder.path(), &self.args.run, self.cancel)?;
        let shown = |path: &PathBuf| {
            let inside = path.strip_prefix(self.folder.path()).unwrap_or(path);
            inside.display().to_string()
        };
        let paths: Vec<String> = self.files.iter().map(shown).collect();
        Ok(match imported {
            Ok(program) => Ok(Compiled { program, paths }),
            Err(messages) => Err(objections(&messages, &paths)),
        })
    }
}

impl Compile for Compiler<'_> {
    fn compile(&self, texts: &[Vec<u8>]) -> Result<Compiled, Rejected> {
        self.try_compile(texts).unwrap_or_else(|error| Err(Rejected::Failed(format!("{error:#}"))))
    }
}

/// `file:line:column: error: ...` as positions.
fn objections(messages: &[String], paths: &[String]) -> Rejected {
    let mut found = Vec::new();
    for message in messages {
        for (index, path) in paths.iter().enumerate() {
            let Some(at) = message.find(path.as_str()) else { continue };
            let mut parts = message[at + path.len()..].trim_start_matches(':').split(':');
            let mut number = || parts.next().and_then(|part| part.parse().ok());
            if let (Some(line), Some(column)) = (number(), number()) {
                found.push((index, line, column));
            }
        }
    }
    if found.is_empty() {
        return Rejected::Failed(messages.first().cloned().unwrap_or_default());
    }
    Rejected::At(found)
}

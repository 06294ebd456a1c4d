//! The three ways people have C code: files, a folder with a database, a build command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use capture::{Build, Inputs};
use clap::Args;

/// A folder that holds the state of a project.
const STATE: &str = ".firstfault";

#[derive(Args)]
pub struct InputArgs {
    /// C files that make one program
    #[arg(value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// A folder with a compile_commands.json or a captured build [default: the current folder]
    #[arg(short = 'p', long, value_name = "DIR", conflicts_with_all = ["files", "rest"])]
    pub project: Option<PathBuf>,
    /// After FILES, the flags they are compiled with; without FILES, a build command to watch
    #[arg(last = true, value_name = "CFLAGS | BUILD COMMAND")]
    pub rest: Vec<OsString>,
}

impl InputArgs {
    /// What to analyse, and the folder that paths are shown relative to.
    pub fn resolve(&self) -> Result<(Inputs, PathBuf)> {
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        if !self.files.is_empty() {
            let inputs = Inputs::Files { files: self.files.clone(), flags: self.flags()? };
            return Ok((inputs, here));
        }
        if !self.rest.is_empty() {
            return Ok((build(&self.rest, false), here));
        }
        let folder = self.project.clone().unwrap_or_else(|| PathBuf::from("."));
        let root = project_root(&folder, here);
        Ok((Inputs::Folder(folder), root))
    }

    fn flags(&self) -> Result<Vec<String>> {
        let text = |word: &OsString| match word.to_str() {
            Some(text) => Ok(text.to_owned()),
            None => bail!("a flag is not valid UTF-8: {}", word.display()),
        };
        self.rest.iter().map(text).collect()
    }
}

pub fn build(command: &[OsString], shims: bool) -> Inputs {
    Inputs::Build(Build { command: command.to_vec(), shims })
}

/// The folder itself where it lies elsewhere or has been analysed on its own; otherwise, as
/// for a build folder inside the project, the folder the user stands in.
fn project_root(folder: &Path, here: PathBuf) -> PathBuf {
    let Ok(folder) = folder.canonicalize() else { return here };
    let folder = if folder.is_dir() {
        folder
    } else {
        folder.parent().map(Path::to_owned).unwrap_or(folder)
    };
    let inside = here.canonicalize().is_ok_and(|here| folder.starts_with(here));
    if inside && !folder.join(STATE).exists() { here } else { folder }
}

//! What the last command of a project found, and in what: kept in the folder of its state
//! for `firstfault report`, `replay` and the language server.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use capture::{Inputs, Settings};
use findings::Findings;
use report::output::Target;
use serde::{Deserialize, Serialize};

/// Where the last findings are kept, in the folder of the project's state.
const LAST: &str = "last.json";

/// Where the files that were analysed are kept, for `firstfault replay`.
const LAST_INPUT: &str = "last-input.json";

/// Where the inputs that make faults happen are kept as files, in the folder of the state.
const WITNESSES: &str = "witnesses";

/// What the last findings are about.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastInput {
    /// Files that make one program, with their flags.
    Files { files: Vec<PathBuf>, flags: Vec<String> },
    /// A build, which the state or a database knows.
    Project,
}

/// A report larger than this was not written by us.
const MAX_BYTES: u64 = 4 << 30;

/// Keeps the findings. A state that cannot be written costs later commands, not this report.
pub fn keep(root: &Path, state_dir: Option<&Path>, findings: &Findings) {
    let state = state(root, state_dir);
    let json = serde_json::to_vec(findings).unwrap_or_default();
    let kept = std::fs::create_dir_all(&state)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(Target::File(state.join(LAST)).write(&json)?))
        .and_then(|()| keep_witnesses(&state.join(WITNESSES), findings));
    if let Err(error) = kept {
        crate::log::warning(&format!("`firstfault report` will not know this: {error:#}"));
    }
}

/// A folder for each fault: the command, standard input, and the files that are opened.
fn keep_witnesses(folder: &Path, findings: &Findings) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).context("cannot remove the last witnesses")?;
    }
    for fault in &findings.faults {
        let Some(witness) = &fault.witness else { continue };
        let folder = folder.join(&fault.id);
        std::fs::create_dir_all(folder.join("files"))?;
        std::fs::write(folder.join("command"), witness.told() + "\n")?;
        if let Some(stdin) = &witness.stdin {
            std::fs::write(folder.join("stdin"), crate::replay::bytes(stdin))?;
        }
        // Names outside of the folder stand in the command alone.
        let _ = crate::replay::write_files(witness, &folder.join("files"));
    }
    Ok(())
}

/// Remembers what the last findings are about; `firstfault replay` asks for it.
pub fn keep_input(root: &Path, state_dir: Option<&Path>, inputs: &Inputs) {
    let input = match inputs {
        Inputs::Files { files, flags } => {
            LastInput::Files { files: files.clone(), flags: flags.clone() }
        }
        _ => LastInput::Project,
    };
    let json = serde_json::to_vec(&input).unwrap_or_default();
    // Where it cannot be kept, `replay` asks for the input again.
    let _ = Target::File(state(root, state_dir).join(LAST_INPUT)).write(&json);
}

/// What the last findings are about, where that is known.
pub fn input(root: &Path, state_dir: Option<&Path>) -> Option<LastInput> {
    let bytes = std::fs::read(state(root, state_dir).join(LAST_INPUT)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The findings of the last command in this project.
pub fn read_kept(root: &Path, state_dir: Option<&Path>) -> Result<Findings> {
    let path = path(root, state_dir);
    if !path.exists() {
        bail!("nothing was found here yet: run `firstfault check` first, or name a JSON report");
    }
    read(&path)
}

/// A JSON report.
pub fn read(path: &Path) -> Result<Findings> {
    let about = || format!("cannot read {}", path.display());
    let size = std::fs::metadata(path).with_context(about)?.len();
    if size > MAX_BYTES {
        bail!("{}: larger than 4 GiB", about());
    }
    let bytes = std::fs::read(path).with_context(about)?;
    let findings: Findings = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is no report of firstfault", path.display()))?;
    if findings.schema != findings::SCHEMA {
        bail!("{} is a report of another kind: {}", path.display(), findings.schema);
    }
    Ok(findings)
}

/// Where the findings of the last command are.
pub fn path(root: &Path, state_dir: Option<&Path>) -> PathBuf {
    state(root, state_dir).join(LAST)
}

fn state(root: &Path, state: Option<&Path>) -> PathBuf {
    state.map_or_else(|| Settings::for_project(root).state_dir, Path::to_owned)
}

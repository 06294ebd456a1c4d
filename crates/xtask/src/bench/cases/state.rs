//! Answers that are there already: a measurement that was stopped goes on where it was.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::parts::{Part, Subject};
use super::said::Said;
use crate::bench::juliet::hash;

/// A file with one answer a line, each under the key of what was asked.
pub struct State {
    known: BTreeMap<String, Said>,
    is_resumed: bool,
    file: Mutex<File>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    said: Said,
}

impl State {
    /// Opens the file; answers of earlier runs are kept, but count only where `resume` is
    /// asked for.
    pub fn open(path: &Path, resume: bool) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let mut known = BTreeMap::new();
        if path.is_file() {
            let text = fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            // The last line may have been cut off with the run; it is asked again.
            let kept = text.lines().filter_map(|line| serde_json::from_str::<Kept>(line).ok());
            known = kept.map(|kept| (kept.key, kept.said)).collect();
        }
        let mut file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        for (key, said) in &known {
            write(&mut file, key, said)?;
        }
        Ok(Self { known, is_resumed: resume, file: Mutex::new(file) })
    }

    /// The answer under this key, asked for where there is none.
    pub fn answer(&self, key: &str, ask: impl FnOnce() -> Result<Said>) -> Result<Said> {
        if let Some(said) = self.known.get(key).filter(|_| self.is_resumed) {
            return Ok(said.clone());
        }
        let said = ask()?;
        let mut file = self.file.lock().expect("no other thread panics while it writes");
        write(&mut file, key, &said)?;
        Ok(said)
    }
}

fn write(file: &mut File, key: &str, said: &Said) -> Result<()> {
    let kept = Kept { key: key.to_owned(), said: said.clone() };
    let line = format!("{}\n", serde_json::to_string(&kept)?);
    file.write_all(line.as_bytes()).context("cannot keep an answer")
}

/// What an answer depends on: the tool and its options, the program and its truth.
pub fn key(column: &str, part: &Part, subject: &Subject) -> Result<String> {
    let mut content = format!("{:?}", subject.task);
    for file in &subject.files {
        let path: PathBuf = part.folder.join(file);
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        content += &String::from_utf8_lossy(&text);
    }
    Ok(format!("{column} | {} {} | {:016x}", part.name, subject.name, hash(1, &content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(cpu: f64) -> Said {
        Said { cpu, ..Said::default() }
    }

    #[test]
    fn only_a_resumed_run_knows_earlier_answers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/answers");
        let state = State::open(&path, false).unwrap();
        assert_eq!(state.answer("k", || Ok(said(1.0))).unwrap(), said(1.0));
        drop(state);
        let state = State::open(&path, true).unwrap();
        assert_eq!(state.answer("k", || panic!("it is known")).unwrap(), said(1.0));
        assert_eq!(state.answer("other", || Ok(said(2.0))).unwrap(), said(2.0));
        drop(state);
        let state = State::open(&path, false).unwrap();
        assert_eq!(state.answer("k", || Ok(said(3.0))).unwrap(), said(3.0));
        drop(state);
        let state = State::open(&path, true).unwrap();
        assert_eq!(state.answer("k", || panic!("it is known")).unwrap(), said(3.0));
        assert_eq!(state.answer("other", || panic!("it is known")).unwrap(), said(2.0));
    }

    #[test]
    fn a_line_that_was_cut_off_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        let state = State::open(&path, false).unwrap();
        state.answer("a", || Ok(said(1.0))).unwrap();
        state.answer("b", || Ok(said(2.0))).unwrap();
        drop(state);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        let state = State::open(&path, true).unwrap();
        assert_eq!(state.answer("a", || Ok(said(9.0))).unwrap(), said(1.0));
        assert_eq!(state.answer("b", || Ok(said(9.0))).unwrap(), said(9.0));
    }
}

//! Runs the real program, built with sanitizers, on the witnesses of faults.
//!
//! A fault is reproduced where a sanitizer reports its rule at its place. Where the compiled
//! program does something else, a model of ours is wrong, and that is said.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use base::{Cancel, Scratch};
use findings::{Fault, RunInput};
use report::sanitizer::{self, Seen};
use run::BuildOptions;
use run::sanitized::{self, Sanitizers};

use crate::commands::project;

/// What the compiled program did on a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// A sanitizer reports the rule at the place.
    Reproduced(Seen),
    /// Sanitizers report something else.
    Different(Seen),
    /// The program ran to its end, or to its limit, without a report.
    Nothing(String),
    /// The witness cannot be given to a native run.
    NotRun(String),
}

/// Builds of one program, made when they are first needed.
pub struct Replayer<'a> {
    options: BuildOptions,
    scratch: Scratch,
    built: BTreeMap<Sanitizers, PathBuf>,
    time: Duration,
    is_confined: bool,
    cancel: &'a Cancel,
}

impl<'a> Replayer<'a> {
    pub fn new(
        options: BuildOptions,
        time: Duration,
        is_confined: bool,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        project::say_unknown_flags(&options);
        let scratch = Scratch::new().context("cannot make a scratch folder")?;
        Ok(Self { options, scratch, built: BTreeMap::new(), time, is_confined, cancel })
    }

    /// Runs the program on the fault's witness.
    pub fn replay(&mut self, fault: &Fault) -> Result<Replayed> {
        let Some(witness) = &fault.witness else {
            return Ok(Replayed::NotRun("it has no witness".to_owned()));
        };
        if let Some(other) = witness.others.first() {
            return Ok(Replayed::NotRun(format!("no command line gives this: {other}")));
        }
        let sanitizers = match fault.rule.as_str() {
            "uninitialized-read" => Sanitizers::Memory,
            _ => Sanitizers::Address,
        };
        let program = self.built(sanitizers)?;
        let folder = Scratch::within(self.scratch.path())?;
        if let Err(reason) = write_files(witness, folder.path()) {
            return Ok(Replayed::NotRun(reason));
        }
        let ran = sanitized::run(
            &program,
            &sanitized::Run {
                sanitizers,
                arguments: witness.arguments.iter().map(|text| bytes(text)).collect(),
                stdin: witness.stdin.as_deref().map(bytes).unwrap_or_default(),
                environment: environment(witness),
                folder: folder.path(),
                time: self.time,
                is_confined: self.is_confined,
            },
            self.cancel,
        )?;
        let seen = sanitizer::read(&String::from_utf8_lossy(&ran.stderr));
        Ok(judge(fault, seen, &ran.ending))
    }

    fn built(&mut self, sanitizers: Sanitizers) -> Result<PathBuf> {
        if let Some(path) = self.built.get(&sanitizers) {
            return Ok(path.clone());
        }
        let folder = self.scratch.path().join(format!("{sanitizers:?}").to_lowercase());
        std::fs::create_dir(&folder).context("cannot make a scratch folder")?;
        let path = sanitized::build(&self.options, sanitizers, &folder, self.cancel)?;
        self.built.insert(sanitizers, path.clone());
        Ok(path)
    }
}

/// Whether one of the reports is the fault.
fn judge(fault: &Fault, seen: Vec<Seen>, ending: &str) -> Replayed {
    if let Some(same) = seen.iter().find(|seen| is_same(fault, seen)) {
        return Replayed::Reproduced(same.clone());
    }
    let mut others = seen.into_iter();
    others.next().map_or_else(|| Replayed::Nothing(ending.to_owned()), Replayed::Different)
}

/// Rules that sanitizers do not tell apart as the specifications do.
fn family(rule: &str) -> &str {
    match rule {
        "buffer-overread" | "buffer-underflow" => "buffer-overflow",
        "integer-truncation" | "integer-signedness" => "integer-overflow",
        "double-free" | "invalid-free" => "use-after-free",
        rule => rule,
    }
}

fn is_same(fault: &Fault, seen: &Seen) -> bool {
    if family(&fault.rule) != family(seen.rule) {
        return false;
    }
    let is_in_stack = |file: &str, line: u32| {
        let name = Path::new(file).file_name();
        let is_here = |frame: &findings::Place| {
            frame.line == line && Path::new(&frame.file).file_name() == name
        };
        seen.stack.iter().any(is_here)
    };
    if is_in_stack(&fault.place.file, fault.place.line) {
        return true;
    }
    // LeakSanitizer knows where the block was allocated, the fault where it was lost.
    let mut steps = fault.segments.iter().flat_map(|segment| &segment.steps);
    seen.rule == "leak" && steps.any(|step| is_in_stack(&step.place.file, step.place.line))
}

/// The bytes of a text with one character for each.
pub fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}

fn environment(witness: &RunInput) -> Vec<(Vec<u8>, Vec<u8>)> {
    let set = witness.environment.iter();
    set.filter_map(|v| Some((bytes(&v.name), bytes(v.value.as_deref()?)))).collect()
}

/// Puts the witness' files where the program finds them: below its working folder.
pub fn write_files(witness: &RunInput, folder: &Path) -> Result<(), String> {
    use std::os::unix::ffi::OsStrExt;
    for file in &witness.files {
        if file.content.is_none() && !file.is_folder {
            continue;
        }
        let name = bytes(&file.name);
        let name = Path::new(std::ffi::OsStr::from_bytes(&name));
        let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
        if file.is_folder && name == Path::new(".") {
            continue;
        }
        if !is_below || name.as_os_str().is_empty() {
            return Err(format!("the run opens {}, outside its folder", name.display()));
        }
        let path = folder.join(name);
        let written = match &file.content {
            Some(content) => std::fs::create_dir_all(path.parent().unwrap_or(folder))
                .and_then(|()| std::fs::write(&path, bytes(content))),
            None => std::fs::create_dir_all(&path),
        };
        written.map_err(|error| format!("cannot write {}: {error}", name.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{FaultOrigin, InputFile, Level, Place, Segment, Severity, Step, Verdict};

    fn place(line: u32) -> Place {
        Place { file: "src/a.c".to_owned(), line, ..Place::default() }
    }

    fn fault(rule: &str, line: u32) -> Fault {
        Fault {
            id: "F1".to_owned(),
            rule: rule.to_owned(),
            cwe: Vec::new(),
            severity: Severity::Error,
            verdict: Verdict::Unsafe,
            place: place(line),
            message: String::new(),
            level: Level::Proved,
            input_dependent: true,
            witness: Some(RunInput::default()),
            origin: FaultOrigin::Detection,
            segments: Vec::new(),
            n_paths: None,
            error_state: String::new(),
            fingerprint: String::new(),
            group: None,
        }
    }

    fn seen(rule: &'static str, lines: &[u32]) -> Seen {
        let frame = |line: &u32| Place { file: "/build/x/src/a.c".to_owned(), ..place(*line) };
        Seen { rule, stack: lines.iter().map(frame).collect(), message: String::new() }
    }

    #[test]
    fn the_rule_and_the_place_must_agree() {
        let fault_at_3 = fault("buffer-overread", 3);
        assert!(is_same(&fault_at_3, &seen("buffer-overflow", &[9, 3])));
        assert!(!is_same(&fault_at_3, &seen("buffer-overflow", &[9])));
        assert!(!is_same(&fault_at_3, &seen("null-dereference", &[3])));
        let elsewhere = Place { file: "/build/x/src/b.c".to_owned(), ..place(3) };
        let other = Seen { stack: vec![elsewhere], ..seen("buffer-overflow", &[]) };
        assert!(!is_same(&fault_at_3, &other));
    }

    #[test]
    fn a_leak_is_known_by_its_allocation() {
        let mut lost = fault("leak", 20);
        assert!(!is_same(&lost, &seen("leak", &[7])));
        let step = Step { place: place(7), note: String::new(), impact: true, depth: 0 };
        lost.segments.push(Segment { steps: vec![step] });
        assert!(is_same(&lost, &seen("leak", &[7])));
    }

    #[test]
    fn another_report_is_not_taken_for_the_fault() {
        let fault = fault("leak", 3);
        let other = seen("null-dereference", &[3]);
        assert_eq!(judge(&fault, vec![other.clone()], "exited"), Replayed::Different(other));
        let nothing = judge(&fault, Vec::new(), "exited with 0");
        assert_eq!(nothing, Replayed::Nothing("exited with 0".to_owned()));
    }

    #[test]
    fn files_are_written_below_the_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let witness = |name: &str| RunInput {
            files: vec![InputFile {
                name: name.to_owned(),
                content: Some("\u{ff}x".to_owned()),
                is_folder: false,
            }],
            ..RunInput::default()
        };
        write_files(&witness("sub/data.bin"), folder.path()).unwrap();
        let written = std::fs::read(folder.path().join("sub/data.bin")).unwrap();
        assert_eq!(written, [0xff, b'x']);
        for name in ["/etc/x", "../x", "a/../../x", ""] {
            assert!(write_files(&witness(name), folder.path()).is_err(), "{name}");
        }
    }
}

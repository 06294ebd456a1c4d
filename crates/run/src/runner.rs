//! Runs single tests: plain or instrumented, profiled, or with one value replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::time::Duration;

use base::{Cancel, Scratch};
use rt::layout::{Mode, status};

use crate::build::Program;
use crate::control::ControlFile;
use crate::limits::Limits;
use crate::profile::Profile;
use crate::sandbox::{self, End, Launch, Streams};
use crate::search::Replacement;
use crate::suite::{Expected, Oracle, Test};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(u8),
    Signalled(i32),
    /// It used up its steps or its time.
    OverLimit,
}

/// What a run of a test showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub passed: bool,
    pub ending: Ending,
    /// Value sites passed.
    pub events: u64,
    /// Which segments ran.
    pub coverage: Vec<bool>,
    pub stdout: Vec<u8>,
    pub cpu: Duration,
}

/// Runs tests of one program.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    pub program: &'a Program,
    pub limits: Limits,
    pub cancel: &'a Cancel,
}

/// What to do in a run, and the control file for it.
pub(crate) struct Job<'a> {
    pub executable: &'a Path,
    pub control: Option<&'a Path>,
    pub limits: Limits,
}

/// What a process left behind.
pub(crate) struct Left {
    pub end: End,
    pub cpu: Duration,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub folder: Scratch,
}

impl Runner<'_> {
    /// The test on the uninstrumented program.
    pub fn run_plain(&self, test: &Test) -> io::Result<Observation> {
        let job = Job { executable: &self.program.plain, control: None, limits: self.limits };
        let left = self.start(test, &job)?;
        Ok(Observation {
            passed: passes(test, &left),
            ending: ending(left.end),
            events: 0,
            coverage: Vec::new(),
            cpu: left.cpu,
            stdout: left.stdout,
        })
    }

    /// The test on the instrumented program, with nothing replaced.
    pub fn run(&self, test: &Test) -> io::Result<Observation> {
        Ok(self.observe(test, Mode::Plain, None)?.0)
    }

    /// As [`run`](Self::run), and adds the values seen to `profile`.
    pub fn run_profiled(&self, test: &Test, profile: &mut Profile) -> io::Result<Observation> {
        let (observation, control) = self.observe(test, Mode::Profile, None)?;
        profile.add_log(&control.log()?, control.control.log_lost);
        Ok(observation)
    }

    /// The distinct sets of values that some sites had in a run: the site's own value, then
    /// its leaves'.
    pub fn values_at(
        &self,
        test: &Test,
        sites: &BTreeSet<u32>,
    ) -> io::Result<BTreeMap<u32, BTreeSet<Vec<u64>>>> {
        let (_, control) = self.observe(test, Mode::Profile, None)?;
        Ok(crate::profile::value_sets(&control.log()?, sites))
    }

    /// A run from the start in which one value is replaced. `None` where the replaced
    /// instance was not the one expected: the run is not repeatable.
    pub fn run_replaced(
        &self,
        test: &Test,
        replacement: &Replacement,
        steps_after: u64,
    ) -> io::Result<Option<Observation>> {
        let (observation, control) =
            self.observe(test, Mode::Replace, Some((replacement, steps_after)))?;
        let c = &control.control;
        let is_lost = c.status == status::LOST || c.events == 0;
        Ok((!is_lost).then_some(observation))
    }

    fn observe(
        &self,
        test: &Test,
        mode: Mode,
        replacement: Option<(&Replacement, u64)>,
    ) -> io::Result<(Observation, ControlFile)> {
        const PROFILE_LOG: u64 = 256 << 20;
        const PROFILING_IS_SLOWER: u32 = 30;
        let home = Scratch::in_memory()?;
        let mut control = ControlFile::create(&home.path().join("control"), self.program)?;
        control.control.mode = mode as u32;
        control.control.budget = self.limits.steps;
        control.control.memory_limit = self.limits.memory;
        if let Some((replacement, steps_after)) = replacement {
            control.control.target_event = replacement.event;
            control.control.target_site = replacement.site;
            control.control.target_value = replacement.value;
            control.control.replaced_budget = steps_after;
        }
        if mode == Mode::Profile {
            let sites = crate::search::site_table(self.program, |_| 0);
            control.control.sites_at = control.table(&sites)?;
        }
        control.finish(if mode == Mode::Profile { PROFILE_LOG } else { 0 })?;
        let mut limits = self.limits;
        if mode == Mode::Profile {
            // Looking at every value is slow, and no sign that the program hangs: the
            // budget of steps still holds.
            limits.time *= PROFILING_IS_SLOWER;
        }
        let job = Job {
            executable: &self.program.instrumented.path,
            control: Some(&control.path),
            limits,
        };
        let left = self.start(test, &job)?;
        control.read_header()?;
        let is_over = control.control.status == status::OUT_OF_BUDGET;
        let observation = Observation {
            passed: !is_over && passes(test, &left),
            ending: if is_over { Ending::OverLimit } else { ending(left.end) },
            events: events(&control, mode)?,
            coverage: control.coverage(self.program.segments.len())?,
            cpu: left.cpu,
            stdout: left.stdout,
        };
        Ok((observation, control))
    }

    /// Runs the program for a test, in a fresh folder.
    pub(crate) fn start(&self, test: &Test, job: &Job<'_>) -> io::Result<Left> {
        start(test, job, self.cancel)
    }
}

/// Runs a program for a test, in a fresh folder.
pub(crate) fn start(test: &Test, job: &Job<'_>, cancel: &Cancel) -> io::Result<Left> {
    let folder = Scratch::in_memory()?;
    for (name, source) in &test.inputs {
        let to = folder.path().join(name);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(source, to).map_err(|e| {
            io::Error::new(e.kind(), format!("cannot copy {}: {e}", source.display()))
        })?;
    }
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let mut set = |name: &str, value: &OsStr| environment.insert(name.into(), value.into());
    let mut arguments = Vec::new();
    let program = match &test.oracle {
        Oracle::Output(_) => job.executable,
        Oracle::Script(script) => {
            arguments.push(job.executable.into());
            set("PROGRAM", job.executable.as_os_str());
            script
        }
    };
    arguments.extend(test.args.iter().map(OsString::from));
    for (name, value) in &test.environment {
        set(name, value.as_ref());
    }
    if let Some(control) = job.control {
        set(rt::CONTROL_VARIABLE, control.as_os_str());
    }
    let launch = Launch {
        program,
        arguments,
        environment: environment.into_iter().collect(),
        folder: folder.path(),
        reads: vec![job.executable],
        writes: job.control.into_iter().collect(),
        permissions: &test.permissions,
        may_trace: false,
        is_confined: job.limits.is_confined,
    };
    let mut streams = Streams::new(&test.stdin)?;
    let (end, cpu) = sandbox::run(&launch, &streams, &job.limits.bounds(), cancel)?;
    if end == End::Cancelled {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
    }
    let (stdout, stderr) = (contents(&mut streams.stdout)?, contents(&mut streams.stderr)?);
    Ok(Left { end, cpu, stdout, stderr, folder })
}

pub(crate) fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn ending(end: End) -> Ending {
    match end {
        End::Exited(code) => Ending::Exited(code),
        End::Signalled(signal) => Ending::Signalled(signal),
        End::TimedOut | End::Cancelled => Ending::OverLimit,
    }
}

fn events(control: &ControlFile, mode: Mode) -> io::Result<u64> {
    let c = &control.control;
    Ok(match mode {
        Mode::Profile | Mode::Search => c.events,
        Mode::Plain => c.budget.saturating_sub(control.countdown()?),
        Mode::Replace if c.events == 0 => 0,
        Mode::Replace => c.events + c.replaced_budget.saturating_sub(control.countdown()?),
    })
}

pub(crate) fn passes(test: &Test, left: &Left) -> bool {
    let End::Exited(code) = left.end else { return false };
    match &test.oracle {
        Oracle::Script(_) => code == 0,
        Oracle::Output(expected) => {
            expected.exit.is_none_or(|exit| exit == code)
                && expected.stdout.as_ref().is_none_or(|bytes| *bytes == left.stdout)
                && expected.stderr.as_ref().is_none_or(|bytes| *bytes == left.stderr)
                && files_match(expected, left.folder.path())
        }
    }
}

fn files_match(expected: &Expected, folder: &Path) -> bool {
    let names: BTreeSet<&String> = expected.files.iter().map(|(name, _)| name).collect();
    names.len() == expected.files.len()
        && expected
            .files
            .iter()
            .all(|(name, bytes)| written(&folder.join(name), bytes.len()).as_ref() == Some(bytes))
}

/// What the program wrote, if it is as long as expected: it may have put anything there.
fn written(path: &Path, size: usize) -> Option<Vec<u8>> {
    base::read::regular(path, size as u64).ok()
}

//! Where the processor time went, for `--timings`. Never part of a report: reports do not
//! depend on how fast the machine is.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// Collects from all threads.
#[derive(Debug, Default)]
pub struct Timings {
    phases: Mutex<BTreeMap<&'static str, Duration>>,
}

/// The file's content.
#[derive(Serialize)]
struct Written<'a> {
    units: usize,
    imported: usize,
    functions: u64,
    panics: usize,
    /// User and system time by phase, over all threads; children are phases of their own.
    cpu_seconds: BTreeMap<&'a str, f64>,
}

/// What was worked on, to relate the times to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    pub units: usize,
    pub imported: usize,
    pub functions: u64,
    pub panics: usize,
}

impl Timings {
    pub fn add(&self, phase: &'static str, time: Duration) {
        if let Ok(mut phases) = self.phases.lock() {
            *phases.entry(phase).or_default() += time;
        }
    }

    /// Charges what this thread spends in `work` to a phase.
    pub fn on_thread<T>(&self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        self.measured(phase, ClockId::ThreadCPUTime, work)
    }

    /// Charges what all threads together spend while `work` runs to a phase.
    pub fn on_all_threads<T>(&self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        self.measured(phase, ClockId::ProcessCPUTime, work)
    }

    /// Charges what all threads together spend while `work` runs to a phase, except what
    /// `work` charges to phases itself.
    pub fn on_all_threads_besides<T>(&self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        let (before, charged) = (now(ClockId::ProcessCPUTime), self.total());
        let result = work();
        let spent = now(ClockId::ProcessCPUTime).saturating_sub(before);
        self.add(phase, spent.saturating_sub(self.total().saturating_sub(charged)));
        result
    }

    fn total(&self) -> Duration {
        self.phases.lock().map(|phases| phases.values().sum()).unwrap_or_default()
    }

    fn measured<T>(&self, phase: &'static str, clock: ClockId, work: impl FnOnce() -> T) -> T {
        let before = now(clock);
        let result = work();
        self.add(phase, now(clock).saturating_sub(before));
        result
    }

    pub fn write(&self, path: &Path, work: Work) -> Result<()> {
        let phases = self.phases.lock().map(|phases| phases.clone()).unwrap_or_default();
        let written = Written {
            units: work.units,
            imported: work.imported,
            functions: work.functions,
            panics: work.panics,
            cpu_seconds: phases.iter().map(|(name, time)| (*name, time.as_secs_f64())).collect(),
        };
        let json = serde_json::to_string_pretty(&written)? + "\n";
        std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
    }
}

fn now(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

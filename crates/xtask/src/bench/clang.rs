//! The yardstick: what clang itself spends on turning the same units into bitcode.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Limits};

use super::parallel;
use super::units::Unit;

pub struct Reference {
    /// User and system time over all units.
    pub cpu: Duration,
    /// Units clang compiles.
    pub compiled: Vec<String>,
}

/// Compiles every unit with `clang-19 -O0 -g -emit-llvm`, `jobs` at a time.
pub fn reference(units: &[Unit], folder: &Path, jobs: usize) -> Result<Reference> {
    let mut total = Reference { cpu: Duration::ZERO, compiled: Vec::new() };
    for (unit, outcome) in units.iter().zip(parallel::map(units, jobs, |u| compile(u, folder))) {
        let (cpu, success) = outcome?;
        total.cpu += cpu;
        if success {
            total.compiled.push(unit.file.clone());
        }
    }
    Ok(total)
}

fn compile(unit: &Unit, folder: &Path) -> Result<(Duration, bool)> {
    let mut command = child::command("clang-19").context("cannot run clang-19")?;
    command
        .args(&unit.flags)
        .args(["-O0", "-g", "-emit-llvm", "-w", "-c", "-o", "/dev/null"])
        .arg(&unit.file)
        .current_dir(folder);
    let finished = child::run(command, b"", &Limits::default(), &Cancel::new())
        .with_context(|| format!("clang-19 on {}", unit.file))?;
    Ok((finished.cpu, finished.ending.success()))
}

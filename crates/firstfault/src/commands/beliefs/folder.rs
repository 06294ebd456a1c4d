//! Events in a folder of the user's: one Parquet file for each unit.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use beliefs::{Events, Units};
use report::output::Target;

use crate::pipeline::guarded;

/// The files of a folder; each was read once, so that ranking finds no surprises.
pub struct Folder {
    paths: Vec<PathBuf>,
    pub n_events: u64,
}

impl Units for Folder {
    fn n_units(&self) -> usize {
        self.paths.len()
    }

    fn events(&self, unit: usize) -> Option<Cow<'_, Events>> {
        decode(self.paths.get(unit)?).ok().map(Cow::Owned)
    }
}

/// Opens a folder that [`write`] filled.
pub fn open(folder: &Path) -> Result<Folder> {
    let about = || format!("cannot read events from {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(about)? {
        let path = entry.with_context(about)?.path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        bail!("{} holds no events; --events DIR writes them", folder.display());
    }
    paths.sort();
    let mut n_events = 0;
    for path in &paths {
        let events = decode(path).with_context(|| path.display().to_string())?;
        n_events += events.rows.len() as u64;
    }
    Ok(Folder { paths, n_events })
}

fn decode(path: &Path) -> Result<Events> {
    let bytes = std::fs::read(path)?;
    // A damaged file of others may do anything to its reader.
    let events = guarded(|| beliefs::columns::decode(bytes)).map_err(anyhow::Error::msg)?;
    Ok(events?)
}

/// One file for each unit, numbered in the order of the units.
pub fn write(folder: &Path, events: &dyn Units) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for number in 0..events.n_units() {
        let Some(unit) = events.events(number) else { continue };
        let path = folder.join(format!("{number:06}.parquet"));
        Target::new(Some(path)).write(&beliefs::columns::encode(&unit)?)?;
    }
    Ok(())
}

/// The events of two versions one after the other.
pub struct Both<'a>(pub &'a dyn Units, pub &'a dyn Units);

impl Units for Both<'_> {
    fn n_units(&self) -> usize {
        self.0.n_units() + self.1.n_units()
    }

    fn events(&self, unit: usize) -> Option<Cow<'_, Events>> {
        match unit.checked_sub(self.0.n_units()) {
            None => self.0.events(unit),
            Some(unit) => self.1.events(unit),
        }
    }
}

//! Input of the third kind: a build that is run and watched, now or earlier.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::cache::{Cache, Key};
use crate::database::normal;
use crate::deps::Freshness;
use crate::error::{CaptureError, UnitFailure};
use crate::link::Linked;
use crate::load::{Loader, Task};
use crate::observe::run_build;
use crate::plan::plan;
use crate::preprocess::{Manifest, Preprocessed, UnitCommand, Workshop, freshness, preprocess};
use crate::project::{Build, Project, Settings, Text};
use crate::record::{CaptureFolder, Outcome, Record};

/// Texts that no record refers to are kept this long: a build that is going on may be
/// about to refer to them.
const UNUSED_TEXTS: Duration = Duration::from_secs(7 * 24 * 3600);

/// The captured build of a project folder, if there is one.
pub fn find(folder: &Path, settings: &Settings) -> Option<CaptureFolder> {
    let states = [settings.state_dir.clone(), folder.join(".firstfault")];
    let captures = states.iter().filter_map(|state| std::path::absolute(state).ok());
    captures.map(|state| CaptureFolder::in_state(&state)).find(|capture| {
        capture.root().is_some_and(|root| is_same(&root, folder)) && capture.last_change().is_some()
    })
}

fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| normal(path));
    real(a) == real(b)
}

impl CaptureFolder {
    /// When the last record was added; `None` if there is none.
    pub fn last_change(&self) -> Option<SystemTime> {
        let records = fs::read_dir(self.records()).ok()?.flatten();
        records.filter_map(|record| record.metadata().ok()?.modified().ok()).max()
    }
}

impl Loader<'_> {
    pub fn build(&self, build: &Build) -> Result<Project, CaptureError> {
        let state = &self.settings.state_dir;
        let state = std::path::absolute(state)
            .map_err(|cause| CaptureError::StateFolder { path: state.clone(), cause })?;
        let capture = CaptureFolder::in_state(&normal(&state));
        let failed = run_build(build, &capture, &self.root, &self.clang, self.settings)?;
        tidy(&capture);
        let project = self
            .captured(&capture)
            .map(|project| Project { build_failed: failed.clone(), ..project });
        match (project, failed) {
            (Err(CaptureError::NothingCaptured(_)), Some(failed)) => {
                Err(CaptureError::NothingCaptured(format!("{failed} before it compiled any C")))
            }
            (project, _) => project,
        }
    }

    pub fn captured(&self, capture: &CaptureFolder) -> Result<Project, CaptureError> {
        let records = capture
            .read()
            .map_err(|cause| CaptureError::Unreadable { path: capture.records(), cause })?;
        let records = records.into_iter().map(|(_, record)| record).collect();
        let plan = plan(records, &self.root);
        if plan.units.is_empty() {
            return Err(CaptureError::NothingCaptured(nothing_captured()));
        }
        let store = Arc::new(capture.store());
        let mut project = Project { notices: plan.notices, ..Project::default() };
        let tasks = plan.units.into_iter().map(|unit| Task {
            command: unit.command,
            stored: unit.manifest.map(|manifest| StoredUnit { manifest, store: store.clone() }),
        });
        let numbers = self.make_units(tasks.collect(), &mut project)?;
        for mut program in plan.programs {
            program.units = program.units.into_iter().filter_map(|unit| numbers[unit]).collect();
            project.programs.push(program);
        }
        Ok(project)
    }
}

fn nothing_captured() -> String {
    "the build compiled no C that was kept: if it was up to date, clean it first; if its \
     tools are statically linked, use --shims"
        .to_owned()
}

/// A unit as it was preprocessed during the build.
pub struct StoredUnit {
    manifest: Manifest,
    store: Arc<Cache>,
}

impl StoredUnit {
    /// The stored text while its files are unchanged or gone; preprocessed again where
    /// they have changed since the build.
    pub fn revive(
        &self,
        shop: &Workshop,
        command: &UnitCommand,
    ) -> Result<Preprocessed, UnitFailure> {
        let changed = match freshness(shop, command, &self.manifest) {
            Freshness::Same | Freshness::SameContent => false,
            // Generated files come and go with the build: the text is what it compiled.
            Freshness::Missing => false,
            Freshness::Changed => command.source != "-",
        };
        if changed || !self.store.contains(&self.manifest.text) {
            return preprocess(shop, command).map_err(|failure| self.hint(shop, failure));
        }
        let remake = (command.source != "-").then(|| Arc::new(command.clone()));
        let text = Text::Stored { cache: self.store.clone(), key: self.manifest.text, remake };
        Ok(Preprocessed { text, manifest: self.manifest.clone(), cpu: None })
    }
}

impl StoredUnit {
    /// Points out what an edited source may lack.
    fn hint(&self, shop: &Workshop, failure: UnitFailure) -> UnitFailure {
        let gone = self.manifest.dependencies.iter().find(|d| !shop.files.exists(&d.path));
        let reason = match gone {
            Some(gone) => format!(
                "{}; {} is gone since the build was captured: capture it again",
                failure.reason,
                gone.path.display()
            ),
            None => failure.reason,
        };
        UnitFailure { reason, ..failure }
    }
}

/// Drops records that later ones replace, and texts that no record needs.
fn tidy(capture: &CaptureFolder) {
    let Ok(records) = capture.read() else { return };
    let mut latest: HashMap<PathBuf, usize> = HashMap::new();
    for (index, (_, record)) in records.iter().enumerate() {
        for path in outputs(record) {
            latest.insert(path.clone(), index);
        }
    }
    let mut needed: HashSet<Key> = HashSet::new();
    let mut texts: HashSet<Key> = HashSet::new();
    // Parts are older than what is made of them: from the end, every need is known in time.
    for (index, (file, record)) in records.iter().enumerate().rev() {
        let outputs = outputs(record);
        let replaced = !outputs.is_empty() && outputs.iter().all(|path| latest[*path] > index);
        if replaced && !contents(record).any(|hash| needed.contains(&hash)) {
            let _ = fs::remove_file(file);
            continue;
        }
        for compile in &record.compiles {
            match &compile.outcome {
                Outcome::Preprocessed(manifest) => texts.extend([manifest.text]),
                Outcome::Foreign(source) => needed.extend(*source),
                Outcome::Failed { .. } => {}
            }
        }
        let parts = record.products.iter().flat_map(|product| &product.parts);
        needed.extend(parts.filter_map(|part| match part {
            Linked::Object { hash, .. } | Linked::Shared { hash, .. } => Some(*hash),
            Linked::Source(_) => None,
        }));
    }
    capture.store().retain(&texts, UNUSED_TEXTS);
}

fn contents(record: &Record) -> impl Iterator<Item = Key> {
    let objects = record.compiles.iter().filter_map(|compile| compile.object);
    objects.chain(record.products.iter().map(|product| product.hash))
}

fn outputs(record: &Record) -> Vec<&PathBuf> {
    let objects = record.compiles.iter().filter_map(|compile| compile.command.object.as_ref());
    objects.chain(record.products.iter().map(|product| &product.path)).collect()
}

//! What the tests share: a scratch project folder and short ways to load it.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use capture::{Cache, CaptureError, Inputs, Project, Settings};

pub struct Scratch {
    /// Removed with us.
    _parent: tempfile::TempDir,
    folder: PathBuf,
}

impl Scratch {
    pub fn new() -> Self {
        Self::named("project")
    }

    /// A scratch folder of this name.
    pub fn named(name: &str) -> Self {
        let parent = tempfile::tempdir().expect("temp folder");
        let folder = parent.path().join(name);
        fs::create_dir(&folder).expect("writable");
        Self { _parent: parent, folder }
    }

    /// A scratch copy of `tests/projects/NAME`.
    pub fn copy_of(name: &str) -> Self {
        let scratch = Self::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/projects").join(name);
        let copied = Command::new("cp")
            .arg("-r")
            .arg(source.join("."))
            .arg(scratch.path(""))
            .status()
            .expect("cp runs");
        assert!(copied.success());
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file that looks a second old: results are not cached for files written
    /// in the moment the compiler starts.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("has one")).expect("writable");
        fs::write(&path, text).expect("writable");
        let file = fs::File::options().write(true).open(&path).expect("ours");
        file.set_modified(SystemTime::now() - Duration::from_secs(1)).expect("ours");
        path
    }

    pub fn state(&self) -> PathBuf {
        self.path(".firstfault")
    }

    pub fn settings(&self) -> Settings<'static> {
        Settings { state_dir: self.state(), jobs: 2, ..Settings::for_project(&self.folder) }
    }

    /// Loads with a cache opened anew, as another run would.
    pub fn load(&self, inputs: &Inputs) -> Result<Project, CaptureError> {
        capture::load(inputs, &Arc::new(Cache::open(&self.state())), &self.settings())
    }

    pub fn files(&self, names: &[&str], flags: &[&str]) -> Inputs {
        Inputs::Files {
            files: names.iter().map(|name| self.path(name)).collect(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        }
    }

    pub fn folder(&self) -> Inputs {
        Inputs::Folder(self.folder.clone())
    }
}

pub fn text(project: &Project, path: &str) -> String {
    let unit = project.units.iter().find(|unit| unit.path == path);
    let unit = unit.unwrap_or_else(|| panic!("no unit {path} in {:?}", paths(project)));
    String::from_utf8(unit.text.read().expect("stored").to_vec()).expect("UTF-8")
}

pub fn paths(project: &Project) -> Vec<&str> {
    project.units.iter().map(|unit| unit.path.as_str()).collect()
}

//! The notes that `ff-cc` takes during a build, one file for each command.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Key, write_atomically};
use crate::link::Linked;
use crate::preprocess::{Manifest, UnitCommand};

/// What one command of the build did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    pub compiles: Vec<Compile>,
    pub products: Vec<Product>,
}

/// A source that was compiled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compile {
    /// Holds the path of the object, if it was kept.
    pub command: UnitCommand,
    /// The content of the object.
    pub object: Option<Key>,
    pub outcome: Outcome,
}

/// What became of a compiled source on our side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Outcome {
    Preprocessed(Manifest),
    Failed {
        reason: String,
        details: Vec<String>,
    },
    /// Not C. Assembler text may have been made from C before: hence its content.
    Foreign(Option<Key>),
}

/// What a product is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProductKind {
    Executable,
    Shared,
    Archive,
    /// An object made of objects: `ld -r`, `objcopy`, `strip`, `as`.
    Object,
}

/// A file made of objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Product {
    pub kind: ProductKind,
    pub path: PathBuf,
    pub hash: Key,
    /// Finds the file again after it was renamed.
    pub inode: u64,
    pub parts: Vec<Linked>,
    /// The parts may be too many, see [`crate::link::Resolved`].
    pub inexact: bool,
}

impl Product {
    /// Describes the file as it is now. `None` if it is not a regular file.
    pub fn of_file(kind: ProductKind, path: PathBuf, parts: Vec<Linked>) -> Option<Self> {
        let metadata = fs::metadata(&path).ok()?;
        let hash = hash_file(&path)?;
        Some(Self { kind, path, hash, inode: metadata.ino(), parts, inexact: false })
    }
}

/// The content of a regular file.
pub fn hash_file(path: &Path) -> Option<Key> {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| fs::read(path).ok().map(|bytes| Key::of_content(&bytes)))?
}

/// The folder of a captured build: records, the texts they refer to, and what the build
/// needs to be watched.
#[derive(Clone, Debug)]
pub struct CaptureFolder(pub PathBuf);

impl CaptureFolder {
    pub fn in_state(state: &Path) -> Self {
        Self(state.join("capture"))
    }

    pub fn create(&self) -> std::io::Result<()> {
        fs::create_dir_all(self.records())?;
        fs::create_dir_all(self.temporaries())
    }

    pub fn records(&self) -> PathBuf {
        self.0.join("records")
    }

    pub fn temporaries(&self) -> PathBuf {
        self.0.join("tmp")
    }

    pub fn wrapper(&self) -> PathBuf {
        self.0.join(base::child::guard::PROGRAM)
    }

    pub fn shims(&self) -> PathBuf {
        self.0.join("shims")
    }

    /// A link to the clang that watches the build, whatever `PATH` the build sets.
    pub fn clang(&self) -> PathBuf {
        self.0.join("clang")
    }

    /// The project root the build was captured for.
    pub fn root(&self) -> Option<PathBuf> {
        let bytes = fs::read(self.0.join("root")).ok()?;
        Some(PathBuf::from(OsString::from_vec(bytes)))
    }

    pub fn set_root(&self, root: &Path) -> std::io::Result<()> {
        let bytes = root.as_os_str().as_bytes();
        write_atomically(&self.temporaries(), &self.0.join("root"), bytes)
    }

    /// The store of texts. Nothing is evicted from it: a text whose generated header is
    /// gone cannot be made again.
    pub fn store(&self) -> Cache {
        Cache::with_limit(&self.0, u64::MAX)
    }

    /// Adds a record; names sort by time.
    pub fn add(&self, record: &Record) -> std::io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{:020}-{}.json", now.as_nanos(), std::process::id());
        let bytes = serde_json::to_vec(record)?;
        write_atomically(&self.temporaries(), &self.records().join(name), &bytes)
    }

    /// All records in order of time. Damaged ones are dropped.
    pub fn read(&self) -> std::io::Result<Vec<(PathBuf, Record)>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(self.records())? {
            paths.push(entry?.path());
        }
        paths.sort();
        let read = |path: PathBuf| {
            let record = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            Some((path, record))
        };
        Ok(paths.into_iter().filter_map(read).collect())
    }
}

//! The on-disk store of everything that need not be computed twice.
//!
//! An entry's name is the hash of all that its value depends on, so an entry is never
//! updated and never out of date. Writers fill a temporary file and rename it, readers
//! check a checksum, so any number of firstfault processes can share one folder, and a
//! half-written or damaged entry is dropped and computed again. Nothing here ever
//! fails the run: what cannot be stored is not stored, with one notice.

mod entry;
mod evict;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

pub use entry::Key;

/// The default bound on the folder's size: 4 GiB.
pub const DEFAULT_LIMIT: u64 = 4 << 30;

/// Entries used more recently than this are not evicted, since a running analysis
/// may be about to read them, and their time stamp is not refreshed at each use.
const GRACE: Duration = Duration::from_secs(600);

/// A content-addressed store in `STATE/cache`.
#[derive(Debug)]
pub struct Cache {
    /// `None`: nothing is read or written.
    folder: Option<PathBuf>,
    limit: u64,
    /// Cleared by the first failed write: a full disk stays full.
    writable: AtomicBool,
    written: AtomicU64,
    notices: Mutex<Vec<String>>,
}

impl Cache {
    /// Opens the cache of a state folder, creating both as needed. Never fails: an
    /// unwritable folder gives a notice and a cache that remembers nothing new.
    pub fn open(state: &Path) -> Self {
        Self::with_limit(state, DEFAULT_LIMIT)
    }

    /// As [`open`](Self::open), with a bound on the size in bytes.
    pub fn with_limit(state: &Path, limit: u64) -> Self {
        let folder = state.join("cache");
        let cache = Self {
            folder: Some(folder.clone()),
            limit,
            writable: AtomicBool::new(true),
            written: AtomicU64::new(0),
            notices: Mutex::default(),
        };
        match prepare(state, &folder) {
            Ok(()) => evict::remove_stale_temporaries(&folder),
            Err(error) => cache.give_up_writing(&error),
        }
        cache
    }

    /// A cache that holds nothing, for tests and `--no-cache`.
    pub fn disabled() -> Self {
        Self {
            folder: None,
            limit: 0,
            writable: AtomicBool::new(false),
            written: AtomicU64::new(0),
            notices: Mutex::default(),
        }
    }

    /// The value stored under `key`, if there is an undamaged one.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let bytes = fs::read(&path).ok()?;
        match entry::decode(&bytes) {
            Some(value) => {
                refresh(&path);
                Some(value)
            }
            None => {
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Stores a value. Says whether it is in the cache afterwards.
    pub fn put(&self, key: &Key, value: &[u8]) -> bool {
        let Some(path) = self.path(key) else { return false };
        if path.exists() && self.get(key).is_some() {
            return true;
        }
        if !self.writable.load(Ordering::Relaxed) {
            return false;
        }
        let bytes = entry::encode(value);
        match self.write(&path, &bytes) {
            Ok(()) => {
                self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                true
            }
            Err(error) => {
                self.give_up_writing(&error);
                false
            }
        }
    }

    /// Whether there is a value under `key`. It may yet turn out to be damaged.
    pub fn contains(&self, key: &Key) -> bool {
        self.path(key).is_some_and(|path| {
            refresh(&path);
            path.is_file()
        })
    }

    /// Removes what is not in `keep` and was not used for `age`.
    pub fn retain(&self, keep: &HashSet<Key>, age: Duration) {
        let keep: HashSet<PathBuf> = keep.iter().filter_map(|key| self.path(key)).collect();
        if let Some(folder) = &self.folder {
            evict::remove_unused(folder, &keep, age);
        }
    }

    /// Removes an entry whose value turned out to be unusable.
    pub fn forget(&self, key: &Key) {
        if let Some(path) = self.path(key) {
            let _ = fs::remove_file(path);
        }
    }

    /// Evicts the least recently used entries if the folder outgrew its bound.
    /// Cheap when this run wrote nothing.
    pub fn trim(&self) {
        if let Some(folder) = &self.folder
            && self.written.swap(0, Ordering::Relaxed) > 0
        {
            evict::trim(folder, self.limit, GRACE);
        }
    }

    /// What the user should know: at most one line per kind of trouble.
    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().map(|notices| notices.clone()).unwrap_or_default()
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        let hex = key.to_string();
        Some(self.folder.as_ref()?.join(&hex[..2]).join(&hex[2..]))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(shard) = path.parent() {
            fs::create_dir_all(shard)?;
        }
        let folder = self.folder.as_deref().unwrap_or(Path::new("."));
        write_atomically(&evict::temporaries(folder), path, bytes)
    }

    fn give_up_writing(&self, error: &io::Error) {
        if self.writable.swap(false, Ordering::Relaxed)
            && let (Ok(mut notices), Some(folder)) = (self.notices.lock(), &self.folder)
        {
            notices.push(format!(
                "cannot write to the cache {}: {error}; going on without it \
                 (free some space, or set FIRSTFAULT_STATE to a writable folder)",
                folder.display()
            ));
        }
    }
}

/// Writes a file so that readers see all of it or nothing: into `temporaries`, which
/// must be on the same file system, and then renamed.
pub(crate) fn write_atomically(temporaries: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let serial = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = temporaries.join(format!("{}-{serial}", std::process::id()));
    fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Creates the folders, and keeps version control from looking at them.
fn prepare(state: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(evict::temporaries(folder))?;
    let ignore = state.join(".gitignore");
    if !ignore.exists() {
        fs::write(ignore, "*\n")?;
    }
    Ok(())
}

/// Marks an entry as used, for eviction. A failure only makes eviction less apt.
fn refresh(path: &Path) {
    let now = SystemTime::now();
    let recent = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age < GRACE / 2);
    if let Ok(file) = fs::File::open(path)
        && !file.metadata().and_then(|m| m.modified()).is_ok_and(recent)
    {
        let _ = file.set_modified(now);
    }
}

#[cfg(test)]
mod tests;

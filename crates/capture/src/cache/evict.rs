//! Keeping the cache folder small and free of what dead processes left.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Where entries are written before they get their names.
pub(super) fn temporaries(folder: &Path) -> PathBuf {
    folder.join("tmp")
}

/// Deletes temporary files whose writer is gone. A writer that lives where we cannot
/// see its process id only fails to store that one entry.
pub(super) fn remove_stale_temporaries(folder: &Path) {
    remove_files_of_dead_processes(&temporaries(folder));
}

/// Deletes the files of a folder that are named after a process that no longer runs.
pub(crate) fn remove_files_of_dead_processes(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name();
        let writer = name.to_str().and_then(|name| name.split('-').next()?.parse::<u32>().ok());
        let alive = writer.is_some_and(|pid| Path::new("/proc").join(pid.to_string()).exists());
        if !alive {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Deletes the least recently used entries until the rest is within nine tenths of
/// `limit`, so that not every run has to evict. Entries used within `grace` stay.
pub(super) fn trim(folder: &Path, limit: u64, grace: Duration) {
    let mut entries = entries(folder);
    let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
    if total <= limit {
        return;
    }
    entries.sort_by_key(|entry| entry.used);
    let now = SystemTime::now();
    for entry in entries {
        let recent = now.duration_since(entry.used).is_ok_and(|age| age < grace);
        if total <= limit / 10 * 9 || recent {
            break;
        }
        if fs::remove_file(&entry.path).is_ok() {
            total -= entry.size;
        }
    }
}

/// Deletes entries outside `keep` that were not used for `age`.
pub(super) fn remove_unused(folder: &Path, keep: &HashSet<PathBuf>, age: Duration) {
    let now = SystemTime::now();
    for entry in entries(folder) {
        let old = now.duration_since(entry.used).is_ok_and(|unused| unused >= age);
        if old && !keep.contains(&entry.path) {
            let _ = fs::remove_file(&entry.path);
        }
    }
}

struct Entry {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

fn entries(folder: &Path) -> Vec<Entry> {
    let shards = fs::read_dir(folder).into_iter().flatten().flatten();
    let shards = shards.map(|shard| shard.path()).filter(|path| *path != temporaries(folder));
    let files = shards.flat_map(|shard| fs::read_dir(shard).into_iter().flatten().flatten());
    files
        .filter_map(|file| {
            let metadata = file.metadata().ok()?;
            let used = metadata.modified().ok()?;
            metadata.is_file().then(|| Entry { path: file.path(), size: metadata.len(), used })
        })
        .collect()
}

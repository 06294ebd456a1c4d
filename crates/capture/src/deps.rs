//! The files a unit was made from, and whether they are still what they were.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::cache::Key;

/// A file whose time stamp is younger than this when it is read may be written again
/// without the stamp changing.
const RACY: Duration = Duration::from_secs(2);

/// A file a unit was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Absolute.
    pub path: PathBuf,
    pub hash: Key,
    /// Unchanged stamp, unchanged file: saves reading it. `None` if too young to trust.
    stamp: Option<Stamp>,
}

/// What changes whenever a file is written: even `touch -d` cannot set the change time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            size: metadata.len(),
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The state of files, looked at once per run however many units share them.
#[derive(Debug, Default)]
pub struct Files {
    seen: Mutex<HashMap<PathBuf, Option<Seen>>>,
    folders: Mutex<HashMap<PathBuf, Arc<HashSet<OsString>>>>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    stamp: Stamp,
    /// The stamp is old enough to stand for the content.
    trusted: bool,
    /// Filled when the content had to be read.
    hash: Option<Key>,
}

/// Whether a unit's files are what they were; of several answers the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// All as recorded, by their stamps.
    Same,
    /// All contents as recorded, but some stamps differ: worth recording anew.
    SameContent,
    /// Some file is gone, the others are as recorded.
    Missing,
    /// Some file has other content.
    Changed,
}

impl Files {
    /// Records a file as it is now. `None` if it cannot be read.
    pub fn record(&self, path: &Path) -> Option<Dependency> {
        let seen = self.read(path)?;
        let stamp = seen.trusted.then_some(seen.stamp);
        Some(Dependency { path: path.to_owned(), hash: seen.hash?, stamp })
    }

    pub fn check(&self, dependencies: &[Dependency]) -> Freshness {
        let mut result = Freshness::Same;
        for dependency in dependencies {
            let next = self.check_one(dependency);
            result = result.max(next);
        }
        result
    }

    fn check_one(&self, dependency: &Dependency) -> Freshness {
        match self.look(&dependency.path) {
            None => Freshness::Missing,
            Some(seen) if seen.trusted && dependency.stamp == Some(seen.stamp) => Freshness::Same,
            Some(_) => match self.read(&dependency.path) {
                None => Freshness::Missing,
                Some(seen) if seen.hash != Some(dependency.hash) => Freshness::Changed,
                Some(seen) if seen.trusted => Freshness::SameContent,
                Some(_) => Freshness::Same,
            },
        }
    }

    pub fn exists(&self, path: &Path) -> bool {
        self.look(path).is_some()
    }

    /// The names in a folder; none if it cannot be read.
    pub fn entries(&self, folder: &Path) -> Arc<HashSet<OsString>> {
        let known =
            |folders: &HashMap<PathBuf, Arc<HashSet<OsString>>>| folders.get(folder).cloned();
        if let Some(names) = self.folders.lock().ok().and_then(|folders| known(&folders)) {
            return names;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = Arc::new(entries.map(|entry| entry.file_name()).collect::<HashSet<_>>());
        if let Ok(mut folders) = self.folders.lock() {
            folders.insert(folder.to_owned(), names.clone());
        }
        names
    }

    fn look(&self, path: &Path) -> Option<Seen> {
        if let Some(seen) = self.seen.lock().ok()?.get(path) {
            return *seen;
        }
        let seen = fs::metadata(path).ok().filter(|m| m.is_file()).map(|metadata| {
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let age = SystemTime::now().duration_since(modified);
            let trusted = age.is_ok_and(|age| age > RACY);
            Seen { stamp: Stamp::of(&metadata), trusted, hash: None }
        });
        self.seen.lock().ok()?.insert(path.to_owned(), seen);
        seen
    }

    fn read(&self, path: &Path) -> Option<Seen> {
        let mut seen = self.look(path)?;
        if seen.hash.is_none() {
            let content = base::read::source(path).ok()?;
            seen.hash = Some(Key::of_content(&content));
            self.seen.lock().ok()?.insert(path.to_owned(), Some(seen));
        }
        Some(seen)
    }
}

/// The target of the rule that clang writes about what it read.
pub const TARGET: &str = "firstfault-read";

/// The files in the rule that clang wrote for [`TARGET`], in the order they were read, made
/// absolute. Other lines are messages.
pub fn files_read(printed: &[u8], directory: &Path) -> Vec<PathBuf> {
    let head = [TARGET.as_bytes(), b":"].concat();
    let Some(start) = memchr::memmem::find(printed, &head) else { return Vec::new() };
    let mut files = Vec::new();
    let mut name = Vec::new();
    let mut bytes = printed[start + head.len()..].iter().copied().peekable();
    let mut end = |name: &mut Vec<u8>| {
        if !name.is_empty() {
            files.push(directory.join(OsString::from_vec(std::mem::take(name))));
        }
    };
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            // The rule goes on in the next line.
            (b'\\', Some(b'\n')) => {
                bytes.next();
                end(&mut name);
            }
            (b'\\', Some(b' ' | b'#')) | (b'$', Some(b'$')) => name.extend(bytes.next()),
            (b'\n', _) => break,
            (b' ', _) => end(&mut name),
            (byte, _) => name.push(byte),
        }
    }
    end(&mut name);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_names_the_files() {
        let printed = b"warning: x\nfirstfault-read: a.c /inc/with\\ blank.h \\\n  \\\n  q$$\\#.h b\\c.h\nmore";
        let files = files_read(printed, Path::new("/src"));
        let expected = ["/src/a.c", "/inc/with blank.h", "/src/q$#.h", "/src/b\\c.h"];
        assert_eq!(files, expected.map(PathBuf::from));
        assert_eq!(files_read(b"error: no rule", Path::new("/")), Vec::<PathBuf>::new());
    }

    #[test]
    fn content_decides_when_the_stamp_changed() {
        let dir = tempfile::tempdir().expect("temp folder");
        let path = dir.path().join("a.h");
        let age = |path: &Path| {
            let file = fs::File::options().write(true).open(path).expect("ours");
            let past = SystemTime::now() - Duration::from_secs(100);
            file.set_modified(past).expect("ours");
        };
        fs::write(&path, "int x;").expect("writable");
        age(&path);
        let recorded = [Files::default().record(&path).expect("readable")];
        assert_eq!(Files::default().check(&recorded), Freshness::Same);
        fs::write(&path, "int x;").expect("writable");
        age(&path);
        assert_eq!(Files::default().check(&recorded), Freshness::SameContent);
        fs::write(&path, "int y;").expect("writable");
        assert_eq!(Files::default().check(&recorded), Freshness::Changed);
        fs::remove_file(&path).expect("ours");
        assert_eq!(Files::default().check(&recorded), Freshness::Missing);
    }

    #[test]
    fn a_stamp_too_young_to_trust_is_not_trusted() {
        let dir = tempfile::tempdir().expect("temp folder");
        let path = dir.path().join("a.h");
        fs::write(&path, "int x;").expect("writable");
        let recorded = [Files::default().record(&path).expect("readable")];
        assert_eq!(recorded[0].stamp, None);
        assert_eq!(Files::default().check(&recorded), Freshness::Same, "by its content");
    }
}

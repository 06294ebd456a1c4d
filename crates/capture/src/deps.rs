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
            let content = fs::read(path).ok()?;
            seen.hash = Some(Key::of_content(&content));
            self.seen.lock().ok()?.insert(path.to_owned(), Some(seen));
        }
        Some(seen)
    }
}

/// The files that line markers of preprocessed text name, in order of appearance, made
/// absolute. Files that only a `#line` directive claims may be among them.
pub fn files_in_markers(text: &[u8], directory: &Path) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let Some(name) = marker_file(line) else { continue };
        if seen.insert(name) && !name.starts_with(b"<") {
            let path = PathBuf::from(OsString::from_vec(unescape(name)));
            files.push(directory.join(path));
        }
    }
    files
}

/// The quoted file name of `# 12 "name" 1 3`, still escaped.
fn marker_file(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"# ")?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = rest.get(digits..)?.strip_prefix(b" \"")?;
    if digits == 0 {
        return None;
    }
    let end = rest.iter().rposition(|&b| b == b'"')?;
    Some(&rest[..end])
}

fn unescape(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                let octal = |b: &u8| (b'0'..=b'7').contains(b);
                let mut code = 0u32;
                let mut n_digits = 0;
                while n_digits < 3
                    && let Some(digit) = bytes.next_if(octal)
                {
                    code = code * 8 + u32::from(digit - b'0');
                    n_digits += 1;
                }
                if n_digits > 0 {
                    plain.push(code as u8);
                } else {
                    plain.extend(bytes.next());
                }
            }
            byte => plain.push(byte),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_the_files() {
        let text = b"# 1 \"a.c\"\n# 1 \"<built-in>\" 1\n#define X \"# 1\"\n# 3 \"a.c\" 2\n\
            # 1 \"/inc/q\\\"\\\\ \\303\\244.h\" 1 3\n# pragma \"x\"\n";
        let files = files_in_markers(text, Path::new("/src"));
        assert_eq!(files, [PathBuf::from("/src/a.c"), PathBuf::from("/inc/q\"\\ \u{e4}.h")]);
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

//! What of the machine's file system a run sees, and how.
//!
//! Trees are shown through overlays without a writable layer, so that sockets in them lead
//! nowhere. The kernel refuses an overlay of a tree with other mounts in it: such a folder is
//! made anew, and its entries are shown one by one; where they are too many, it is bound.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{Launch, Level};

/// How a path is shown: `enum place` in c/keeper.h.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An empty folder.
    Folder(PathBuf),
    Link(PathBuf, PathBuf),
    /// Read-only, without sockets where that is possible.
    Read(PathBuf),
    /// Read-only as it is.
    Bind(PathBuf),
    /// What is written goes away.
    Vanish(PathBuf),
    /// Nothing is there, and what is written goes away.
    Empty(PathBuf),
    Write(PathBuf),
}

impl Place {
    pub fn letter(&self) -> &'static str {
        match self {
            Place::Folder(_) => "d",
            Place::Link(..) => "l",
            Place::Read(_) => "o",
            Place::Bind(_) => "b",
            Place::Vanish(_) => "v",
            Place::Empty(_) => "e",
            Place::Write(_) => "w",
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            Place::Folder(path) | Place::Link(path, _) | Place::Read(path) => path,
            Place::Bind(path) | Place::Vanish(path) => path,
            Place::Empty(path) | Place::Write(path) => path,
        }
    }

    pub fn n_strings(&self) -> usize {
        if matches!(self, Place::Link(..)) { 2 } else { 1 }
    }
}

/// Places a tree is taken apart into, at most; each makes every run slower.
const MAX_PLACES: usize = 300;
/// Entries of a folder that are shown one by one, at most.
const MAX_ENTRIES: usize = 100;

/// What all runs see.
pub(super) fn places_of_all() -> Vec<Place> {
    let mounts = mount_points(&fs::read("/proc/self/mountinfo").unwrap_or_default());
    let mut places = Vec::new();
    for (path, kind) in entries(Path::new("/")) {
        match path.to_str() {
            Some("/proc" | "/dev") => {}
            Some("/sys") => places.push(Place::Bind(path)),
            _ => show(path, kind, &mounts, &mut places),
        }
    }
    places
}

fn show(path: PathBuf, kind: FileType, mounts: &BTreeSet<PathBuf>, places: &mut Vec<Place>) {
    if kind.is_symlink() {
        places.extend(fs::read_link(&path).map(|says| Place::Link(path, says)));
        return;
    }
    if !kind.is_dir() {
        // Sockets, pipes and devices are left out.
        places.extend(kind.is_file().then_some(Place::Bind(path)));
        return;
    }
    let mut below = mounts.iter().filter(|mount| **mount != path && mount.starts_with(&path));
    let (has_mounts, has_folders) =
        (below.clone().next().is_some(), below.any(|mount| !mount.is_file()));
    if !has_mounts {
        places.push(Place::Read(path));
        return;
    }
    let entries = entries(&path);
    let too_many = entries.len() > MAX_ENTRIES || places.len() + entries.len() > MAX_PLACES;
    if !has_folders || too_many {
        places.push(Place::Bind(path));
        return;
    }
    places.push(Place::Folder(path));
    for (path, kind) in entries {
        show(path, kind, mounts, places);
    }
}

/// In the order of their names; none where that is not allowed.
fn entries(folder: &Path) -> Vec<(PathBuf, FileType)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<(PathBuf, FileType)> =
        entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?))).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

/// The fifth field of each line, with octal escapes.
fn mount_points(mountinfo: &[u8]) -> BTreeSet<PathBuf> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    let fields = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    fields.map(|field| PathBuf::from(std::ffi::OsString::from_vec(unescaped(field)))).collect()
}

fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

/// What one run has besides.
pub(super) fn places_of_run(launch: &Launch<'_>, level: Level) -> Vec<Place> {
    let mut places = Vec::new();
    if level == Level::Full {
        places.extend(vanishing().into_iter().map(Place::Vanish));
        places.push(Place::Empty("/dev/shm".into()));
        places.extend(launch.reads.iter().map(|path| Place::Bind(canonical(path))));
    }
    if level > Level::Limits {
        let ours = launch.writes.iter().copied().chain([launch.folder]);
        let theirs = launch.permissions.writes.iter().map(PathBuf::as_path);
        places.extend(ours.chain(theirs).map(|path| Place::Write(canonical(path))));
    }
    places
}

/// Where programs write in good faith: temporary files, their user's home, the project. Those
/// in others of them are part of them.
fn vanishing() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let current = std::env::current_dir().ok();
    let wanted = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter().chain(home).chain(current);
    let wanted = wanted.filter(|path| path.is_absolute() && path.is_dir());
    let wanted: BTreeSet<PathBuf> = wanted.map(|path| canonical(&path)).collect();
    let is_sensible = |path: &&PathBuf| {
        path.parent().is_some()
            && !["/proc", "/dev", "/sys"].iter().any(|other| path.starts_with(other))
            && !wanted
                .iter()
                .any(|other| other != *path && path.starts_with(other) && other.parent().is_some())
    };
    wanted.iter().filter(is_sensible).cloned().collect()
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_escapes() {
        let text = b"22 27 0:21 / /proc rw - proc proc rw\n29 1 8:1 / /a\\040b rw - ext4 x rw\n";
        let points = mount_points(text);
        assert_eq!(points, BTreeSet::from(["/proc".into(), "/a b".into()]));
        assert_eq!(unescaped(b"\\134\\x"), b"\\\\x");
    }

    #[test]
    fn a_folder_with_mounts_in_it_is_taken_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("a/mounted")).unwrap();
        fs::create_dir_all(path.join("b/deep")).unwrap();
        std::os::unix::fs::symlink("b", path.join("c")).unwrap();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let shown = |mounts: &[PathBuf]| {
            let mut places = Vec::new();
            show(path.clone(), kind, &mounts.iter().cloned().collect(), &mut places);
            places
        };
        assert_eq!(shown(&[]), [Place::Read(path.clone())]);
        assert_eq!(
            shown(&[path.join("a/mounted")]),
            [
                Place::Folder(path.clone()),
                Place::Folder(path.join("a")),
                Place::Read(path.join("a/mounted")),
                Place::Read(path.join("b")),
                Place::Link(path.join("c"), "b".into()),
            ]
        );
    }
}

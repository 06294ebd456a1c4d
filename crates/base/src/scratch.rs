//! Scratch folders: only for us, locked while in use, gone with their owner.
//!
//! A process that is killed leaves its folders behind. Their locks went with it, so the next
//! process of the same user tells them from those in use, and removes them.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

/// What the names of all scratch folders start with.
pub const PREFIX: &str = "firstfault-";

/// A younger one may be about to be locked.
const OLD: Duration = Duration::from_secs(60);

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Of a folder of our own making, not in another scratch folder.
    _lock: Option<File>,
}

impl Scratch {
    /// A new folder for temporary files, where the user wants those.
    pub fn new() -> io::Result<Self> {
        Self::locked_in(&std::env::temp_dir())
    }

    /// The same, in memory where the system offers that.
    pub fn in_memory() -> io::Result<Self> {
        Self::locked_in(Path::new("/dev/shm")).or_else(|_| Self::new())
    }

    /// A folder in another scratch folder.
    pub fn within(folder: &Path) -> io::Result<Self> {
        Ok(Self { path: make(folder)?, _lock: None })
    }

    fn locked_in(folder: &Path) -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| {
            sweep(Path::new("/dev/shm"), OLD);
            sweep(&std::env::temp_dir(), OLD);
        });
        let path = make(folder)?;
        let lock = lock(&path).inspect_err(|_| drop(fs::remove_dir(&path)))?;
        Ok(Self { path, _lock: Some(lock) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn make(folder: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = std::path::absolute(folder)?;
    loop {
        // Others may have taken the name: it need not be hard to guess, only free.
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{PREFIX}{}-{n}-{}", std::process::id(), now.subsec_nanos());
        let path = folder.join(name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether [`make`] gives such names.
fn is_name(name: &str) -> bool {
    let numbers = name.strip_prefix(PREFIX).unwrap_or_default().split('-');
    numbers.clone().count() == 3 && numbers.into_iter().all(|n| n.parse::<u32>().is_ok())
}

fn lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(open(path, flags, Mode::empty())?);
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

/// Removes our user's scratch folders that are older and that nobody holds.
fn sweep(folder: &Path, older: Duration) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_name);
        let Ok(metadata) = entry.metadata() else { continue };
        let is_old = || {
            let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
            age.is_some_and(|age| age > older)
        };
        if is_ours && metadata.is_dir() && metadata.uid() == user && is_old() {
            // Held until it is gone, so that of several processes one removes it.
            if let Ok(_lock) = lock(&entry.path()) {
                remove(&entry.path());
            }
        }
    }
}

/// Also what a program took our rights from.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        make_removable(path);
        let _ = fs::remove_dir_all(path);
    }
}

fn make_removable(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Links are not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_removable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_ours_alone_and_go_with_their_owner() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        fs::set_permissions(path.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn only_folders_nobody_holds_are_swept() {
        let home = Scratch::new().unwrap();
        let (held, left) = (make(home.path()).unwrap(), make(home.path()).unwrap());
        let other = home.path().join("firstfault-base-x");
        fs::create_dir(&other).unwrap();
        let lock = lock(&held).unwrap();
        sweep(home.path(), Duration::from_secs(60));
        assert!(left.exists(), "it is too young");
        sweep(home.path(), Duration::ZERO);
        assert!(held.exists() && other.exists() && !left.exists());
        drop(lock);
        sweep(home.path(), Duration::ZERO);
        assert!(!held.exists());
    }
}

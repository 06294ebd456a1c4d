//! Reading files whose names come from outside.
//!
//! A name in a source, a report or a database may lead to a device, a named pipe or a file
//! of any size. Reading must neither wait nor fill the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Larger files are no sources anybody reads.
pub const MAX_SOURCE: u64 = 64 << 20;

/// A regular file, opened without waiting.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // A named pipe without a writer is opened at once, instead of waiting for one.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no regular file"));
    }
    Ok(file)
}

/// The content of a regular file of at most so many bytes.
pub fn regular(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let metadata = file.metadata()?;
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, "is too large");
    if metadata.len() > max {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    // Files below /proc say they are empty and are not.
    file.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max { Err(too_large()) } else { Ok(bytes) }
}

/// The content of a source file.
pub fn source(path: &Path) -> io::Result<Vec<u8>> {
    regular(path, MAX_SOURCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_size_are_read() {
        let folder = std::env::temp_dir().join(format!("firstfault-read-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let plain = folder.join("a");
        std::fs::write(&plain, "four").unwrap();
        let pipe = folder.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        assert_eq!(regular(&plain, 4).unwrap(), b"four");
        assert_eq!(regular(&plain, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        for other in [&pipe, &folder, Path::new("/dev/zero"), &folder.join("gone")] {
            assert!(regular(other, 100).is_err(), "{}", other.display());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

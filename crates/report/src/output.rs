//! Brings a report to its reader: to standard output, or to a file that holds either the
//! whole new report or the whole old one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// As `| head` does. Who keeps what was read so far must know that it is not all.
    #[error("the output is not complete: its reader has gone away")]
    BrokenPipe,
    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),
    #[error("cannot write {}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Stdout,
    File(PathBuf),
}

impl Target {
    pub fn new(file: Option<PathBuf>) -> Self {
        match file {
            Some(path) if path != Path::new("-") => Target::File(path),
            _ => Target::Stdout,
        }
    }

    /// Fails early, before an hour of analysis, where nothing could be written.
    pub fn check(&self) -> Result<(), OutputError> {
        let Target::File(path) = self else { return Ok(()) };
        let fail = |error| OutputError::File { path: path.clone(), error };
        if path.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        if is_special(path) {
            return Ok(());
        }
        tempfile::tempfile_in(folder_of(path)).map(drop).map_err(fail)
    }

    pub fn write(&self, report: &[u8]) -> Result<(), OutputError> {
        match self {
            Target::Stdout => write_stdout(report),
            Target::File(path) => write_file(path, report)
                .map_err(|error| OutputError::File { path: path.clone(), error }),
        }
    }
}

fn write_stdout(report: &[u8]) -> Result<(), OutputError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(report).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => OutputError::BrokenPipe,
        _ => OutputError::Stdout(error),
    })
}

/// Writes beside the target and renames, so that a reader never sees half a report and a
/// failure leaves the previous one.
fn write_file(path: &Path, report: &[u8]) -> io::Result<()> {
    if is_special(path) {
        // A pipe or device cannot be replaced by renaming.
        return std::fs::OpenOptions::new().write(true).open(path)?.write_all(report);
    }
    let mut temporary = tempfile::Builder::new()
        .prefix(".firstfault-")
        .permissions(permissions_of(path))
        .tempfile_in(folder_of(path))?;
    temporary.write_all(report)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether something other than a plain file already stands there.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The old report's permissions, or what a newly created file would have.
fn permissions_of(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777);
    // The user's mask is applied to this when the file is created.
    std::fs::Permissions::from_mode(mode.unwrap_or(0o666))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_replaces_the_previous_one_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let target = Target::new(Some(path.clone()));
        target.check().unwrap();
        target.write(b"old").unwrap();
        target.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let error = Target::File("/dev/full".into()).write(b"x").unwrap_err();
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }

    #[test]
    fn a_missing_folder_is_found_before_the_work_begins() {
        let target = Target::File("/nonexistent/report".into());
        assert!(target.check().unwrap_err().to_string().contains("/nonexistent/report"));
        assert!(Target::File("/".into()).check().is_err());
    }
}

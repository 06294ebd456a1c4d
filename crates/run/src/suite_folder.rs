//! A folder of tests: files that share a stem belong to one test.
//!
//! `NAME.out` (expected output), `NAME.in`, `NAME.args` (one argument per line),
//! `NAME.env` (`KEY=value` lines), `NAME.err`, `NAME.exit` (expected exit status),
//! `NAME.files/` (copied into the working folder), `NAME.expect/` (files the program must
//! write); or `NAME.sh`, a script that decides by itself.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sandbox::Permissions;
use crate::suite::{Expected, Oracle, Suite, SuiteError, Test};

const SUFFIXES: &[&str] = &["out", "in", "args", "env", "err", "exit", "files", "expect", "sh"];

pub(crate) fn load(folder: &Path) -> Result<Suite, SuiteError> {
    let unreadable = |e| SuiteError::Unreadable(folder.to_owned(), e);
    let mut stems = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let Some((stem, suffix)) = name.to_str().and_then(|n| n.rsplit_once('.')) else {
            continue;
        };
        if SUFFIXES.contains(&suffix) && !stem.is_empty() {
            stems.insert(stem.to_string());
        }
    }
    let mut suite = Suite::default();
    for stem in stems {
        match read_test(folder, &stem) {
            Ok(test) => suite.tests.push(test),
            Err(reason) => suite.unusable.push((stem, reason)),
        }
    }
    Ok(suite)
}

fn read_test(folder: &Path, stem: &str) -> Result<Test, String> {
    let path = |suffix: &str| folder.join(format!("{stem}.{suffix}"));
    let script = path("sh");
    let oracle = if script.is_file() {
        Oracle::Script(std::path::absolute(&script).map_err(|e| e.to_string())?)
    } else {
        Oracle::Output(read_expected(&path)?)
    };
    Ok(Test {
        name: stem.to_string(),
        args: optional(&path("args"))?.map_or_else(Vec::new, |bytes| lines(&bytes)),
        stdin: optional(&path("in"))?.unwrap_or_default(),
        environment: optional(&path("env"))?.map_or(Ok(Vec::new()), |bytes| pairs(&bytes))?,
        inputs: folder_files(&path("files"))?,
        oracle,
        permissions: Permissions::default(),
    })
}

fn read_expected(path: &dyn Fn(&str) -> PathBuf) -> Result<Expected, String> {
    let exit = match optional(&path("exit"))? {
        None => None,
        Some(bytes) => Some(exit_status(&String::from_utf8_lossy(&bytes))?),
    };
    let mut files = Vec::new();
    for (name, file) in folder_files(&path("expect"))? {
        files.push((name, read(&file)?));
    }
    let expected =
        Expected { stdout: optional(&path("out"))?, stderr: optional(&path("err"))?, exit, files };
    if expected.stdout.is_none()
        && expected.stderr.is_none()
        && expected.exit.is_none()
        && expected.files.is_empty()
    {
        return Err(format!("nothing says what to expect: {} is missing", path("out").display()));
    }
    Ok(expected)
}

pub(crate) fn exit_status(text: &str) -> Result<u8, String> {
    text.trim().parse().map_err(|_| format!("{:?} is no exit status (0 to 255)", text.trim()))
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

fn optional(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(format!("cannot read {}: {e}", path.display())),
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_string).collect()
}

fn pairs(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
    lines(bytes)
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (key, value) = line.split_once('=').ok_or(format!("{line:?} is no KEY=value"))?;
            Ok((key.to_string(), value.to_string()))
        })
        .collect()
}

/// The regular files of a folder that need not exist and of folders in it, by their paths
/// from there.
fn folder_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut files = Vec::new();
    if folder.exists() {
        add_files(folder, "", &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn add_files(
    folder: &Path,
    prefix: &str,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), String> {
    let unreadable = |e: io::Error| format!("cannot read {}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else {
            return Err(format!("{}: its name is not UTF-8", path.display()));
        };
        let name = format!("{prefix}{name}");
        // A link to a folder is not followed: it may lead back here.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            add_files(&path, &format!("{name}/"), files)?;
        } else if path.is_file() {
            files.push((name, path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_folders_belong_to_the_test_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("writable");
            fs::write(&path, name).expect("writable");
        };
        file("a.out");
        file("a.files/top");
        file("a.files/data/deep/table");
        file("a.expect/report/all");
        std::os::unix::fs::symlink(".", folder.path().join("a.files/loop")).expect("writable");
        let suite = load(folder.path()).expect("the folder can be read");
        let test = &suite.tests[0];
        let names: Vec<&str> = test.inputs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["data/deep/table", "top"]);
        let Oracle::Output(expected) = &test.oracle else { panic!("it compares output") };
        assert_eq!(expected.files, [("report/all".to_string(), b"a.expect/report/all".to_vec())]);
    }
}

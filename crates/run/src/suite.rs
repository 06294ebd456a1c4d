//! A test suite the way people have it: a folder of files, a `tests.toml`, or scripts.

use std::path::{Path, PathBuf};

use crate::sandbox::Permissions;

/// What a test is judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// The program's own output is compared.
    Output(Expected),
    /// A script runs the program, whose path is in `$PROGRAM` and its first argument; exit
    /// status 0 is a pass. Slower, since each replacement needs the whole script.
    Script(PathBuf),
}

/// What a passing run leaves. A run that ends by a signal never passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// `None` where the test does not look at it.
    pub stdout: Option<Vec<u8>>,
    pub stderr: Option<Vec<u8>>,
    pub exit: Option<u8>,
    /// Files the program must write, relative to its working folder.
    pub files: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    pub environment: Vec<(String, String)>,
    /// Files the program finds in its working folder: name there, and what is copied.
    pub inputs: Vec<(String, PathBuf)>,
    pub oracle: Oracle,
    /// What it may use of the machine: what it declares, and the user has allowed.
    pub permissions: Permissions,
}

/// What the user allows tests that declare a need of it. Tests come with a project, which may
/// be hostile: what they declare alone gives them nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Whatever they declare.
    pub declared: bool,
    pub network: bool,
    /// Paths, with all below them.
    pub writes: Vec<PathBuf>,
}

impl Allowed {
    /// What of the needs is not allowed, as the user would allow it.
    fn missing(&self, needs: &Permissions) -> Vec<String> {
        if self.declared {
            return Vec::new();
        }
        let network = (needs.network && !self.network).then(|| "--allow network".to_owned());
        let is_allowed = |path: &PathBuf| {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            self.writes.iter().any(|allowed| real(path).starts_with(real(allowed)))
        };
        let writes = needs.writes.iter().filter(|path| !is_allowed(path));
        let writes = writes.map(|path| format!("--allow write={}", path.display()));
        network.into_iter().chain(writes).collect()
    }
}

/// The tests, and those that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// In the order of their names.
    pub tests: Vec<Test>,
    /// Name of the test and what is wrong with it.
    pub unusable: Vec<(String, String)>,
}

#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    #[error("{0}: {1}")]
    Malformed(PathBuf, String),
    #[error(
        "no tests in {0}: expected NAME.out or NAME.sh files, or a tests.toml (see docs/locate.md)"
    )]
    Empty(PathBuf),
}

impl Suite {
    /// Reads a `tests.toml` or a folder. Tests that need more than is allowed are unusable.
    pub fn load(path: &Path, allowed: &Allowed) -> Result<Suite, SuiteError> {
        let metadata =
            std::fs::metadata(path).map_err(|e| SuiteError::Unreadable(path.to_owned(), e))?;
        let mut suite = if metadata.is_dir() {
            let list = path.join("tests.toml");
            if list.is_file() {
                crate::suite_toml::load(&list)?
            } else {
                crate::suite_folder::load(path)?
            }
        } else {
            crate::suite_toml::load(path)?
        };
        if suite.tests.is_empty() && suite.unusable.is_empty() {
            return Err(SuiteError::Empty(path.to_owned()));
        }
        suite.tests.sort_by(|a, b| natural(&a.name).cmp(&natural(&b.name)));
        suite.set_namesakes_aside();
        suite.set_needy_aside(allowed);
        suite.unusable.sort();
        Ok(suite)
    }

    fn set_needy_aside(&mut self, allowed: &Allowed) {
        let unusable = &mut self.unusable;
        self.tests.retain(|test| {
            let missing = allowed.missing(&test.permissions);
            if !missing.is_empty() {
                let missing = missing.join(" ");
                let reason = format!("not run: it asks for more than its own folder ({missing})");
                unusable.push((test.name.clone(), reason));
            }
            missing.is_empty()
        });
    }

    /// Tests are told apart by their names.
    fn set_namesakes_aside(&mut self) {
        let unusable = &mut self.unusable;
        self.tests.dedup_by(|later, earlier| {
            let is_same = later.name == earlier.name;
            if is_same {
                let reason = "another test has the same name".to_string();
                unusable.push((later.name.clone(), reason));
            }
            is_same
        });
    }
}

/// Sorts `t2` before `t10`.
fn natural(name: &str) -> (Vec<(String, u64)>, &str) {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits_at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits_at);
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        parts.push((text.to_string(), tail[..end].parse().unwrap_or(u64::MAX)));
        rest = &tail[end..];
    }
    (parts, name)
}

#[cfg(test)]
mod tests {
    use super::natural;

    #[test]
    fn numbers_in_names_count() {
        let mut names = ["t10", "t9", "a", "t09"];
        names.sort_by(|a, b| natural(a).cmp(&natural(b)));
        assert_eq!(names, ["a", "t09", "t9", "t10"]);
    }
}

//! Fixes in the history of a git repository.
//!
//! Repositories are hostile: only git's plumbing is used, which runs no hook, filter, pager or
//! external diff, fetches nothing, and writes nothing; whatever the repository's own settings
//! say of those is overruled. Everything read is bounded in time and size.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Cancel;
use base::child::{self, Limits};

use crate::patch::is_c_file;
use crate::{StatementFix, statement_fix};

#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    #[error("cannot run git: {0} (install the package git)")]
    NoGit(std::io::Error),
    #[error("there is no folder {0}")]
    NoFolder(PathBuf),
    #[error("git {command}: {said}")]
    Git { command: String, said: String },
    #[error("{0} names no commit")]
    NoCommit(String),
    #[error("{0} is a merge or the first commit: it has no single version before it")]
    NoParent(String),
    #[error("interrupted")]
    Cancelled,
}

/// A repository to read from.
pub struct Repository<'a> {
    folder: PathBuf,
    cancel: &'a Cancel,
}

/// A C file that a commit changes, in both versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedBlob {
    pub path: String,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// A fix of one statement found in the history.
#[derive(Clone, Debug)]
pub struct PastFix {
    pub commit: String,
    pub path: String,
    /// The file before the fix.
    pub old: Vec<u8>,
    pub fix: StatementFix,
}

/// Larger files are no hand-written code.
const MAX_BLOB: usize = 1 << 20;

/// Bytes of blobs read in one go.
const BATCH: usize = 32 << 20;

/// C files a commit may change and still be looked at.
const MAX_FILES: usize = 4;

/// Overrules whatever a repository's settings would run or reach.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "protocol.allow=never",
    "diff.external=",
    "gc.auto=0",
    "log.showSignature=false",
];

/// Messages of commits that say they fix something.
const FIXES: &str =
    r"\b(fix(es|ed|ing)?|bug|fault|crash(es|ed)?|wrong|incorrect|off.by.one|overflow|leak)\b";

/// Object ids of a file before and after.
struct Pair {
    path: String,
    old: String,
    new: String,
}

impl<'a> Repository<'a> {
    pub fn new(folder: &Path, cancel: &'a Cancel) -> Self {
        Self { folder: folder.to_owned(), cancel }
    }

    fn git(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, RepositoryError> {
        if !self.folder.is_dir() {
            return Err(RepositoryError::NoFolder(self.folder.clone()));
        }
        let mut command = child::command("git").map_err(RepositoryError::NoGit)?;
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(["--no-pager", "--no-replace-objects", "--literal-pathspecs"]);
        command.args(args).current_dir(&self.folder);
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        command.env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF"] {
            command.env_remove(variable);
        }
        let limits = Limits {
            deadline: Duration::from_secs(300),
            stdout_cap: 64 << 20,
            ..Limits::default()
        };
        let done =
            child::run(command, input, &limits, self.cancel).map_err(RepositoryError::NoGit)?;
        if done.ending == child::Ending::Cancelled {
            return Err(RepositoryError::Cancelled);
        }
        if !done.ending.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.lines().next().unwrap_or("failed").chars().take(300).collect();
            let command = args.first().copied().unwrap_or("").to_owned();
            return Err(RepositoryError::Git { command, said });
        }
        Ok(done.stdout)
    }

    fn lines(&self, args: &[&str], input: &[u8]) -> Result<Vec<String>, RepositoryError> {
        let output = self.git(args, input)?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }

    /// The C files a commit changes.
    pub fn changed_by(&self, commit: &str) -> Result<(String, Vec<ChangedBlob>), RepositoryError> {
        let no_commit = || RepositoryError::NoCommit(commit.to_owned());
        if commit.starts_with('-') || commit.contains(['\n', '\0']) {
            return Err(no_commit());
        }
        let name = format!("{commit}^{{commit}}");
        let found =
            self.lines(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name], b"");
        let id = found.map_err(|_| no_commit())?.pop().ok_or_else(no_commit)?;
        let parents = self.lines(&["rev-list", "--parents", "--max-count=1", &id], b"")?;
        if parents.first().is_none_or(|line| line.split(' ').count() != 2) {
            return Err(RepositoryError::NoParent(commit.to_owned()));
        }
        let pairs = self.pairs(std::slice::from_ref(&id))?.pop().map_or(Vec::new(), |(_, p)| p);
        let blobs = self.blobs(&pairs)?;
        Ok((id, changed(&pairs, &blobs)))
    }

    /// Fixes of one statement among the newest commits, and how many commits were looked at.
    pub fn past_fixes(&self, max_commits: usize) -> Result<(Vec<PastFix>, usize), RepositoryError> {
        let max_count = format!("--max-count={max_commits}");
        let grep = format!("--grep={FIXES}");
        let args =
            ["rev-list", "--no-merges", "--min-parents=1", "-i", "-P", &max_count, &grep, "HEAD"];
        // Not every git has Perl's expressions.
        let commits = self.lines(&args, b"").or_else(|_| {
            self.lines(
                &[
                    "rev-list",
                    "--no-merges",
                    "--min-parents=1",
                    "-i",
                    "--grep=fix",
                    &max_count,
                    "HEAD",
                ],
                b"",
            )
        })?;
        let mut fixes = Vec::new();
        for chunk in commits.chunks(200) {
            let of_commits = self.pairs(chunk)?;
            let few = of_commits.iter().filter(|(_, p)| !p.is_empty() && p.len() <= MAX_FILES);
            let few: Vec<&(String, Vec<Pair>)> = few.collect();
            let all: Vec<&Pair> = few.iter().flat_map(|(_, pairs)| pairs).collect();
            let blobs = self.blobs_of(&all)?;
            for (commit, pairs) in few {
                let changed = changed(pairs, &blobs);
                // A file that could not be read may hold the rest of the change.
                if changed.len() == pairs.len() {
                    fixes.extend(one_fix(commit, changed));
                }
            }
        }
        Ok((fixes, commits.len()))
    }

    /// The regular C files that each commit modifies.
    fn pairs(&self, commits: &[String]) -> Result<Vec<(String, Vec<Pair>)>, RepositoryError> {
        let input = commits.join("\n") + "\n";
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--stdin"];
        let output = self.git(&args, input.as_bytes())?;
        let mut found: Vec<(String, Vec<Pair>)> = Vec::new();
        let mut fields = output.split(|byte| *byte == 0);
        while let Some(field) = fields.next() {
            // A commit's id stands in a line of its own or in front of its first entry.
            let text = String::from_utf8_lossy(field);
            let (ids, entry) = match text.find(':') {
                Some(at) => text.split_at(at),
                None => (text.as_ref(), ""),
            };
            for id in ids.split_ascii_whitespace() {
                found.push((id.to_owned(), Vec::new()));
            }
            let words: Vec<&str> = entry.trim_start_matches(':').split(' ').collect();
            let [old_mode, new_mode, old, new, status] = words.as_slice() else { continue };
            let Some(path) = fields.next() else { break };
            let Ok(path) = std::str::from_utf8(path) else { continue };
            let is_regular = |mode: &&str| mode.starts_with("100");
            let is_modified = *status == "M" && is_regular(old_mode) && is_regular(new_mode);
            if let (true, Some((_, pairs))) =
                (is_modified && is_c_file(Path::new(path)), found.last_mut())
            {
                let (path, old, new) = (path.to_owned(), old.to_string(), new.to_string());
                pairs.push(Pair { path, old, new });
            }
        }
        Ok(found)
    }

    fn blobs(&self, pairs: &[Pair]) -> Result<BTreeMap<String, Vec<u8>>, RepositoryError> {
        self.blobs_of(&pairs.iter().collect::<Vec<_>>())
    }

    /// The contents of what is small and text.
    fn blobs_of(&self, pairs: &[&Pair]) -> Result<BTreeMap<String, Vec<u8>>, RepositoryError> {
        let mut ids: Vec<&str> =
            pairs.iter().flat_map(|pair| [pair.old.as_str(), pair.new.as_str()]).collect();
        ids.sort_unstable();
        ids.dedup();
        let input = ids.join("\n") + "\n";
        let checked = self.lines(&["cat-file", "--batch-check"], input.as_bytes())?;
        let sizes = checked.iter().filter_map(|line| {
            let mut words = line.split(' ');
            let (id, kind) = (words.next()?, words.next()?);
            let size: usize = words.next()?.parse().ok()?;
            (kind == "blob" && size <= MAX_BLOB).then_some((id, size))
        });
        let mut blobs = BTreeMap::new();
        let mut batch = Vec::new();
        let mut bytes = 0;
        for (id, size) in sizes {
            if bytes + size > BATCH {
                self.read_batch(&batch, &mut blobs)?;
                (batch, bytes) = (Vec::new(), 0);
            }
            batch.push(id);
            bytes += size;
        }
        self.read_batch(&batch, &mut blobs)?;
        Ok(blobs)
    }

    fn read_batch(
        &self,
        ids: &[&str],
        blobs: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), RepositoryError> {
        if ids.is_empty() {
            return Ok(());
        }
        let input = ids.join("\n") + "\n";
        let output = self.git(&["cat-file", "--batch"], input.as_bytes())?;
        let mut rest = output.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let header = String::from_utf8_lossy(&rest[..end]).into_owned();
            let words: Vec<&str> = header.split(' ').collect();
            let [id, "blob", size] = words.as_slice() else { return Ok(()) };
            let Ok(size) = size.parse::<usize>() else { return Ok(()) };
            let Some(content) = rest.get(end + 1..end + 1 + size) else { return Ok(()) };
            if !content.contains(&0) {
                blobs.insert(id.to_string(), content.to_vec());
            }
            rest = rest.get(end + 2 + size..).unwrap_or_default();
        }
        Ok(())
    }
}

fn changed(pairs: &[Pair], blobs: &BTreeMap<String, Vec<u8>>) -> Vec<ChangedBlob> {
    let read = |pair: &Pair| {
        let (old, new) = (blobs.get(&pair.old)?.clone(), blobs.get(&pair.new)?.clone());
        Some(ChangedBlob { path: pair.path.clone(), old, new })
    };
    pairs.iter().filter_map(read).collect()
}

/// The fix, where all changed files together change one statement.
fn one_fix(commit: &str, changed: Vec<ChangedBlob>) -> Option<PastFix> {
    let mut found = None;
    for blob in changed {
        match statement_fix(&blob.old, &blob.new) {
            Ok(fix) if found.is_none() => {
                let (commit, path) = (commit.to_owned(), blob.path);
                found = Some(PastFix { commit, path, old: blob.old, fix });
            }
            // Comments and layout may change along with it.
            Err(crate::NoFix::Nothing) => {}
            _ => return None,
        }
    }
    found
}

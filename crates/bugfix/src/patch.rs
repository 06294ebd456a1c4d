//! Unified diffs: which files a fix changes, and both versions of each.
//!
//! A diff is anybody's text. It is only ever applied in memory, to files below a folder that
//! the caller reads; names that lead elsewhere are refused.

use std::path::{Component, Path, PathBuf};

/// A diff is not larger.
pub const MAX_PATCH: usize = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("the diff is larger than {} MiB", MAX_PATCH >> 20)]
    TooLarge,
    #[error("the diff changes no C file")]
    NoFile,
    #[error("the diff names a file outside of the project: {0}")]
    Outside(String),
    #[error("line {0} of the diff is malformed")]
    Malformed(usize),
    #[error("the diff fits neither the old nor the new version of {0}")]
    Misfit(String),
}

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// Relative to where the diff was made.
    pub path: PathBuf,
    hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// Lines with their ends.
    old: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
    /// First line, from 0, in each version.
    old_start: usize,
    new_start: usize,
}

/// Both versions of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    pub old: Vec<u8>,
    pub new: Vec<u8>,
    /// Whether the file as it is holds the fix already.
    pub is_fixed: bool,
}

/// The C files a diff changes; files that come or go, and binary ones, are left out.
pub fn parse(diff: &[u8]) -> Result<Vec<FilePatch>, PatchError> {
    if diff.len() > MAX_PATCH {
        return Err(PatchError::TooLarge);
    }
    let mut files: Vec<FilePatch> = Vec::new();
    let mut lines = diff.split_inclusive(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line.starts_with(b"--- ")
            && let Some((_, next)) = lines.peek()
            && next.starts_with(b"+++ ")
        {
            let (old, new) = (name(&line[4..]), name(&next[4..]));
            lines.next();
            let path = if new == "/dev/null" { old } else { new };
            files.push(FilePatch { path: inside(&path)?, hunks: Vec::new() });
        } else if line.starts_with(b"@@ ") {
            let malformed = PatchError::Malformed(number + 1);
            let (old, new) = ranges(line).ok_or(malformed.clone())?;
            let mut hunk = Hunk {
                old_start: old.0.saturating_sub(usize::from(old.1 > 0)),
                new_start: new.0.saturating_sub(usize::from(new.1 > 0)),
                ..Hunk::default()
            };
            while hunk.old.len() < old.1 || hunk.new.len() < new.1 {
                let (number, line) = lines.next().ok_or(malformed.clone())?;
                let content = line.get(1..).unwrap_or_default().to_vec();
                match line.first() {
                    Some(b' ') => {
                        hunk.old.push(content.clone());
                        hunk.new.push(content);
                    }
                    // Some tools strip blanks at the ends of lines.
                    Some(b'\n') => {
                        hunk.old.push(line.to_vec());
                        hunk.new.push(line.to_vec());
                    }
                    Some(b'-') => hunk.old.push(content),
                    Some(b'+') => hunk.new.push(content),
                    Some(b'\\') => {}
                    _ => return Err(PatchError::Malformed(number + 1)),
                }
            }
            files.last_mut().ok_or(malformed)?.hunks.push(hunk);
        }
    }
    let is_c = |file: &FilePatch| is_c_file(&file.path) && !file.hunks.is_empty();
    files.retain(is_c);
    if files.is_empty() { Err(PatchError::NoFile) } else { Ok(files) }
}

pub(crate) fn is_c_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "c" || ending == "h")
}

/// The name in a header line, without a time stamp and the prefix of git.
fn name(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let name = text.trim_end_matches(['\n', '\r']).split('\t').next().unwrap_or("");
    let stripped = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    stripped.unwrap_or(name).to_owned()
}

/// A path that stays below the folder it is looked up in.
pub fn inside(name: &str) -> Result<PathBuf, PatchError> {
    let path = Path::new(name);
    let is_plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    let is_inside = !name.is_empty() && !name.contains('\0') && path.components().all(is_plain);
    if is_inside || name == "/dev/null" {
        return Ok(path.to_owned());
    }
    Err(PatchError::Outside(name.chars().take(200).collect()))
}

/// `@@ -12,5 +12,6 @@`
fn ranges(line: &[u8]) -> Option<((usize, usize), (usize, usize))> {
    let text = std::str::from_utf8(line.split(|b| *b == b'\n').next()?);
    let text = text.map_or_else(
        |e| String::from_utf8_lossy(&line[..e.valid_up_to()]).into_owned(),
        str::to_owned,
    );
    let mut words = text.split(' ').skip(1);
    let range = |word: &str, sign: char| {
        let word = word.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        let (start, count) = (start.parse().ok()?, count.parse().ok()?);
        // More lines than a diff may have bytes.
        (count <= MAX_PATCH).then_some((start, count))
    };
    Some((range(words.next()?, '-')?, range(words.next()?, '+')?))
}

impl FilePatch {
    /// Both versions, from the file as it is: before the fix, or after it.
    pub fn versions(&self, text: &[u8]) -> Result<Versions, PatchError> {
        if let Some(new) = self.applied(text, false) {
            return Ok(Versions { old: text.to_vec(), new, is_fixed: false });
        }
        match self.applied(text, true) {
            Some(old) => Ok(Versions { old, new: text.to_vec(), is_fixed: true }),
            None => Err(PatchError::Misfit(self.path.display().to_string())),
        }
    }

    /// The text with each hunk exchanged, forwards or backwards; nothing where one is not found.
    fn applied(&self, text: &[u8], backwards: bool) -> Option<Vec<u8>> {
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let mut changed = Vec::with_capacity(text.len());
        let mut copied = 0;
        for hunk in &self.hunks {
            let (from, to, start) = if backwards {
                (&hunk.new, &hunk.old, hunk.new_start)
            } else {
                (&hunk.old, &hunk.new, hunk.old_start)
            };
            let at = found(&lines, from, start, copied)?;
            changed.extend(lines[copied..at].iter().flat_map(|line| line.iter()));
            changed.extend(to.iter().flatten());
            copied = at + from.len();
        }
        changed.extend(lines[copied..].iter().flat_map(|line| line.iter()));
        Some(changed)
    }
}

/// Where some lines stand, nearest to where they should.
fn found(lines: &[&[u8]], wanted: &[Vec<u8>], start: usize, from: usize) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let same = |a: &[u8], b: &[u8]| a.trim_ascii_end() == b.trim_ascii_end();
    let fits = |at: &usize| {
        lines[*at..*at + wanted.len()].iter().zip(wanted).all(|(line, wanted)| same(line, wanted))
    };
    (from..=last).filter(fits).min_by_key(|at| at.abs_diff(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n\
                        +++ b/src/a.c\n@@ -2,3 +2,3 @@ int f\n b\n-c\n+C\n d\n";

    #[test]
    fn a_diff_gives_both_versions_from_either() {
        let files = parse(DIFF.as_bytes()).unwrap();
        assert_eq!(files[0].path, Path::new("src/a.c"));
        let versions = files[0].versions(b"a\nb\nc\nd\n").unwrap();
        assert_eq!((versions.new.as_slice(), versions.is_fixed), (&b"a\nb\nC\nd\n"[..], false));
        let versions = files[0].versions(b"x\na\nb\nC\nd\n").unwrap();
        assert_eq!((versions.old.as_slice(), versions.is_fixed), (&b"x\na\nb\nc\nd\n"[..], true));
        assert!(matches!(files[0].versions(b"a\nb\n"), Err(PatchError::Misfit(_))));
    }

    #[test]
    fn hostile_diffs_are_refused() {
        let outside = DIFF.replace("src/a.c", "../../etc/a.c");
        assert!(matches!(parse(outside.as_bytes()), Err(PatchError::Outside(_))));
        let outside = DIFF.replace("b/src/a.c", "/etc/a.c");
        assert!(matches!(parse(outside.as_bytes()), Err(PatchError::Outside(_))));
        assert_eq!(parse(b"Binary files a/x.c and b/x.c differ\n"), Err(PatchError::NoFile));
        assert_eq!(parse(&vec![b'-'; MAX_PATCH + 1]), Err(PatchError::TooLarge));
        let endless = DIFF.replace("-2,3 +2,3", "-2,999999999999 +2,3");
        assert_eq!(parse(endless.as_bytes()), Err(PatchError::Malformed(5)));
        let short = DIFF.replace("-2,3 +2,3", "-2,4000 +2,3");
        assert_eq!(parse(short.as_bytes()), Err(PatchError::Malformed(5)));
        assert_eq!(parse(b"@@ -1 +1 @@\n-a\n+b\n"), Err(PatchError::Malformed(1)));
        assert!(parse(&[0xff, b'\n', b'@', b'@', b' ', 0xfe]).is_err());
    }
}

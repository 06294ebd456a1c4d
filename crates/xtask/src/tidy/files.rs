//! The text files of the repository: what git would keep, without asking git.

use std::path::Path;

use anyhow::{Context, Result};

/// A file of the repository with its content.
pub struct TextFile {
    /// Relative to the root, with forward slashes.
    pub path: String,
    pub text: String,
}

/// All text files, sorted by path. Build output, git's own folder and analysis state are
/// left out, and so is what is not UTF-8.
pub fn text_files(root: &Path) -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        // In a linked work tree `.git` is a file.
        if matches!(name.as_str(), "target" | ".git" | ".firstfault") {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file()
            && let Ok(text) = std::fs::read_to_string(entry.path())
        {
            files.push(TextFile { path, text });
        }
    }
    Ok(())
}

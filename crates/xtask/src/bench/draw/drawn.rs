//! `bench/draws/drawn.txt`: every package that was drawn, so that none is drawn twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const HEAD: &str = "\
# Packages that cannot be drawn any more, written by `cargo xtask bench draw`: the package, its
# version, the draw, and how far it came. `-` for those looked at before there were draws.
";

/// The list, by package.
pub struct Drawn {
    path: PathBuf,
    lines: BTreeMap<String, String>,
}

impl Drawn {
    pub fn load(root: &Path) -> Result<Self> {
        let path = root.join("bench/draws/drawn.txt");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let lines = parse(&text).with_context(|| format!("{} is broken", path.display()))?;
        Ok(Self { path, lines })
    }

    pub fn names(&self) -> BTreeSet<String> {
        self.lines.keys().cloned().collect()
    }

    /// Adds a package and writes the list.
    pub fn add(&mut self, name: &str, version: &str, draw: &str, stage: &str) -> Result<()> {
        if self.lines.contains_key(name) {
            bail!("{name} was drawn before");
        }
        self.lines.insert(name.to_owned(), format!("{version} {draw} {stage}"));
        let folder = self.path.parent().context("the list lies in a folder")?;
        std::fs::create_dir_all(folder)?;
        let written = std::fs::write(&self.path, text(&self.lines));
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn parse(text: &str) -> Result<BTreeMap<String, String>> {
    let mut lines = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, rest @ ..] = words.as_slice() else { continue };
        if rest.len() != 3 {
            bail!("line {}: expected `package version draw stage`, got `{line}`", index + 1);
        }
        if lines.insert((*name).to_owned(), rest.join(" ")).is_some() {
            bail!("line {}: {name} is there twice", index + 1);
        }
    }
    Ok(lines)
}

fn text(lines: &BTreeMap<String, String>) -> String {
    let mut text = HEAD.to_owned();
    for (name, rest) in lines {
        text += &format!("{name} {rest}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut drawn = Drawn::load(folder.path()).unwrap();
        drawn.add("zebra", "2-1", "001", "judged").unwrap();
        drawn.add("ant", "1:1-1", "001", "build").unwrap();
        assert!(drawn.add("zebra", "3-1", "002", "build").is_err());
        let text = std::fs::read_to_string(folder.path().join("bench/draws/drawn.txt")).unwrap();
        assert!(text.ends_with("ant 1:1-1 001 build\nzebra 2-1 001 judged\n"));
        let names: Vec<String> = Drawn::load(folder.path()).unwrap().names().into_iter().collect();
        assert_eq!(names, ["ant", "zebra"]);
    }

    #[test]
    fn broken_lists_are_refused() {
        assert!(parse("ant 1\n").unwrap_err().to_string().contains("line 1"));
        let twice = parse("# x\n\nant 1 001 build\nant 2 002 build\n").unwrap_err();
        assert!(twice.to_string().contains("line 4: ant is there twice"));
    }
}

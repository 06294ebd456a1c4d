//! clang's analyzer on the changed unit and on the unchanged one, for the same score.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::draw::{Injected, write};
use super::project::Project;
use super::score::{self, Before, Seen};

pub struct Clang<'p> {
    project: &'p Project,
    scratch: &'p Path,
    before: BTreeMap<usize, Before>,
}

impl<'p> Clang<'p> {
    pub fn new(project: &'p Project, scratch: &'p Path) -> Self {
        Self { project, scratch, before: BTreeMap::new() }
    }

    /// Whether clang-19 with its default checkers shows an injection.
    pub fn shows(&mut self, injected: &Injected) -> Result<bool> {
        if !self.before.contains_key(&injected.unit) {
            let text = std::fs::read_to_string(&injected.source)?;
            let seen = self.analyze(injected, &text)?;
            self.before.insert(injected.unit, score::before(&seen));
        }
        let seen = self.analyze(injected, &injected.text)?;
        let right = injected.kind.clang_checkers();
        Ok(score::score(injected, right, &seen, &self.before[&injected.unit]).found.is_some())
    }

    fn analyze(&self, injected: &Injected, text: &str) -> Result<Vec<Seen>> {
        let file = self.scratch.join(injected.source.file_name().unwrap_or_default());
        write(&file, text)?;
        let options = ["--analyze", "-Xclang", "-analyzer-output=text"];
        let ran = self.project.units[injected.unit].clang(&file, &options)?;
        Ok(parse(&ran.stderr, &file, &injected.source))
    }
}

/// Warnings with the notes that follow them, as in `a.c:3:5: warning: text [checker]`.
fn parse(text: &str, file: &Path, original: &Path) -> Vec<Seen> {
    let mut found: Vec<Seen> = Vec::new();
    for line in text.lines() {
        let Some((place, kind, rest)) = message(line) else { continue };
        let path = if place.0 == file { original.to_path_buf() } else { place.0 };
        let place = (path, place.1);
        if kind == "warning" {
            let checker = rest.rsplit_once('[').and_then(|(_, checker)| checker.strip_suffix(']'));
            let rule = checker.unwrap_or_default().to_owned();
            found.push(Seen { rule, place, steps: Vec::new(), message: rest.to_owned() });
        } else if let Some(last) = found.last_mut() {
            last.steps.push(place);
        }
    }
    found
}

fn message(line: &str) -> Option<((PathBuf, u32), &str, &str)> {
    let (place, kind, rest) = ["warning", "note"].iter().find_map(|kind| {
        let (place, rest) = line.split_once(&format!(": {kind}: "))?;
        Some((place, *kind, rest))
    })?;
    let mut parts = place.rsplitn(3, ':');
    let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some(((PathBuf::from(path), line.parse().ok()?), kind, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_take_the_notes_behind_them() {
        let text = "/s/a.c:3:5: warning: Dereference of null pointer [core.NullDereference]\n  3 | x\n\
                    /s/a.c:1:2: note: Assuming 'p' is null\n/s/h.h:9:1: note: Entered call\n\
                    b.c: broken\n/s/a.c:x:1: warning: no line [core]\n1 warning generated.\n";
        let seen = parse(text, Path::new("/s/a.c"), Path::new("/p/a.c"));
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].rule, "core.NullDereference");
        assert_eq!(seen[0].place, (PathBuf::from("/p/a.c"), 3));
        assert_eq!(seen[0].steps, [(PathBuf::from("/p/a.c"), 1), (PathBuf::from("/s/h.h"), 9)]);
    }
}

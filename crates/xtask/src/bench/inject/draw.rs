//! Which faults are put in: drawn by a seed, evenly over the kinds as far as there are places, from
//! everything that can be put into a project; no kind makes up more than a quarter. What does not compile or means the same is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::code;
use super::facts::Facts;
use super::kind::{Injection, Kind};
use super::kinds;
use super::project::Project;
use crate::bench::mutate::Random;

/// A fault that is put into a project.
pub struct Injected {
    /// `zlib-017`.
    pub id: String,
    /// The unit it is put into, by its place in the project.
    pub unit: usize,
    pub source: PathBuf,
    pub kind: Kind,
    pub function: String,
    /// The lines of the function, the same before and after.
    pub lines: RangeInclusive<u32>,
    /// The first line that differs.
    pub line: u32,
    /// The changed source, and which other names its function has, for calls.
    pub text: String,
    pub diff: String,
    /// What the function's text calls or names.
    pub names: BTreeSet<String>,
}

/// How many candidates there were, and what became of those that were looked at.
#[derive(Default)]
pub struct Drawn {
    pub injected: Vec<Injected>,
    /// Candidates of each kind before anything was dropped.
    pub n_candidates: BTreeMap<Kind, usize>,
    pub n_broken: usize,
    pub n_same: usize,
}

/// One in so many injections may be of one kind, where more kinds than that are asked for.
const MOST: usize = 4;

struct Candidate {
    unit: usize,
    /// The function's place in the unit.
    function: usize,
    injection: Injection,
}

/// Up to so many faults; changed units are compiled in a scratch folder.
pub fn draw(
    project: &Project,
    kinds: &[Kind],
    seed: u64,
    n: usize,
    scratch: &Path,
) -> Result<Drawn> {
    let sources = sources(project)?;
    let headers = headers(project);
    let parsed: BTreeMap<usize, &code::Unit> =
        sources.iter().map(|(at, unit)| (*at, unit)).collect();
    let facts = {
        let mut all = headers;
        for (_, unit) in &sources {
            all.push(code::Unit::parse(unit.text.clone()));
        }
        Facts::collect(&all)
    };
    let mut by_kind: BTreeMap<Kind, Vec<Candidate>> = BTreeMap::new();
    for (unit, parsed) in &parsed {
        for (function, of) in parsed.functions.iter().enumerate() {
            for injection in kinds::all(parsed, of, &facts) {
                let list = by_kind.entry(injection.kind).or_default();
                list.push(Candidate { unit: *unit, function, injection });
            }
        }
    }
    by_kind.retain(|kind, _| kinds.contains(kind));
    let mut drawn = Drawn {
        n_candidates: by_kind.iter().map(|(kind, list)| (*kind, list.len())).collect(),
        ..Drawn::default()
    };
    let mut random = Random::seeded_by(&format!("{seed} {}", project.name));
    let mut compiler = Compiler { project, scratch, originals: BTreeMap::new() };
    let mut changed: BTreeSet<(usize, usize, Kind)> = BTreeSet::new();
    let most = if kinds.len() < MOST { n } else { n.div_ceil(MOST) };
    let mut of_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    while drawn.injected.len() < n && by_kind.values().any(|list| !list.is_empty()) {
        for (kind, list) in &mut by_kind {
            if of_kind.get(kind).is_some_and(|n| *n >= most) {
                list.clear();
            }
            // One of this kind, whatever was dropped before it.
            while drawn.injected.len() < n && !list.is_empty() {
                let candidate = list.swap_remove(random.below(list.len()));
                let place = (candidate.unit, candidate.function, candidate.injection.kind);
                let unit = parsed[&candidate.unit];
                if changed.contains(&place) {
                    continue;
                }
                match compiler.look_at(unit, &candidate)? {
                    Looked::Broken => drawn.n_broken += 1,
                    Looked::Same => drawn.n_same += 1,
                    Looked::Fine(text) => {
                        changed.insert(place);
                        *of_kind.entry(*kind).or_default() += 1;
                        let id = format!("{}-{:03}", project.name, drawn.injected.len() + 1);
                        drawn.injected.push(injected(project, unit, candidate, text, id));
                        break;
                    }
                }
            }
        }
    }
    Ok(drawn)
}

/// The C units by their place, each source once; what is not UTF-8 is left out.
fn sources(project: &Project) -> Result<Vec<(usize, code::Unit)>> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (at, unit) in project.units.iter().enumerate() {
        if !unit.is_c() || !known.insert(&unit.source) {
            continue;
        }
        let bytes = std::fs::read(&unit.source)
            .with_context(|| format!("cannot read {}", unit.source.display()))?;
        match String::from_utf8(bytes) {
            Ok(text) => found.push((at, code::Unit::parse(text))),
            Err(_) => eprintln!("  {} is not UTF-8 and left out", project.short(&unit.source)),
        }
    }
    Ok(found)
}

/// The project's headers: those beside its sources and in folders named `include` of the project.
fn headers(project: &Project) -> Vec<code::Unit> {
    let mut folders: BTreeSet<PathBuf> = project
        .units
        .iter()
        .filter_map(|unit| unit.source.parent())
        .map(Path::to_path_buf)
        .collect();
    folders.insert(project.folder.clone());
    folders.insert(project.folder.join("include"));
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let files: BTreeSet<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    let headers = files.iter().filter(|file| file.extension().is_some_and(|e| e == "h"));
    headers
        .filter_map(|file| Some(code::Unit::parse(std::fs::read_to_string(file).ok()?)))
        .collect()
}

enum Looked {
    Broken,
    Same,
    Fine(String),
}

struct Compiler<'p> {
    project: &'p Project,
    scratch: &'p Path,
    /// The code of unchanged units, by optimisation; `None` where clang does not compile them.
    originals: BTreeMap<(usize, bool), Option<String>>,
}

impl Compiler<'_> {
    fn look_at(&mut self, parsed: &code::Unit, candidate: &Candidate) -> Result<Looked> {
        let Some(text) = candidate.injection.apply(&parsed.text) else { return Ok(Looked::Broken) };
        let unit = &self.project.units[candidate.unit];
        let name = unit.source.file_name().context("a source without a name")?;
        let file = self.scratch.join(name);
        let is_optimised = candidate.injection.kind.is_compared_optimised();
        let key = (candidate.unit, is_optimised);
        if !self.originals.contains_key(&key) {
            write(&file, &parsed.text)?;
            let code = unit.code(&file, is_optimised)?;
            if code.is_none() {
                eprintln!("  clang-19 does not compile {}", self.project.short(&unit.source));
            }
            self.originals.insert(key, code);
        }
        let Some(original) = &self.originals[&key] else { return Ok(Looked::Broken) };
        write(&file, &text)?;
        Ok(match unit.code(&file, is_optimised)? {
            None => Looked::Broken,
            Some(code) if code == *original => Looked::Same,
            Some(_) => Looked::Fine(text),
        })
    }
}

pub fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn injected(
    project: &Project,
    unit: &code::Unit,
    candidate: Candidate,
    text: String,
    id: String,
) -> Injected {
    let function = &unit.functions[candidate.function];
    let source = project.units[candidate.unit].source.clone();
    let (line, diff) = diff(&unit.text, &text, &project.short(&source));
    Injected {
        id,
        unit: candidate.unit,
        source,
        kind: candidate.injection.kind,
        function: function.name.clone(),
        lines: unit.line(function.bytes.start)..=unit.line(function.bytes.end),
        line,
        text,
        diff,
        names: code::names(unit, &function.tree).into_iter().collect(),
    }
}

/// The first line that differs, and the differing lines with three around; no lines were added.
fn diff(old: &str, new: &str, name: &str) -> (u32, String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let differing: Vec<usize> = (0..old.len()).filter(|at| new.get(*at) != old.get(*at)).collect();
    let (Some(first), Some(last)) = (differing.first(), differing.last()) else {
        return (0, String::new());
    };
    let (start, end) = (first.saturating_sub(3), (last + 4).min(old.len()));
    let mut text =
        format!("--- {name}\n+++ {name}\n@@ -{0},{1} +{0},{1} @@\n", start + 1, end - start);
    let mut at = start;
    while at < end {
        let run = (at..end).take_while(|line| differing.contains(line)).count();
        let lines = |lines: &[&str], sign: char| -> String {
            lines[at..at + run].iter().map(|line| format!("{sign}{line}\n")).collect()
        };
        text += &lines(&old, '-');
        text += &lines(&new, '+');
        at += run;
        if run == 0 {
            text += &format!(" {}\n", old[at]);
            at += 1;
        }
    }
    (*first as u32 + 1, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#include <stdlib.h>\n#include <string.h>\nint g(void);\n\
        int f(int n) {\n  char *p = malloc(n + 1);\n  if (!p)\n    return 1;\n  p[n] = 0;\n  \
        if (g()) {\n    free(p);\n    return 2;\n  }\n  n = p[0];\n  free(p);\n  return n;\n}\n\
        #if 0\nint h(void) {\n  char *p = malloc(1);\n  if (!p) return 1;\n  return *p;\n}\n#endif\n";

    fn drawn(seed: u64, n: usize) -> Drawn {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), SOURCE).unwrap();
        let database = r#"[{"directory": ".", "file": "a.c", "command": "cc -c a.c"}]"#;
        std::fs::write(folder.path().join("compile_commands.json"), database).unwrap();
        let project = Project::load("x", folder.path()).unwrap();
        draw(&project, &Kind::ALL, seed, n, scratch.path()).unwrap()
    }

    #[test]
    fn a_seed_draws_the_same_again_and_dead_code_is_dropped() {
        let diffs = |drawn: &Drawn| {
            drawn.injected.iter().map(|one| (one.id.clone(), one.diff.clone())).collect::<Vec<_>>()
        };
        let all = drawn(1, 100);
        assert_eq!(diffs(&all), diffs(&drawn(1, 100)));
        assert!(all.injected.iter().all(|one| one.function == "f" && one.lines == (4..=16)));
        let kinds: BTreeSet<Kind> = all.injected.iter().map(|one| one.kind).collect();
        let wanted = [
            Kind::NullTest,
            Kind::Allocation,
            Kind::ReleaseDropped,
            Kind::ReleaseTwice,
            Kind::UseAfter,
        ];
        assert!(wanted.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        assert!(all.n_same > 0);
        assert!((2..9).any(|seed| diffs(&drawn(seed, 100)) != diffs(&all)));
    }

    #[test]
    fn a_diff_shows_what_changed_and_where() {
        let (line, text) = diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nx\nf\n", "a.c");
        assert_eq!(line, 5);
        assert_eq!(text, "--- a.c\n+++ a.c\n@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+x\n f\n");
    }
}

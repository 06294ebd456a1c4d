//! From the notes of a build to programs: which sources make which executable or library.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::cache::Key;
use crate::link::Linked;
use crate::load::shown_path;
use crate::preprocess::{Manifest, UnitCommand};
use crate::probe::is_scratch;
use crate::project::{ProgramKind, ProgramPlan};
use crate::record::{Compile, Outcome, Product, ProductKind, Record};

/// A unit as the build compiled it.
#[derive(Debug)]
pub struct CapturedUnit {
    pub command: UnitCommand,
    /// Missing if it could not be preprocessed then.
    pub manifest: Option<Manifest>,
}

/// What a captured build comes to.
#[derive(Debug, Default)]
pub struct Plan {
    /// Sorted by source and object, whatever the order of a parallel build.
    pub units: Vec<CapturedUnit>,
    pub programs: Vec<ProgramPlan>,
    pub notices: Vec<String>,
}

/// Makes the plan from records in order of time. `root` is what paths are shown against.
pub fn plan(records: Vec<Record>, root: &Path) -> Plan {
    let build = BuildGraph::new(records, root);
    let mut planner = Planner { build: &build, root, used: BTreeSet::new() };
    let mut programs = planner.programs();
    if programs.is_empty() {
        programs.extend(planner.all_objects());
    }
    planner.finish(programs)
}

/// The latest notes on every file.
struct BuildGraph {
    root: PathBuf,
    compiles: Vec<Compile>,
    /// Products with their parts; sources of the same command became compile numbers.
    products: Vec<(Product, Vec<Part>)>,
    compile_by_hash: HashMap<Key, Vec<usize>>,
    compile_by_path: HashMap<PathBuf, usize>,
    product_by_hash: HashMap<Key, usize>,
    product_by_path: HashMap<PathBuf, usize>,
}

#[derive(Clone, Debug)]
enum Part {
    Compile(usize),
    Object { name: String, hash: Key },
    Shared { path: PathBuf, hash: Key },
}

impl BuildGraph {
    fn new(records: Vec<Record>, root: &Path) -> Self {
        let mut graph = Self {
            root: root.to_owned(),
            compiles: Vec::new(),
            products: Vec::new(),
            compile_by_hash: HashMap::new(),
            compile_by_path: HashMap::new(),
            product_by_hash: HashMap::new(),
            product_by_path: HashMap::new(),
        };
        for record in records {
            graph.add(record);
        }
        graph
    }

    fn add(&mut self, record: Record) {
        let first = self.compiles.len();
        let n_compiles = record.compiles.len();
        for compile in record.compiles {
            let index = self.compiles.len();
            if let Some(hash) = compile.object {
                self.compile_by_hash.entry(hash).or_default().push(index);
            }
            if let Some(path) = &compile.command.object {
                self.compile_by_path.insert(path.clone(), index);
            }
            self.compiles.push(compile);
        }
        for mut product in record.products {
            let parts = std::mem::take(&mut product.parts).into_iter();
            let parts = parts.filter_map(|part| match part {
                // A damaged record may count beyond its sources.
                Linked::Source(index) => {
                    (index < n_compiles).then_some(Part::Compile(first + index))
                }
                Linked::Object { name, hash } => Some(Part::Object { name, hash }),
                Linked::Shared { path, hash } => Some(Part::Shared { path, hash }),
            });
            let parts = parts.collect();
            let index = self.products.len();
            self.product_by_hash.insert(product.hash, index);
            self.product_by_path.insert(product.path.clone(), index);
            self.products.push((product, parts));
        }
    }

    /// Products that are the latest of their path and still exist, sorted by path.
    fn kept(&self) -> Vec<usize> {
        let latest = self.products.iter().enumerate().filter(|(index, (product, _))| {
            self.product_by_path.get(&product.path) == Some(index) && self.is_kept(product)
        });
        let mut kept: Vec<usize> = latest.map(|(index, _)| index).collect();
        kept.sort_by(|a, b| self.products[*a].0.path.cmp(&self.products[*b].0.path));
        kept
    }

    /// Whether the product outlived the build: at its path, or renamed in its folder.
    fn is_kept(&self, product: &Product) -> bool {
        if is_scratch(&product.path, &self.root) {
            return false;
        }
        if product.path.is_file() {
            return true;
        }
        let folder = product.path.parent().unwrap_or(Path::new("/"));
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files = entries.filter_map(|entry| entry.metadata().ok());
        files.any(|metadata| metadata.is_file() && metadata.ino() == product.inode)
    }

    /// The compile that made an object. Two sources can give the same object: then the
    /// path decides, or the name of the archive's member.
    fn compile_of(&self, name: &str, hash: Key) -> Option<usize> {
        let candidates = self.compile_by_hash.get(&hash);
        let candidates = candidates.map(Vec::as_slice).unwrap_or_default();
        let member = name.strip_suffix(')').and_then(|n| n.rsplit_once('('));
        let fits = |&&index: &&usize| {
            let object = self.compiles[index].command.object.as_deref();
            match member {
                Some((_, member)) => {
                    object.and_then(Path::file_name) == Path::new(member).file_name()
                }
                None => object == Some(Path::new(name)),
            }
        };
        let by_hash = candidates.iter().rev().find(fits).or(candidates.last()).copied();
        // An object rebuilt behind our back is at least made from the same source.
        by_hash.or_else(|| self.compile_by_path.get(Path::new(name)).copied())
    }
}

struct Planner<'a> {
    build: &'a BuildGraph,
    root: &'a Path,
    /// Compiles that became units.
    used: BTreeSet<usize>,
}

/// What a product is made of, down to compiles.
#[derive(Default)]
struct Content {
    compiles: Vec<usize>,
    seen: HashSet<usize>,
    unknown: Vec<String>,
    visited: HashSet<usize>,
}

impl Planner<'_> {
    /// All executables, and the libraries that hold code no executable has.
    fn programs(&mut self) -> Vec<ProgramPlan> {
        let kept = self.build.kept();
        let kinds = [
            (ProductKind::Executable, ProgramKind::Executable),
            (ProductKind::Shared, ProgramKind::SharedLibrary),
            (ProductKind::Archive, ProgramKind::StaticLibrary),
            (ProductKind::Object, ProgramKind::Objects),
        ];
        let mut covered: BTreeSet<PathBuf> = BTreeSet::new();
        let mut planned = Vec::new();
        for (product_kind, kind) in kinds {
            for &index in &kept {
                if self.build.products[index].0.kind != product_kind {
                    continue;
                }
                let mut content = Content::default();
                self.collect_product(index, &mut content);
                let sources = self.sources(&content.compiles);
                // A program of the project has C; a library has C that is not yet covered.
                let is_new = match kind {
                    ProgramKind::Executable => !content.compiles.is_empty(),
                    _ => !sources.is_subset(&covered),
                };
                if is_new {
                    covered.extend(sources);
                    planned.push((index, kind, content));
                }
            }
        }
        planned
            .into_iter()
            .map(|(index, kind, content)| self.program(index, kind, content))
            .collect()
    }

    fn program(&mut self, index: usize, kind: ProgramKind, content: Content) -> ProgramPlan {
        self.used.extend(&content.compiles);
        ProgramPlan {
            name: shown_path(&self.build.products[index].0.path, self.root),
            kind,
            // Compile numbers for now; `finish` makes them unit numbers.
            units: content.compiles,
            unknown: content.unknown,
        }
    }

    /// Nothing was linked: everything that was compiled and kept is one program.
    fn all_objects(&mut self) -> Option<ProgramPlan> {
        let mut latest: Vec<usize> = self.build.compile_by_path.values().copied().collect();
        latest.retain(|&index| {
            let Compile { command, outcome, .. } = &self.build.compiles[index];
            let object = command.object.as_deref();
            !matches!(outcome, Outcome::Foreign(_))
                && object.is_some_and(|o| o.is_file() && !is_scratch(o, self.root))
        });
        latest.sort_by_key(|&index| self.order(index));
        if latest.is_empty() {
            return None;
        }
        self.used.extend(&latest);
        let name = self.root.file_name().map(|n| n.display().to_string()).unwrap_or_default();
        Some(ProgramPlan { name, kind: ProgramKind::Objects, units: latest, unknown: Vec::new() })
    }

    fn collect_product(&self, index: usize, content: &mut Content) {
        if !content.visited.insert(index) {
            return;
        }
        for part in &self.build.products[index].1 {
            match part {
                Part::Compile(compile) => self.collect_compile(*compile, content),
                Part::Object { name, hash } => self.collect_object(name, *hash, content),
                Part::Shared { path, hash } => {
                    let by_hash = self.build.product_by_hash.get(hash);
                    let product = by_hash.or_else(|| self.build.product_by_path.get(path));
                    if let Some(&product) = product {
                        self.collect_product(product, content);
                    }
                }
            }
        }
    }

    fn collect_object(&self, name: &str, hash: Key, content: &mut Content) {
        if let Some(compile) = self.build.compile_of(name, hash) {
            return self.collect_compile(compile, content);
        }
        let by_path = || self.build.product_by_path.get(Path::new(name));
        match self.build.product_by_hash.get(&hash).or_else(by_path) {
            Some(&product) => self.collect_product(product, content),
            None => content.unknown.push(shown_path(Path::new(name), self.root)),
        }
    }

    fn collect_compile(&self, index: usize, content: &mut Content) {
        if !content.seen.insert(index) {
            return;
        }
        let compile = &self.build.compiles[index];
        let Outcome::Foreign(source) = compile.outcome else {
            content.compiles.push(index);
            return;
        };
        // Assembler text may itself have been compiled from C.
        match source.and_then(|hash| self.build.compile_by_hash.get(&hash)?.last()) {
            Some(&made_from) => self.collect_compile(made_from, content),
            None => {
                let source = compile.command.source_path();
                content.unknown.push(shown_path(&source, self.root));
            }
        }
    }

    fn sources(&self, compiles: &[usize]) -> BTreeSet<PathBuf> {
        compiles.iter().map(|&index| self.build.compiles[index].command.source_path()).collect()
    }

    fn order(&self, index: usize) -> (PathBuf, Option<PathBuf>, usize) {
        let command = &self.build.compiles[index].command;
        (command.source_path(), command.object.clone(), index)
    }

    fn finish(self, mut programs: Vec<ProgramPlan>) -> Plan {
        let mut used: Vec<usize> = self.used.iter().copied().collect();
        used.sort_by_key(|&index| self.order(index));
        let unit_number: HashMap<usize, usize> =
            used.iter().enumerate().map(|(unit, &compile)| (compile, unit)).collect();
        for program in &mut programs {
            for unit in &mut program.units {
                *unit = unit_number[unit];
            }
        }
        let unit = |&index: &usize| {
            let compile = &self.build.compiles[index];
            let manifest = match &compile.outcome {
                Outcome::Preprocessed(manifest) => Some(manifest.clone()),
                _ => None,
            };
            CapturedUnit { command: compile.command.clone(), manifest }
        };
        let notices = self.notices(&programs, &used);
        Plan { units: used.iter().map(unit).collect(), programs, notices }
    }

    fn notices(&self, programs: &[ProgramPlan], used: &[usize]) -> Vec<String> {
        let mut notices = Vec::new();
        let unknown: BTreeSet<&str> =
            programs.iter().flat_map(|p| p.unknown.iter().map(String::as_str)).collect();
        if !unknown.is_empty() {
            let shown: Vec<&str> = unknown.iter().copied().take(5).collect();
            let more = if unknown.len() > shown.len() { ", ..." } else { "" };
            notices.push(format!(
                "{} linked parts are not C or were not compiled in this build; \
                 what they do is unknown: {}{more}",
                unknown.len(),
                shown.join(", ")
            ));
        }
        let used: BTreeSet<PathBuf> = self.sources(used);
        let all =
            self.build.compile_by_path.values().copied().filter(|&index| {
                !matches!(self.build.compiles[index].outcome, Outcome::Foreign(_))
            });
        let left_out = self.sources(&all.collect::<Vec<_>>()).difference(&used).count();
        if left_out > 0 {
            notices.push(format!(
                "{left_out} compiled file{} no program or library that was kept and {} left out",
                if left_out == 1 { " reaches" } else { "s reach" },
                if left_out == 1 { "was" } else { "were" },
            ));
        }
        let inexact = self.build.kept().into_iter().map(|index| &self.build.products[index].0);
        if let Some(product) = inexact.into_iter().find(|product| product.inexact) {
            notices.push(format!(
                "{} was linked with link-time optimisation: its archives are taken whole",
                shown_path(&product.path, self.root)
            ));
        }
        notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Flags, Language};

    fn key(text: &str) -> Key {
        Key::of_content(text.as_bytes())
    }

    #[test]
    fn records_that_make_no_sense_do_no_harm() {
        let folder = tempfile::tempdir().expect("temp folder");
        let output = folder.path().join("prog");
        fs::write(&output, "").expect("writable");
        let command = |source: &str| UnitCommand {
            directory: folder.path().to_owned(),
            source: source.to_owned(),
            language: Language::C,
            flags: Flags::default(),
            object: None,
        };
        let failed = || Outcome::Failed { reason: String::new(), details: Vec::new() };
        let product = |hash: &str, parts: Vec<Linked>| Product {
            kind: ProductKind::Executable,
            path: output.clone(),
            hash: key(hash),
            inode: 0,
            parts,
            inexact: false,
        };
        let object = |hash: &str| Linked::Object { name: "x.o".to_owned(), hash: key(hash) };
        let records = vec![
            // Assembler made from itself, a product made of itself, a source out of range.
            Record {
                compiles: vec![Compile {
                    command: command("loop.s"),
                    object: Some(key("loop")),
                    outcome: Outcome::Foreign(Some(key("loop"))),
                }],
                products: Vec::new(),
            },
            Record {
                compiles: vec![Compile {
                    command: command("a.c"),
                    object: None,
                    outcome: failed(),
                }],
                products: vec![product(
                    "self",
                    vec![object("self"), object("loop"), Linked::Source(0), Linked::Source(9)],
                )],
            },
        ];
        let plan = plan(records, folder.path());
        assert_eq!(plan.programs.len(), 1);
        assert_eq!(plan.programs[0].units, [0]);
        assert_eq!(plan.units[0].command.source, "a.c");
    }
}

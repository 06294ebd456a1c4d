//! Diagnoses C text as the command line does, with the compiler in between.

use std::path::Path;
use std::process::Command;

use base::Cancel;
use capture::provenance;
use diagnose::{
    Compile, Compiled, Diagnosis, Library, Line, Options, PaperSettings, Rejected, Request,
    SourceFile, Target, TestCase,
};
use program::Program;

const NAME: &str = "program.c";

pub struct Clang;

impl Compile for Clang {
    fn compile(&self, texts: &[Vec<u8>]) -> Result<Compiled, Rejected> {
        import(&texts[0]).map(|program| Compiled { program, paths: vec![NAME.to_owned()] })
    }
}

pub fn import(text: &[u8]) -> Result<Program, Rejected> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join(NAME), text).expect("a file can be written");
    let preprocessed = Command::new("clang-19")
        .args(["-E", "-dD", "-w", NAME])
        .current_dir(&folder)
        .output()
        .expect("clang-19 starts");
    let read = &mut |path: &Path| std::fs::read(folder.path().join(path)).ok();
    let prepared = provenance::prepare(&preprocessed.stdout, provenance::Extent::Needed, read);
    let (limits, cancel) = (base::child::Limits::default(), Cancel::new());
    let flags: [&str; 0] = [];
    let bitcode = llvm::compile(&prepared.text, &flags, &prepared.map, &limits, &cancel)
        .map_err(|error| objections(&error.to_string()))?;
    let unit = llvm::import(&bitcode, &prepared.map, NAME).expect("what compiles is imported");
    Ok(program::link::link(vec![unit]).program)
}

fn objections(messages: &str) -> Rejected {
    let place = |line: &str| {
        let mut parts = line.strip_prefix(NAME)?.trim_start_matches(':').split(':');
        Some((0, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let found: Vec<_> = messages.lines().filter_map(place).collect();
    if found.is_empty() { Rejected::Failed(messages.to_owned()) } else { Rejected::At(found) }
}

pub fn diagnose(text: &str, paper: Option<PaperSettings>, tests: Vec<TestCase>) -> Diagnosis {
    diagnose_at(text, Target::default(), paper, tests)
}

/// The properties that are violated in these lines, together.
pub fn diagnose_lines(text: &str, lines: &[u32], paper: Option<PaperSettings>) -> Diagnosis {
    let places = lines.iter().map(|line| Line { file: None, line: *line }).collect();
    diagnose_at(text, Target { places, rule: None }, paper, Vec::new())
}

/// The property that is violated in this line.
pub fn diagnose_line(text: &str, line: u32) -> Diagnosis {
    diagnose_lines(text, &[line], None)
}

/// The property of this rule that is violated.
pub fn diagnose_rule(text: &str, rule: &str) -> Diagnosis {
    let target = Target { rule: Some(rule.to_owned()), ..Target::default() };
    diagnose_at(text, target, None, Vec::new())
}

/// As a run from this function shows it.
pub fn diagnose_function(text: &str, function: &str) -> Diagnosis {
    run(text, Some(function), Target::default(), Library::own(), None, Vec::new())
}

fn diagnose_at(
    text: &str,
    target: Target,
    paper: Option<PaperSettings>,
    tests: Vec<TestCase>,
) -> Diagnosis {
    run(text, None, target, Library::own(), paper, tests)
}

/// With other mistakes than firstfault knows.
pub fn diagnose_with(text: &str, library: Library) -> Diagnosis {
    run(text, None, Target::default(), library, None, Vec::new())
}

fn run(
    text: &str,
    entry: Option<&str>,
    target: Target,
    library: Library,
    paper: Option<PaperSettings>,
    tests: Vec<TestCase>,
) -> Diagnosis {
    let program = import(text.as_bytes()).unwrap_or_else(|why| panic!("{why:?}"));
    let file = SourceFile { path: NAME.to_owned(), text: text.as_bytes().to_vec(), is_kept: false };
    let request = Request {
        program: &program,
        files: vec![file],
        target,
        entry: entry.map(str::to_owned),
        library,
        tests,
        paper,
        options: Options { top: 100, ..Options::default() },
    };
    diagnose::diagnose(&request, &Clang, &Cancel::new()).unwrap_or_else(|why| panic!("{why}"))
}

/// Line, old and new text of the changes of each repair.
pub fn changes(diagnosis: &Diagnosis) -> Vec<Vec<(u32, &str, &str)>> {
    diagnosis
        .repairs
        .iter()
        .map(|repair| {
            let changes = repair.changes.iter();
            changes.map(|c| (c.place.line, c.old.as_str(), c.new.as_str())).collect()
        })
        .collect()
}

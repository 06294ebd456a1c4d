//! The parts of a set: what is measured together, found by what lies in its folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::micro::{self, BeliefWish, CrashWish, Mark};
use super::truth::{self, Base, Correlated, Input, Pair, Run};

/// Programs of one kind in one folder.
#[derive(Debug)]
pub struct Part {
    /// `static-a`, `correlation`, `micro-found`, ...
    pub name: String,
    pub folder: PathBuf,
    pub cases: Vec<Case>,
}

/// What is scored as one.
#[derive(Clone, Debug)]
pub enum Case {
    Pair(Pair),
    Correlated(Correlated),
    Run(Run),
    Base(Base),
    /// A file and its marks; none in programs where nothing may be reported.
    Marked(String, Vec<Mark>),
    MicroRun(CrashWish),
    MicroBeliefs(BeliefWish),
}

/// What is done with a program.
#[derive(Clone, Debug)]
pub enum Task {
    /// Looked at; sanitizers run it on the inputs, where there are any.
    Check {
        inputs: Vec<Input>,
    },
    /// Run until it fails.
    Crash {
        args: Vec<String>,
        stdin: Option<PathBuf>,
        expect: Option<PathBuf>,
        threads: bool,
    },
    Beliefs,
}

/// A program that tools are asked about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Unique within its part.
    pub name: String,
    /// Relative to the folder of the part.
    pub files: Vec<PathBuf>,
    pub task: Task,
}

impl Case {
    pub fn name(&self) -> &str {
        match self {
            Case::Pair(pair) => &pair.name,
            Case::Correlated(case) => &case.name,
            Case::Run(run) => &run.id,
            Case::Base(base) => &base.base,
            Case::Marked(file, _) => file,
            Case::MicroRun(wish) => &wish.file,
            Case::MicroBeliefs(wish) => &wish.file,
        }
    }

    /// The programs it is made of, in the order in which it is scored.
    pub fn subjects(&self) -> Vec<Subject> {
        let of = |name: &str, files: Vec<String>, task: Task| Subject {
            name: name.to_owned(),
            files: files.into_iter().map(PathBuf::from).collect(),
            task,
        };
        match self {
            Case::Pair(pair) => [
                ("bad", pair.trigger.iter().cloned().collect()),
                ("ok", pair.trigger.iter().chain(&pair.normal).cloned().collect()),
            ]
            .into_iter()
            .map(|(which, inputs)| {
                let name = format!("{}_{which}", pair.name);
                let mut files = vec![format!("{name}.c")];
                files.extend(pair.extra_files.iter().cloned());
                of(&name, files, Task::Check { inputs })
            })
            .collect(),
            Case::Correlated(case) => {
                let task = Task::Check { inputs: case.triggers.clone() };
                vec![of(&case.name, vec![case.file.clone()], task)]
            }
            Case::Run(run) => {
                let inside = |file: &String| PathBuf::from(&run.dir).join(file);
                let is_output_needed =
                    matches!(run.outcome, truth::Outcome::WrongOutput | truth::Outcome::Silent);
                let task = Task::Crash {
                    args: run.failing_args.as_ref().unwrap_or(&run.input.args).clone(),
                    stdin: run.input.stdin.as_ref().map(inside),
                    expect: run.expected_output.as_ref().filter(|_| is_output_needed).map(inside),
                    threads: run.threads,
                };
                vec![of(&run.id, vec![format!("{}/{}", run.dir, run.source)], task)]
            }
            Case::Base(base) => {
                let units = base.files.iter().filter(|file| file.ends_with(".c"));
                let files = units.map(|file| format!("{}/{file}", base.base)).collect();
                vec![of(&base.base, files, Task::Beliefs)]
            }
            Case::Marked(file, _) => {
                vec![of(file, vec![file.clone()], Task::Check { inputs: Vec::new() })]
            }
            Case::MicroRun(wish) => {
                let task =
                    Task::Crash { args: Vec::new(), stdin: None, expect: None, threads: false };
                let run = of(&wish.file, vec![wish.file.clone()], task);
                let again = Subject { name: format!("{} again", wish.file), ..run.clone() };
                if wish.twice { vec![run, again] } else { vec![run] }
            }
            Case::MicroBeliefs(wish) => {
                vec![of(&wish.file, vec![wish.file.clone()], Task::Beliefs)]
            }
        }
    }
}

/// The parts of a folder: a set, or a folder of sets.
pub fn of_folder(folder: &Path) -> Result<Vec<Part>> {
    let folder = &std::path::absolute(folder)?;
    let mut parts = Vec::new();
    if is_set(folder) {
        add(folder, &mut parts)?;
    } else {
        let mut inside: Vec<PathBuf> = std::fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        inside.sort();
        for folder in inside.iter().filter(|inside| is_set(inside)) {
            add(folder, &mut parts)?;
        }
    }
    ensure!(
        !parts.is_empty(),
        "no set lies in {}: no truth.json, no micro programs",
        folder.display()
    );
    let n_correlated = parts.iter().filter(|part| part.name.starts_with("correlation")).count();
    if n_correlated == 1 {
        // Of one set only: its name says nothing.
        let mut all = parts.iter_mut();
        let part = all.find(|part| part.name.starts_with("correlation"));
        part.into_iter().for_each(|part| part.name = "correlation".to_owned());
    }
    Ok(parts)
}

fn is_set(folder: &Path) -> bool {
    folder.join("truth.json").is_file() || folder.join("found").is_dir()
}

fn add(folder: &Path, parts: &mut Vec<Part>) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut part = |name: String, folder: &Path, cases: Vec<Case>| {
        if !cases.is_empty() {
            parts.push(Part { name, folder: folder.to_owned(), cases });
        }
    };
    if !folder.join("truth.json").is_file() {
        for which in ["found", "silent"] {
            part(
                format!("{name}-{which}"),
                &folder.join(which),
                marked(&folder.join(which), which)?,
            );
        }
        if folder.join("expected.toml").is_file() {
            let wishes = micro::wishes(&folder.join("expected.toml"))?;
            let runs = wishes.crash.into_iter().map(Case::MicroRun).collect();
            part(format!("{name}-crash"), &folder.join("crash"), runs);
            let beliefs = wishes.beliefs.into_iter().map(Case::MicroBeliefs).collect();
            part(format!("{name}-beliefs"), &folder.join("beliefs"), beliefs);
        }
        return Ok(());
    }
    let truth = truth::load(folder)?;
    part(name.clone(), folder, truth.cases.into_iter().map(Case::Pair).collect());
    let correlated = truth.correlation_cases.into_iter().map(Case::Correlated).collect();
    part(format!("correlation-{name}"), folder, correlated);
    let (threads, crash): (Vec<Run>, Vec<Run>) =
        truth.programs.into_iter().partition(|run| run.threads);
    let is_own_name = name == "crash";
    let called =
        |which: &str| if is_own_name { which.to_owned() } else { format!("{name}-{which}") };
    part(called("crash"), folder, crash.into_iter().map(Case::Run).collect());
    part(called("threads"), folder, threads.into_iter().map(Case::Run).collect());
    part(
        if truth.bases.is_empty() || name == "beliefs" { name } else { format!("{name}-beliefs") },
        folder,
        truth.bases.into_iter().map(Case::Base).collect(),
    );
    Ok(())
}

/// The C files of a folder with their marks.
fn marked(folder: &Path, which: &str) -> Result<Vec<Case>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    let case = |file: &PathBuf| {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let marks = micro::marks(&text).with_context(|| file.display().to_string())?;
        match (which, marks.len()) {
            ("found", 0) => bail!("{}: no line is marked /*!rule*/", file.display()),
            ("silent", 1..) => bail!("{}: a mark where nothing may be reported", file.display()),
            _ => {}
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Case::Marked(name, marks))
    };
    files.iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_sets_have_all_their_parts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/cases");
        let parts = of_folder(&root).unwrap();
        let counted: Vec<(&str, usize)> =
            parts.iter().map(|part| (part.name.as_str(), part.cases.len())).collect();
        let expected = [
            ("beliefs", 6),
            ("crash", 18),
            ("threads", 12),
            ("long", 20),
            ("micro-found", 79),
            ("micro-silent", 20),
            ("micro-crash", 6),
            ("micro-beliefs", 35),
            ("static-a", 44),
            ("static-b", 32),
            ("correlation", 12),
        ];
        assert_eq!(counted, expected);
        for part in &parts {
            for subject in part.cases.iter().flat_map(Case::subjects) {
                for file in &subject.files {
                    assert!(part.folder.join(file).is_file(), "{}", file.display());
                }
            }
        }
    }

    #[test]
    fn a_folder_without_a_set_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(of_folder(folder.path()).unwrap_err().to_string().contains("no set lies in"));
        std::fs::create_dir(folder.path().join("found")).unwrap();
        std::fs::write(folder.path().join("found/a.c"), "int a;").unwrap();
        let error = of_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no line is marked"), "{error}");
    }
}

//! A program of a captured build or a compilation database, as something to instrument.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::Cancel;
use capture::{ProgramKind, ProgramPlan, Project};
use locate::{BuildOptions, Preprocessed, Source};

use crate::args::{InputArgs, RunArgs};
use crate::pipeline;

/// The folder that paths are shown relative to, and that the state belongs to.
pub fn root(project: Option<&Path>) -> Result<PathBuf> {
    let project = project.map(Path::to_owned);
    let input = InputArgs { files: Vec::new(), project, rest: Vec::new() };
    Ok(input.resolve()?.1)
}

/// Preprocesses the project and chooses the program that is called `target`, or the only one.
pub fn build_options(
    folder: &Path,
    target: Option<&str>,
    run: &RunArgs,
    cancel: &Cancel,
) -> Result<BuildOptions> {
    let input = InputArgs { files: Vec::new(), project: Some(folder.to_owned()), rest: Vec::new() };
    let (inputs, root) = input.resolve()?;
    let project = pipeline::load(&inputs, &root, run, cancel)?;
    for failure in &project.failures {
        crate::log::incomplete(&pipeline::incomplete(failure));
    }
    let plan = chosen(&project.programs, target)?;
    let sources = sources(&project, plan)?;
    let is_linked = plan.kind == ProgramKind::Executable;
    // Linked code without C source goes in as it is.
    let foreign = plan.unknown.iter().map(|path| root.join(path)).filter(|path| path.is_file());
    Ok(BuildOptions {
        sources,
        flags: foreign.map(|path| path.to_string_lossy().into_owned()).collect(),
        loose: (!is_linked).then(|| target.map(str::to_owned)),
        ..BuildOptions::default()
    })
}

/// One notice for all flags that are left out.
pub fn say_unknown_flags(options: &BuildOptions) {
    let mut unknown = options.unknown_flags();
    unknown.dedup();
    if !unknown.is_empty() {
        let unknown = unknown.join(" ");
        crate::log::warning(&format!("flags left out, since they may do anything: {unknown}"));
    }
}

/// Where nothing is known about linking, all units are taken, and the one with `main` chosen
/// when they are compiled.
fn chosen<'p>(programs: &'p [ProgramPlan], target: Option<&str>) -> Result<&'p ProgramPlan> {
    let unlinked = |plan: &&ProgramPlan| {
        matches!(plan.kind, ProgramKind::Unsplit | ProgramKind::Objects | ProgramKind::Files)
    };
    let executables: Vec<&ProgramPlan> =
        programs.iter().filter(|plan| plan.kind == ProgramKind::Executable).collect();
    let file_name = |plan: &ProgramPlan| {
        let name = Path::new(&plan.name).file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let fits = |plan: &&&ProgramPlan| {
        target.is_none_or(|target| plan.name == target || file_name(plan) == target)
    };
    let fitting: Vec<&&ProgramPlan> = executables.iter().filter(fits).collect();
    match fitting.as_slice() {
        [plan] => return Ok(plan),
        [] => {}
        _ => bail!(
            "the build makes several programs ({}): choose one with --target",
            names(&executables)
        ),
    }
    if let Some(plan) = programs.iter().find(unlinked) {
        return Ok(plan);
    }
    match target {
        Some(target) if !executables.is_empty() => {
            bail!("the build makes no program called {target}; it makes {}", names(&executables))
        }
        _ => bail!("the build makes no program that can be run"),
    }
}

fn names(plans: &[&ProgramPlan]) -> String {
    plans.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn sources(project: &Project, plan: &ProgramPlan) -> Result<Vec<Source>> {
    let units = plan.units.iter().filter_map(|unit| project.units.get(*unit));
    units
        .map(|unit| {
            let text = unit.text.read().with_context(|| format!("cannot read {}", unit.path))?;
            Ok(Source::Preprocessed(Preprocessed {
                file: PathBuf::from(&unit.path),
                text,
                flags: unit.flags.clone(),
                folder: unit.directory.clone(),
            }))
        })
        .collect()
}

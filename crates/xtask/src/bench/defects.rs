//! `bench defects`: defects that became known in old versions of libraries, one by one. Each
//! counts when the old version gets a finding of the right rule at that function, and the
//! current one does not.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::corpora::Recipe;
use super::subject::{self, Fault, Run};
use super::table::Table;
use super::{obtain, origin, parallel};

#[derive(Args)]
pub struct Defects {
    /// Only these, by a part of the CVE number or the function; all of bench/defects.toml by
    /// default
    names: Vec<String>,
    /// firstfault is stopped on a library that takes more processor time than this
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    limit: u64,
    /// Libraries looked at in parallel
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
    /// Write the table to bench/results/defects.md though only some were looked at
    #[arg(long)]
    write: bool,
}

/// At least so many of all defects are to be found and gone.
const MIN_FOUND: usize = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    library: Vec<Recipe>,
    defect: Vec<Defect>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defect {
    cve: String,
    function: String,
    rules: Vec<String>,
    entries: Vec<String>,
    /// Functions where it shows, if not in `function` itself.
    #[serde(default)]
    shows_in: Vec<String>,
    old: String,
    current: Option<String>,
}

/// What a version of a library says of a defect.
enum Answer {
    /// Findings of the right rules at the function.
    Reported(Vec<Fault>),
    /// The run did not come to its end.
    Stopped(String),
    /// No crate carries a version without the defect.
    Missing,
}

pub fn run(root: &Path, options: &Defects) -> Result<()> {
    let (libraries, mut defects) = load(&root.join("bench/defects.toml"))?;
    let is_wanted = |defect: &Defect| {
        let matches = |name: &String| defect.cve.contains(name) || defect.function.contains(name);
        options.names.is_empty() || options.names.iter().any(matches)
    };
    defects.retain(is_wanted);
    if defects.is_empty() {
        bail!("no defect matches {}", options.names.join(" or "));
    }
    let program = subject::build(root)?;
    // Obtained one after the other: cargo and configure steps do not like company.
    let scratch = super::scratch().join("defects");
    let needed = |library: &&Recipe| {
        defects.iter().any(|d| d.old == library.name || d.current.as_ref() == Some(&library.name))
    };
    let mut corpora = Vec::new();
    for library in libraries.iter().filter(needed) {
        let corpus = obtain::obtain(library, &scratch);
        corpora.push(corpus.with_context(|| format!("library {}", library.name))?);
    }
    let ask = |defect: &Defect, library: Option<&String>| -> Result<Answer> {
        let Some(library) = library else { return Ok(Answer::Missing) };
        let corpus = corpora.iter().find(|c| c.name == *library).context("it was obtained")?;
        asked(&program, corpus, defect, Duration::from_secs(options.limit))
    };
    let answers = parallel::map(&defects, options.jobs, |defect| -> Result<_> {
        Ok((ask(defect, Some(&defect.old))?, ask(defect, defect.current.as_ref())?))
    });
    let answers: Vec<(Answer, Answer)> = answers.into_iter().collect::<Result<_>>()?;
    let n_found = answers.iter().filter(|(old, current)| is_found(old, current)).count();
    let text = document(root, options, &defects, &answers, n_found);
    println!("{text}");
    if options.names.is_empty() || options.write {
        let path = root.join("bench/results/defects.md");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if options.names.is_empty() && n_found < MIN_FOUND {
        bail!("bars not met: {n_found} of {} defects found, at least {MIN_FOUND}", defects.len());
    }
    Ok(())
}

fn load(path: &Path) -> Result<(Vec<Recipe>, Vec<Defect>)> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    for defect in &file.defect {
        for name in [Some(&defect.old), defect.current.as_ref()].into_iter().flatten() {
            if !file.library.iter().any(|library| library.name == *name) {
                bail!("{}: no library is named {name}", defect.cve);
            }
        }
    }
    Ok((file.library, file.defect))
}

fn asked(
    program: &Path,
    corpus: &obtain::Corpus,
    defect: &Defect,
    cpu_limit: Duration,
) -> Result<Answer> {
    let rules: Vec<&str> = defect.rules.iter().map(String::as_str).collect();
    let functions: Vec<String> =
        [&defect.function].into_iter().chain(&defect.shows_in).cloned().collect();
    let run =
        Run { jobs: 1, rules: &rules, functions: &functions, entries: &defect.entries, cpu_limit };
    let ran = subject::run(program, corpus, &run)?;
    let Some((_, report, _)) = ran.results else {
        return Ok(Answer::Stopped(ran.ending.to_string()));
    };
    if let Some(missing) = report.incomplete.first() {
        return Ok(Answer::Stopped(format!("{}: {}", missing.what, missing.reason)));
    }
    let at_function = |fault: &Fault| {
        let is_rule = rules.contains(&fault.rule.as_str());
        let steps = fault.segments.iter().flat_map(|segment| &segment.steps);
        let passes = steps.into_iter().any(|step| step.function == defect.function);
        is_rule && (fault.function == defect.function || passes)
    };
    Ok(Answer::Reported(report.faults.into_iter().filter(at_function).collect()))
}

/// Reported where it is, and gone where it is gone; where there is no current version, only
/// the first half can be asked.
fn is_found(old: &Answer, current: &Answer) -> bool {
    let is_gone = match current {
        Answer::Reported(faults) => faults.is_empty(),
        Answer::Missing => true,
        Answer::Stopped(_) => false,
    };
    matches!(old, Answer::Reported(faults) if !faults.is_empty()) && is_gone
}

fn document(
    root: &Path,
    options: &Defects,
    defects: &[Defect],
    answers: &[(Answer, Answer)],
    n_found: usize,
) -> String {
    let mut table =
        Table::new(&["defect", "function", "rules", "old version", "reported", "current", "gone"]);
    let mut messages = String::new();
    for (defect, (old, current)) in defects.iter().zip(answers) {
        let reported = match old {
            Answer::Reported(faults) if faults.is_empty() => "no".to_owned(),
            Answer::Reported(faults) => format!("yes ({})", faults.len()),
            Answer::Stopped(why) => why.clone(),
            Answer::Missing => "-".to_owned(),
        };
        let gone = match current {
            Answer::Reported(faults) if faults.is_empty() => "yes".to_owned(),
            Answer::Reported(faults) => format!("no ({})", faults.len()),
            Answer::Stopped(why) => why.clone(),
            Answer::Missing => "no corrected version in the registry".to_owned(),
        };
        table.row(vec![
            defect.cve.clone(),
            defect.function.clone(),
            defect.rules.join(", "),
            defect.old.clone(),
            reported,
            defect.current.clone().unwrap_or_else(|| "-".to_owned()),
            gone,
        ]);
        for (library, answer) in [(Some(&defect.old), old), (defect.current.as_ref(), current)] {
            let Answer::Reported(faults) = answer else { continue };
            for Fault { rule, line, function, message, .. } in faults {
                let library = library.map_or("", String::as_str);
                messages += &format!(
                    "- {}, {library}: line {line} in `{function}`: {message} [{rule}]\n",
                    defect.cve
                );
            }
        }
    }
    let command = ["cargo xtask bench defects"]
        .into_iter()
        .chain(options.names.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    format!(
        "# Known defects in old versions of libraries\n\n`{command}`, {}.\n\n\
         Each with the interface functions of `bench/defects.toml` declared as `--entry`. A \
         report counts when it is of one of the rules and lies in the function, or its path \
         passes it. {n_found} of {} are reported and gone (or not known to be corrected).\n\n\
         {table}\n{messages}",
        origin::commit_and_date(root),
        defects.len(),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_defects_can_be_read_and_name_their_libraries() {
        let (libraries, defects) =
            super::load(&crate::repository().join("bench/defects.toml")).unwrap();
        for library in &libraries {
            let is_used = |d: &super::Defect| {
                d.old == library.name || d.current.as_ref() == Some(&library.name)
            };
            assert!(defects.iter().any(is_used), "{} is of no use", library.name);
        }
        assert!(defects.iter().all(|defect| !defect.rules.is_empty()));
    }
}

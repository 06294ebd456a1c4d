//! firstfault itself: columns of options, and its reports in the form in which they are scored.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use serde::Deserialize;

use super::parts::{Subject, Task};
use super::said::{At, Corruption, Edge, Notice, Open, Reported, Said};
use crate::bench::subject::{PATIENCE, limited};

/// What this build of the tool can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    pub engine: bool,
    pub seed: bool,
    pub replay: bool,
}

impl Abilities {
    pub fn of(firstfault: &Path) -> Result<Self> {
        let mut command = child::command(firstfault)
            .with_context(|| format!("cannot run {}", firstfault.display()))?;
        command.args(["check", "--help"]);
        let done = child::run(command, b"", &Limits::default(), &Cancel::new())?;
        if !done.ending.success() {
            bail!("{} check --help {}", firstfault.display(), done.ending);
        }
        Ok(Self::in_help(&String::from_utf8_lossy(&done.stdout)))
    }

    fn in_help(help: &str) -> Self {
        let has =
            |option: &str| help.lines().any(|line| line.split_whitespace().next() == Some(option));
        Self { engine: has("--engine"), seed: has("--seed"), replay: has("--replay") }
    }
}

/// A way of running `firstfault check`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// As the table heads it: `explore, seed 2`.
    pub name: String,
    /// Without the seed.
    pub base: String,
    pub options: Vec<String>,
    pub replays: bool,
}

/// The columns that were asked for: `check`, `static`, `explore`, or `NAME=OPTIONS`.
pub fn columns(
    asked: &[String],
    seeds: &[u64],
    replay: bool,
    abilities: Abilities,
) -> Result<Vec<Options>> {
    let default = if abilities.engine { "check static explore" } else { "check" };
    let default: Vec<String> = default.split(' ').map(str::to_owned).collect();
    let asked = if asked.is_empty() { &default } else { asked };
    if !seeds.is_empty() && !abilities.seed {
        bail!("this firstfault has no --seed");
    }
    if replay && !abilities.replay {
        bail!("this firstfault has no --replay");
    }
    let mut columns = Vec::new();
    for column in asked {
        let (name, mut options) = match column.split_once('=') {
            Some((name, options)) => {
                let words = shlex::split(options);
                (name, words.with_context(|| format!("column {name}: unbalanced quotes"))?)
            }
            None => (column.as_str(), built_in(column, abilities)?),
        };
        let is_static = options.iter().any(|word| word == "static" || word == "--engine=static");
        if replay && !is_static {
            options.push("--replay".to_owned());
        }
        let replays = options.iter().any(|word| word == "--replay");
        let column = Options { name: name.to_owned(), base: name.to_owned(), options, replays };
        if seeds.is_empty() || is_static {
            columns.push(column);
            continue;
        }
        for seed in seeds {
            let mut of_seed = column.clone();
            of_seed.name = format!("{name}, seed {seed}");
            of_seed.options.extend(["--seed".to_owned(), seed.to_string()]);
            columns.push(of_seed);
        }
    }
    Ok(columns)
}

fn built_in(name: &str, abilities: Abilities) -> Result<Vec<String>> {
    let engine = match name {
        "check" => return Ok(Vec::new()),
        "static" | "explore" => name,
        other => bail!("no column {other}: check, static, explore or NAME=OPTIONS"),
    };
    if !abilities.engine {
        bail!("column {name}: this firstfault has no --engine");
    }
    Ok(vec!["--engine".to_owned(), engine.to_owned()])
}

/// Asks firstfault about a program; what goes wrong is part of the answer.
pub fn ask(
    firstfault: &Path,
    options: &[String],
    (folder, subject): (&Path, &Subject),
    (cpu_limit, keep): (Duration, Option<&Path>),
) -> Result<Said> {
    let state = tempfile::tempdir()?;
    let report = state.path().join("report.json");
    let mut command = limited(cpu_limit, None)?;
    command.arg(firstfault);
    match &subject.task {
        Task::Check { .. } => command.arg("check").args(options).args(&subject.files),
        Task::Beliefs => command.arg("beliefs").args(&subject.files).args(["--limit", "0"]),
        Task::Crash { args, stdin, expect, .. } => {
            let words = shlex::try_join(args.iter().map(String::as_str))?;
            command.arg("crash").args(&subject.files);
            if !words.is_empty() {
                command.arg(format!("--args={words}"));
            }
            for (option, file) in [("--stdin", stdin), ("--expect", expect)] {
                command.args(file.iter().flat_map(|file| [Path::new(option), file.as_path()]));
            }
            &mut command
        }
    };
    command.args(["--format", "json", "--state"]).arg(state.path().join("state"));
    command.arg("-o").arg(&report);
    if matches!(subject.task, Task::Crash { threads: true, .. }) {
        command.args(["--", "-pthread"]);
    }
    command.current_dir(folder);
    let limits = Limits { deadline: PATIENCE * cpu_limit, ..Limits::default() };
    let done = child::run(command, b"", &limits, &Cancel::new())?;
    let cpu = done.cpu.as_secs_f64();
    let Ok(text) = std::fs::read(&report) else {
        let log = String::from_utf8_lossy(&done.stderr);
        let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let why = format!("{}: {last}", done.ending);
        return Ok(Said { cpu, ..Said::failure(why.trim_end_matches([':', ' '])) });
    };
    if let Some(keep) = keep {
        std::fs::create_dir_all(keep).with_context(|| format!("cannot make {}", keep.display()))?;
        let path = keep.join(format!("{}.json", subject.name));
        std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let said = said(&text).with_context(|| format!("the report on {}", subject.name))?;
    Ok(Said { cpu, ..said })
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Report {
    incomplete: Vec<Incomplete>,
    notices: Vec<RawNotice>,
    faults: Vec<Fault>,
    correlations: Vec<Correlation>,
    contracts: Vec<Contract>,
    dont_knows: Vec<DontKnow>,
    deviations: Vec<Deviation>,
    corruption: Option<RawCorruption>,
    stats: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Incomplete {
    what: String,
    reason: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Place {
    file: String,
    line: u32,
    function: String,
}

#[derive(Deserialize)]
struct RawNotice {
    #[serde(flatten)]
    place: Place,
    message: String,
}

#[derive(Deserialize)]
struct Fault {
    id: String,
    rule: String,
    #[serde(flatten)]
    place: Place,
    message: String,
    #[serde(default)]
    level: String,
    witness: Option<serde_json::Value>,
    #[serde(default)]
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    steps: Vec<Place>,
}

#[derive(Deserialize)]
struct Correlation {
    from: String,
    to: String,
    unique: Option<bool>,
}

#[derive(Deserialize)]
struct Contract {
    #[serde(flatten)]
    place: Place,
    requires: String,
    rule: String,
}

#[derive(Deserialize)]
struct DontKnow {
    #[serde(flatten)]
    place: Place,
    rule: String,
    reason: String,
}

#[derive(Deserialize)]
struct Deviation {
    rank: u32,
    template: String,
    #[serde(flatten)]
    place: Place,
    message: String,
}

#[derive(Deserialize)]
struct RawCorruption {
    #[serde(flatten)]
    place: Place,
    kind: String,
    #[serde(default)]
    race: Vec<Place>,
}

impl Place {
    fn at(&self) -> At {
        At::new(&self.file, self.line)
    }
}

/// A JSON report in the form in which it is scored.
pub fn said(text: &[u8]) -> Result<Said> {
    let mut report: Report = serde_json::from_slice(text).context("is not as documented")?;
    report.deviations.sort_by_key(|deviation| deviation.rank);
    let faults = report.faults.into_iter().map(|fault| Reported {
        places: vec![fault.place.at()],
        path: fault.segments.iter().flat_map(|s| &s.steps).map(Place::at).collect(),
        id: fault.id,
        rule: fault.rule,
        level: fault.level,
        function: fault.place.function,
        message: fault.message,
        has_witness: fault.witness.is_some(),
    });
    let deviations = report.deviations.into_iter().map(|deviation| Reported {
        places: vec![deviation.place.at()],
        rule: deviation.template,
        function: deviation.place.function,
        message: deviation.message,
        ..Reported::default()
    });
    let dont_knows = report.dont_knows.into_iter().map(|open| Open {
        at: open.place.at(),
        rule: open.rule,
        ending: format!("don't know: {}", open.reason),
    });
    let contracts = report.contracts.into_iter().map(|contract| Open {
        at: contract.place.at(),
        rule: contract.rule,
        ending: format!("contract: {}", contract.requires),
    });
    let failed: Vec<String> =
        report.incomplete.iter().map(|i| format!("{}: {}", i.what, i.reason)).collect();
    Ok(Said {
        reports: faults.chain(deviations).collect(),
        edges: report
            .correlations
            .into_iter()
            .map(|c| Edge { from: c.from, to: c.to, unique: c.unique })
            .collect(),
        open: dont_knows.chain(contracts).collect(),
        notices: report
            .notices
            .into_iter()
            .map(|notice| Notice { at: notice.place.at(), text: notice.message })
            .collect(),
        stats: report
            .stats
            .into_iter()
            .filter(|(name, _)| name.starts_with("explore"))
            .filter_map(|(name, value)| Some((name, value.as_f64()?)))
            .collect(),
        race: report.corruption.iter().flat_map(|c| &c.race).map(Place::at).collect(),
        corruption: report
            .corruption
            .map(|found| Corruption { at: found.place.at(), kind: found.kind }),
        failed: (!failed.is_empty()).then(|| failed.join("; ")),
        ..Said::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Abilities = Abilities { engine: true, seed: true, replay: true };

    fn columns_of(asked: &[&str], seeds: &[u64], replay: bool) -> Result<Vec<Options>> {
        let asked: Vec<String> = asked.iter().map(|word| word.to_string()).collect();
        columns(&asked, seeds, replay, ALL)
    }

    #[test]
    fn abilities_are_read_from_the_help() {
        let help =
            "Options:\n      --engine <ENGINE>\n          --seed is told here\n  --seed <N>\n";
        let abilities = Abilities::in_help(help);
        assert_eq!(abilities, Abilities { engine: true, seed: true, replay: false });
    }

    #[test]
    fn a_tool_without_engines_has_one_column() {
        let old = columns(&[], &[], false, Abilities::default()).unwrap();
        assert_eq!(old.len(), 1);
        assert!(old[0].options.is_empty());
        assert!(columns(&["explore".to_owned()], &[], false, Abilities::default()).is_err());
        assert!(columns(&[], &[1], false, Abilities::default()).is_err());
        assert!(columns(&[], &[], true, Abilities::default()).is_err());
        assert_eq!(columns_of(&[], &[], false).unwrap().len(), 3);
    }

    #[test]
    fn seeds_and_replay_go_to_columns_that_run() {
        let all = columns_of(&["static", "explore"], &[1, 7], true).unwrap();
        let names: Vec<&str> = all.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["static", "explore, seed 1", "explore, seed 7"]);
        assert_eq!(all[0].options, ["--engine", "static"]);
        assert_eq!(all[2].options, ["--engine", "explore", "--replay", "--seed", "7"]);
        assert!(!all[0].replays && all[2].replays);
    }

    #[test]
    fn a_column_may_bring_its_own_options() {
        let own = columns_of(&["hard=--strict --rule leak"], &[], false).unwrap();
        assert_eq!((own[0].name.as_str(), own[0].options.len()), ("hard", 3));
        assert!(columns_of(&["hard=--rule 'leak"], &[], false).is_err());
        assert!(columns_of(&["hard"], &[], false).is_err());
    }

    #[test]
    fn a_report_is_read_and_a_broken_one_refused() {
        let text = br#"{"faults": [{"id": "F1", "rule": "leak", "file": "d/a.c", "line": 4,
            "message": "m", "level": "proved", "witness": {},
            "segments": [{"steps": [{"file": "a.c", "line": 2}]}]}],
            "dont_knows": [{"file": "a.c", "line": 9, "rule": "leak", "reason": "budget"}],
            "correlations": [{"from": "F1", "to": "F2", "unique": true}],
            "deviations": [{"rank": 2, "template": "t2", "file": "a.c", "line": 1, "message": ""},
                           {"rank": 1, "template": "t1", "file": "a.c", "line": 1, "message": ""}],
            "stats": {"explore_runs": 3, "blocks": 4}}"#;
        let said = super::said(text).unwrap();
        assert!(said.reports[0].is_shown() && said.reports[0].has_witness);
        assert_eq!(said.reports[0].places, [At::new("a.c", 4)]);
        assert_eq!(said.reports[0].path, [At::new("a.c", 2)]);
        assert_eq!(said.reports[1].rule, "t1", "deviations stand in their ranking");
        assert_eq!(said.open[0].ending, "don't know: budget");
        assert_eq!(said.stats.len(), 1);
        assert!(super::said(b"{\"faults\": [{}]}").is_err());
        assert!(super::said(b"{").is_err());
    }
}

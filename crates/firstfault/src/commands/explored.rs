//! The search by running inside `check`: programs with a `main` are run on inputs until a
//! rule is violated, and each violation comes with the input that makes it happen.

use std::path::{Path, PathBuf};

use base::Cancel;
use correlate::proved::Proved;
use explore::trace::Texts;
use explore::{FaultName, Found, Options, Outcome};
use findings::{Fault, FaultOrigin, Findings, Level, Notice, Place, Segment, Severity, Verdict};
use program::Program;
use spec::rules::Rules;

use crate::args::CheckArgs;

/// What is looked for, and where the sources are.
#[derive(Default)]
pub struct Wanted<'a> {
    pub root: PathBuf,
    /// Only these rules, and only in these functions; all where there are none.
    pub rules: &'a [String],
    pub functions: &'a [String],
    pub is_strict: bool,
    pub seed: u64,
}

impl<'a> Wanted<'a> {
    pub fn by(args: &'a CheckArgs, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            rules: &args.rule,
            functions: &args.function,
            is_strict: args.strict,
            seed: args.seed,
        }
    }
}

/// Adds what runs of the program show; nothing where it has no `main`.
pub fn add(
    program: &Program,
    rules: &Rules,
    wanted: &Wanted<'_>,
    findings: &mut Findings,
    cancel: &Cancel,
) {
    let Some(entry) = Options::entry_named(program, "main") else { return };
    let contents = sources(program, &wanted.root);
    let texts = Texts::new(contents.iter().map(|(path, text)| (path.as_str(), text.as_slice())));
    let mut options = Options::new(entry);
    options.seed = wanted.seed;
    options.rules.only = wanted.rules.iter().cloned().collect();
    options.rules.is_strict = wanted.is_strict;
    let outcome = explore::explore_rules((program, &texts), Some(rules), &options, cancel);
    tell(findings, &outcome);
    let certain: Vec<FaultName> = certain(&outcome);
    for found in outcome.found {
        let is_wanted =
            wanted.functions.is_empty() || wanted.functions.contains(&found.place.function);
        if !is_wanted {
            continue;
        }
        if found.is_proved {
            let is_certain = !found.is_behind || certain.contains(&FaultName::of(&found));
            findings.add_shown(fault(rules, found, is_certain));
        } else {
            // A made-up result of a call that is not modelled may be one it never gives.
            findings.count("explore_unproved", 1);
        }
    }
    let name = |name: &FaultName| (name.file.clone(), name.line, name.rule.clone());
    let edges = outcome.links.iter().map(|link| Proved {
        from: name(&link.from),
        to: name(&link.to),
        unique: link.is_unique,
        level: if link.is_certain { Level::Proved } else { Level::Likely },
        witness: link.input.clone(),
        path: link.steps.clone(),
    });
    correlate::proved::add(findings, &edges.collect::<Vec<_>>());
}

/// Faults behind others that some run shows which depends on nothing that C and the layout of
/// records leave open.
fn certain(outcome: &Outcome) -> Vec<FaultName> {
    let certain = outcome.links.iter().filter(|link| link.is_certain);
    let linked = |found: &&Found| {
        let name = FaultName::of(found);
        outcome.links.iter().any(|link| link.from == name || link.to == name)
    };
    // What no link is about happens whatever comes before it.
    let own = outcome.found.iter().filter(|found| !linked(found)).map(FaultName::of);
    certain.flat_map(|link| [link.from.clone(), link.to.clone()]).chain(own).collect()
}

fn tell(findings: &mut Findings, outcome: &Outcome) {
    findings.count("explore_runs", outcome.n_runs);
    findings.count("explore_blocks", outcome.blocks_total as u64);
    findings.count("explore_blocks_reached", outcome.blocks_reached as u64);
    findings.count("explore_proved", outcome.found.iter().filter(|f| f.is_proved).count() as u64);
    for (name, place) in &outcome.unmodelled {
        findings.notices.push(Notice {
            place: place.clone(),
            message: format!("runs do not go into {name}, which is not modelled"),
        });
    }
    for limit in &outcome.limits {
        let message = format!("runs stop at what is not modelled: {limit}");
        findings.notices.push(Notice { place: Place::default(), message });
    }
}

fn fault(rules: &Rules, found: Found, is_certain: bool) -> Fault {
    let spec = rules.faults.iter().find(|fault| fault.id == found.rule);
    let origin = match found.is_behind {
        true => FaultOrigin::Correlation,
        false => FaultOrigin::Detection,
    };
    let place = found.place;
    let mut steps = found.related;
    steps.extend(found.steps);
    Fault {
        id: format!("explore {}:{}:{} {}", place.file, place.line, place.column, found.rule),
        rule: found.rule,
        cwe: spec.map(|spec| spec.cwe.clone()).unwrap_or_default(),
        severity: spec.map_or(Severity::Error, |spec| detect::report::severity(spec.severity)),
        verdict: Verdict::Unsafe,
        place,
        message: found.message,
        level: if is_certain { Level::Proved } else { Level::Likely },
        input_dependent: !found.input.is_empty(),
        witness: Some(found.input),
        origin,
        segments: vec![Segment { steps }],
        n_paths: None,
        error_state: String::new(),
        fingerprint: String::new(),
        group: None,
    }
}

/// The project's own files, as the program's positions name them.
fn sources(program: &Program, root: &Path) -> Vec<(String, Vec<u8>)> {
    let own = program.files.iter().filter(|file| !file.is_system);
    own.filter_map(|file| {
        let path = root.join(&file.path);
        Some((file.path.clone(), base::read::source(&path).ok()?))
    })
    .collect()
}

//! The open cases, run on their own triggers: every fault shows at its place under its rule, and
//! the corrected programs show nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use capture::provenance;
use explore::Rules;
use explore::ending::{loc_of, violations};
use explore::watching::Watching;
use interpret::{GivenWorld, Machine};
use program::Program;
use serde_json::Value;

const STEPS: u64 = 20_000_000;

fn folder(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/cases").join(set)
}

fn import(folder: &Path, names: &[String]) -> Program {
    let unit = |name: &String| {
        let preprocessed = Command::new("clang-19")
            .args(["-E", "-dD", "-w", "-D_GNU_SOURCE", name])
            .current_dir(folder)
            .output()
            .expect("clang-19 starts");
        let read = &mut |path: &Path| std::fs::read(folder.join(path)).ok();
        let prepared = provenance::prepare(&preprocessed.stdout, provenance::Extent::Needed, read);
        let (limits, cancel) = (base::child::Limits::default(), base::Cancel::new());
        let flags: [&str; 0] = [];
        let bitcode = llvm::compile(&prepared.text, &flags, &prepared.map, &limits, &cancel)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        llvm::import(&bitcode, &prepared.map, name)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    program::link::link(names.iter().map(unit).collect()).program
}

/// What a run on an input shows: file, line and rule; and how it ended.
fn shown(program: &Program, watching: &Watching, input: &Value) -> (BTreeSet<Shown>, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let latin = |text: &str| text.chars().map(|c| c as u32 as u8).collect::<Vec<u8>>();
    let arguments: Vec<String> = input["argv"].as_array().into_iter().flatten().map(text).collect();
    let stdin = latin(&text(&input["stdin"]));
    let mut machine = Machine::new(program, STEPS).expect("globals are laid out");
    machine.watch(Some(&watching.watch));
    let pairs = |value: &Value| {
        let all = value.as_object().into_iter().flatten();
        all.map(|(name, value)| (latin(name), latin(&text(value)))).collect()
    };
    let (files, environment) = (pairs(&input["files"]), pairs(&input["env"]));
    machine.give(GivenWorld { files, environment });
    let result = machine.run_main(&arguments, &stdin);
    let mut found = BTreeSet::new();
    for (at, property) in violations(&machine, &result) {
        let loc = &program.locs[loc_of(program, at)];
        let file = program.files.get(loc.file).map(|file| file.path.clone()).unwrap_or_default();
        let file = file.rsplit('/').next().unwrap_or_default().to_owned();
        let kind = match property {
            explore::Property::Fault(kind) => watching.rule(kind),
            _ => None,
        };
        found.insert((file, loc.line, kind.unwrap_or(property.rule()).to_owned()));
    }
    let ending = format!("{:?} after {} steps", result.map(|_| ()), STEPS - machine.steps);
    (found, ending)
}

type Shown = (String, u32, String);

/// How many faults of a set are shown where they are, and what corrected programs show.
fn measure(set: &str) -> (usize, usize, usize) {
    let folder = folder(set);
    let truth = std::fs::read_to_string(folder.join("truth.json")).expect("there is a truth.json");
    let truth: Value = serde_json::from_str(&truth).expect("it is JSON");
    let rules = spec::discover::rules(&[]).expect("the specifications are right");
    let wanted = std::env::var("CASE").unwrap_or_default();
    let (mut n_shown, mut n_cases, mut n_false) = (0, 0, 0);
    for case in truth["cases"].as_array().expect("there are cases") {
        let name = case["name"].as_str().expect("a case has a name");
        if !name.contains(&wanted) {
            continue;
        }
        n_cases += 1;
        let extra = case["extra_files"].as_array().into_iter().flatten();
        let extra: Vec<String> = extra.filter_map(|f| f.as_str().map(str::to_owned)).collect();
        let with = |kind: &str| {
            let mut names = vec![format!("{name}_{kind}.c")];
            names.extend(extra.iter().cloned());
            names
        };
        let bad = import(&folder, &with("bad"));
        let watching = Watching::new(&bad, &rules, &Rules::default());
        let (found, ending) = shown(&bad, &watching, &case["trigger"]);
        let primary = case["bad_lines"].as_array().into_iter().flatten();
        let is_shown = primary.filter(|line| line["role"] == "primary").all(|line| {
            let mut places: BTreeSet<(String, u64)> = BTreeSet::new();
            let file = line["file"].as_str().unwrap_or_default().to_owned();
            places.extend(line["line"].as_u64().map(|n| (file.clone(), n)));
            let others = line["alt_lines"].as_array().into_iter().flatten();
            places.extend(others.filter_map(|n| Some((file.clone(), n.as_u64()?))));
            for place in line["alt_at"].as_array().into_iter().flatten() {
                let file = place["file"].as_str().unwrap_or_default().to_owned();
                places.extend(place["line"].as_u64().map(|n| (file, n)));
            }
            found.iter().any(|(file, at, rule)| {
                let is_there = places.contains(&(file.clone(), u64::from(*at)));
                is_there && is_rule(rule, line["rule"].as_str().unwrap_or_default())
            })
        });
        n_shown += usize::from(is_shown);
        if !is_shown {
            println!("{name}: {} expected, {found:?}, {ending}", case["bad_lines"]);
        }
        let (found, ending) = shown(&bad, &watching, &case["normal"]);
        if !found.is_empty() {
            println!("{name}: bad on its normal input: {found:?}, {ending}");
            n_false += 1;
        }
        let good = import(&folder, &with("ok"));
        let watching = Watching::new(&good, &rules, &Rules::default());
        for input in ["trigger", "normal"] {
            let (found, ending) = shown(&good, &watching, &case[input]);
            if !found.is_empty() || ending.contains("Unsupported") {
                println!("{name}: corrected on {input}: {found:?}, {ending}");
            }
            n_false += usize::from(!found.is_empty());
        }
    }
    (n_shown, n_cases, n_false)
}

/// Where a bound is left is one rule in a run of the model, three in the list.
fn is_rule(found: &str, expected: &str) -> bool {
    found == expected || found.starts_with("buffer-") && expected.starts_with("buffer-")
}

#[test]
fn faults_of_the_first_set_show() {
    let (n_shown, n_cases, n_false) = measure("static-a");
    println!("{n_shown} of {n_cases}, {n_false} false");
    assert!(n_false == 0 && n_shown + 1 >= n_cases, "{n_shown} of {n_cases}, {n_false} false");
}

#[test]
fn faults_of_the_second_set_show() {
    let (n_shown, n_cases, n_false) = measure("static-b");
    println!("{n_shown} of {n_cases}, {n_false} false");
    assert!(n_false == 0 && n_shown + 1 >= n_cases, "{n_shown} of {n_cases}, {n_false} false");
}

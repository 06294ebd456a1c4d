//! The shipped knowledge is what the seeded faults teach, and it teaches something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bugfix::{
    Database, Fixes, LeaveOut, Thresholds, Wanted, evaluate, load_shipped, statement_fix,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Faults {
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    name: String,
    old: String,
    new: String,
}

/// The descriptions of each seeded fault's fix, by its origin.
fn seeded() -> BTreeMap<String, Fixes> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/bugfix");
    let mut found = BTreeMap::new();
    let programs = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for folder in programs.filter(|path: &PathBuf| path.is_dir()) {
        let program = folder.file_name().unwrap().to_string_lossy().into_owned();
        let right = std::fs::read_to_string(folder.join(format!("{program}.c"))).unwrap();
        let faults = std::fs::read_to_string(folder.join("faults.toml")).unwrap();
        for fault in toml::from_str::<Faults>(&faults).unwrap().fault {
            let faulty = right.replace(&fault.old, &fault.new);
            let origin = format!("{program}/{}", fault.name);
            let fix = statement_fix(faulty.as_bytes(), right.as_bytes());
            found.insert(origin.clone(), fix.unwrap_or_else(|why| panic!("{origin}: {why}")).fixes);
        }
    }
    found
}

#[test]
fn the_shipped_knowledge_is_up_to_date() {
    let mut database = Database::new();
    load_shipped(&mut database);
    let (mutants, written): (Vec<_>, Vec<_>) =
        database.scenarios().partition(|scenario| scenario.origin.contains("/mutant-"));
    let shipped: BTreeMap<String, Fixes> =
        written.into_iter().map(|scenario| (scenario.origin, scenario.fixes)).collect();
    assert_eq!(shipped, seeded(), "run cargo xtask seed-knowledge");
    assert!(mutants.len() >= shipped.len(), "run cargo xtask seed-knowledge");
}

#[test]
fn left_out_faults_get_right_suggestions() {
    let mut database = Database::new();
    load_shipped(&mut database);
    assert!(database.len() >= 60);
    let wanted = Wanted { thresholds: Thresholds::for_scenarios(database.len()), at_least: 3 };
    let judged = evaluate(&database, wanted, LeaveOut::One);
    let n_right = judged.iter().filter(|j| j.position.is_some_and(|at| at <= 3)).count();
    assert!(n_right * 100 >= judged.len() * 70, "{n_right} of {}", judged.len());
}

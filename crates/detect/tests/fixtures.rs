//! Runs the fixtures of every built-in fault: annotated C, matched both ways.

mod compiled;

use std::path::{Path, PathBuf};

#[test]
fn every_fixture_of_every_fault_matches() {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../faults");
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("the repository has faults/")
        .map(|entry| entry.expect("faults/ can be read").path().join("fixtures"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    let complaints: Vec<String> = folders
        .iter()
        .filter_map(|folder| fixture::check_all(folder, |f| compiled::analyse(f, &rules)).err())
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

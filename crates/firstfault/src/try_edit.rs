//! Tries edits of a program on its tests, for every command that proposes some.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use base::edit::apply;
use base::{Cancel, Edit, Trial, TryEdit};
use run::{Allowed, BuildOptions, ChangedFile, Limits, Suite, Test, Workshop};

/// A program with its tests, to be built anew for each edit.
pub struct Trials {
    workshop: Workshop,
    /// Those the unchanged program fails come first: an edit that cures none is soon dropped.
    tests: Vec<Test>,
    limits: Limits,
    /// Whether an edit is dropped at the first test it fails, the others not run.
    pub stops_at_failure: bool,
}

/// A changed program may take so many times as long as the slowest test of the unchanged one.
const SLOWER: u32 = 10;

/// No test is stopped before this, however fast the program is: machines are busy at times.
const SHORTEST: Duration = Duration::from_secs(2);

impl Trials {
    /// Builds the program as it is, and runs its tests once.
    pub fn new(
        build: &BuildOptions,
        (tests, allowed): (&Path, &Allowed),
        limits: Limits,
        cancel: &Cancel,
    ) -> Result<Self> {
        let suite = Suite::load(tests, allowed)?;
        let workshop = Workshop::new(build, cancel)?;
        let unchanged = workshop.build(&[], cancel)?;
        let (mut failing, mut passing) = (Vec::new(), Vec::new());
        let mut slowest = Duration::ZERO;
        for test in suite.tests {
            let verdict = unchanged.run(&test, limits, cancel)?;
            if verdict.ending != run::Ending::OverLimit {
                slowest = slowest.max(verdict.cpu);
            }
            if verdict.passed { &mut passing } else { &mut failing }.push(test);
        }
        let time = (slowest * SLOWER).max(SHORTEST).min(limits.time);
        failing.append(&mut passing);
        let limits = Limits { time, ..limits };
        Ok(Self { workshop, tests: failing, limits, stops_at_failure: false })
    }

    fn attempt(&self, edits: &[Edit], cancel: &Cancel) -> Result<Trial, Trial> {
        let changed = changed_files(edits).map_err(Trial::Unbuildable)?;
        let copy = self.workshop.build(&changed, cancel).map_err(|error| match error {
            run::BuildError::Cancelled => Trial::Abandoned("interrupted".to_owned()),
            error => Trial::Unbuildable(error.to_string()),
        })?;
        let (mut passed, mut failed) = (Vec::new(), Vec::new());
        for test in &self.tests {
            let verdict = copy
                .run(test, self.limits, cancel)
                .map_err(|error| Trial::Abandoned(error.to_string()))?;
            if verdict.passed { &mut passed } else { &mut failed }.push(test.name.clone());
            if !verdict.passed && self.stops_at_failure {
                break;
            }
        }
        passed.sort();
        failed.sort();
        Ok(Trial::Tested { passed, failed })
    }
}

impl TryEdit for Trials {
    fn try_edit(&self, edits: &[Edit], cancel: &Cancel) -> Trial {
        self.attempt(edits, cancel).unwrap_or_else(|trial| trial)
    }
}

fn changed_files(edits: &[Edit]) -> Result<Vec<ChangedFile>, String> {
    let mut by_file: BTreeMap<&PathBuf, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        by_file.entry(&edit.file).or_default().push(edit.clone());
    }
    let change = |(path, edits): (&PathBuf, Vec<Edit>)| {
        let in_file = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let text = std::fs::read(path).map_err(|e| in_file(&e))?;
        let text = apply(&text, &edits).map_err(|misfit| in_file(&misfit))?;
        Ok(ChangedFile { path: path.clone(), text })
    };
    by_file.into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Source;

    const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(int argc, char **argv) {\n\
          int n = atoi(argv[1]);\n\
          while (n == 99) ;\n\
          puts(n <= 5 ? \"few\" : \"many\");\n\
          return 0;\n}\n";

    fn edit(folder: &Path, line: u32, column: u32, old: &str, new: &str) -> Edit {
        let (old, new) = (old.to_owned(), new.to_owned());
        Edit { file: folder.join("a.c"), line, column, old, new }
    }

    #[test]
    fn edits_are_judged_by_the_tests_and_leave_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        std::fs::write(folder.join("a.c"), PROGRAM).unwrap();
        std::fs::create_dir(folder.join("tests")).unwrap();
        for (name, arg, out) in [("a", "4", "few\n"), ("b", "5", "many\n"), ("c", "6", "many\n")] {
            std::fs::write(folder.join(format!("tests/{name}.args")), arg).unwrap();
            std::fs::write(folder.join(format!("tests/{name}.out")), out).unwrap();
        }
        let cancel = Cancel::new();
        let sources = vec![Source::File(folder.join("a.c"))];
        let build = BuildOptions { sources, ..BuildOptions::default() };
        let tests = folder.join("tests");
        let tests = (tests.as_path(), &Allowed::default());
        let trials = Trials::new(&build, tests, Limits::default(), &cancel).unwrap();
        assert!(trials.try_edit(&[edit(folder, 6, 8, "<=", "<")], &cancel).passes_all());
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let worse = trials.try_edit(&[edit(folder, 6, 8, "<=", ">=")], &cancel);
        assert_eq!(worse, Trial::Tested { passed: Vec::new(), failed: names(&["a", "b", "c"]) });
        let no_better = trials.try_edit(&[edit(folder, 6, 11, "5", "6")], &cancel);
        let (passed, failed) = (names(&["a"]), names(&["b", "c"]));
        assert_eq!(no_better, Trial::Tested { passed, failed });
        let hangs = trials.try_edit(&[edit(folder, 5, 10, "==", "!=")], &cancel);
        assert!(matches!(&hangs, Trial::Tested { passed, .. } if passed.is_empty()), "{hangs:?}");
        let broken = trials.try_edit(&[edit(folder, 6, 8, "<=", ")")], &cancel);
        assert!(matches!(broken, Trial::Unbuildable(_)));
        let misplaced = trials.try_edit(&[edit(folder, 6, 8, ">=", "<")], &cancel);
        assert!(matches!(misplaced, Trial::Unbuildable(why) if why.contains("something else")));
        assert_eq!(std::fs::read_to_string(folder.join("a.c")).unwrap(), PROGRAM);
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2);
    }
}

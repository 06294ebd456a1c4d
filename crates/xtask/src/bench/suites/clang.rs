//! clang's tests of its analyzer: `clang/test/Analysis`, files in C.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::model::{Case, Collected, Place, Role};
use super::{mapping, source, verify};

pub fn collect(folder: &Path) -> Result<Collected> {
    let base = base_of(folder)?;
    let mut collected = Collected::default();
    let pattern = format!("{}/**/*.c", glob::Pattern::escape(&base.to_string_lossy()));
    for file in glob::glob(&pattern).context("the suite's path cannot be searched")? {
        let file = file.context("cannot read the suite")?;
        let name = file.strip_prefix(&base)?.to_string_lossy().into_owned();
        let text =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        add(&mut collected, &base, &name, &String::from_utf8_lossy(&text));
    }
    if collected.cases.is_empty() {
        bail!("no file in {} is run with -verify", base.display());
    }
    collected.finish();
    Ok(collected)
}

fn base_of(folder: &Path) -> Result<PathBuf> {
    for base in ["clang/test/Analysis", "test/Analysis", "Analysis", "."] {
        let base = folder.join(base);
        if base.join("malloc.c").is_file() {
            return Ok(base.canonicalize()?);
        }
    }
    bail!("no clang/test/Analysis in {}", folder.display())
}

/// How a file is analysed, from one of its `RUN:` lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Run {
    flags: Vec<String>,
    checkers: Vec<String>,
    /// What directives start with: `expected`, or the names behind `-verify=`.
    prefixes: Vec<String>,
}

/// The first run that analyses the file as C and verifies what is reported.
fn run(text: &str) -> Option<Run> {
    let mut joined = String::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((_, command)) = line.split_once("RUN:") else { continue };
        match command.trim_end().strip_suffix('\\') {
            Some(part) => joined += part,
            None => {
                joined += command;
                lines.push(std::mem::take(&mut joined));
            }
        }
    }
    lines.iter().find_map(|line| run_of(line))
}

fn run_of(line: &str) -> Option<Run> {
    let words = shlex::split(line)?;
    let is_analysis =
        words.iter().any(|word| word.starts_with("%clang_analyze") || word.contains("-analyze"));
    if !is_analysis {
        return None;
    }
    let mut run = Run::default();
    let mut words = words.iter().take_while(|word| !["|", "&&", ";"].contains(&word.as_str()));
    while let Some(word) = words.next() {
        if word == "-x" && words.next().is_none_or(|language| language != "c") {
            return None;
        } else if word == "-verify" {
            run.prefixes.push("expected".to_owned());
        } else if let Some(prefixes) = word.strip_prefix("-verify=") {
            run.prefixes.extend(prefixes.split(',').map(str::to_owned));
        } else if let Some(names) = word.strip_prefix("-analyzer-checker") {
            let names = match names.strip_prefix('=') {
                Some(names) => names,
                None => words.next()?,
            };
            run.checkers.extend(names.split(',').map(|name| name.trim().to_owned()));
        } else if ["-D", "-U", "-I", "-isystem", "-include"].contains(&word.as_str()) {
            run.flags.extend([word.clone(), words.next()?.clone()]);
        } else if is_for_compilers(word) {
            run.flags.push(word.clone());
        } else if [
            "-o",
            "-triple",
            "-analyzer-config",
            "-analyzer-disable-checker",
            "-analyzer-output",
        ]
        .contains(&word.as_str())
        {
            words.next();
        }
    }
    (!run.prefixes.is_empty()).then_some(run)
}

fn is_for_compilers(word: &str) -> bool {
    ["-D", "-U", "-I", "-std=", "-Wno-", "-fno-builtin"].iter().any(|start| word.starts_with(start))
        || ["-fblocks", "-fsigned-char", "-fno-signed-char"].contains(&word)
}

fn add(collected: &mut Collected, base: &Path, name: &str, text: &str) {
    let Some(run) = run(text) else {
        *collected.skipped.entry("not run with -verify as C").or_default() += 1;
        return;
    };
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let folder = base.join(folder).to_string_lossy().into_owned();
    let flags: Vec<String> = run.flags.iter().map(|flag| flag.replace("%S", &folder)).collect();
    let covered: BTreeSet<&str> =
        run.checkers.iter().flat_map(|checker| mapping::of_checker(checker)).collect();
    let out = source::left_out(text, &flags);
    let mut case = Case {
        name: name.to_owned(),
        folder: base.to_owned(),
        files: vec![name.to_owned()],
        flags,
        places: Vec::new(),
        functions: source::functions(text),
        covered: covered.into_iter().collect(),
        by_call: false,
    };
    let parsed = verify::expectations(text, &run.prefixes, &out);
    collected.malformed.extend(parsed.malformed.iter().map(|why| format!("{name}:{why}")));
    for expectation in parsed.warnings {
        if expectation.is_optional {
            *collected.left_out.entry("may or may not be reported").or_default() += 1;
        }
        let expect = mapping::of_clang(&expectation.text);
        if expect.is_none() {
            collected.not_ours += 1;
        }
        let expect = expect.filter(|_| !expectation.is_optional);
        let line = expectation.line;
        let file = match &expectation.file {
            Some(other) => Path::new(name).with_file_name(other).to_string_lossy().into_owned(),
            None => name.to_owned(),
        };
        let function = source::function_at(&case.functions, line)
            .filter(|_| expectation.file.is_none())
            .map(|f| f.name.clone());
        case.places.push(Place {
            role: if expect.is_some() { Role::Expected } else { Role::Open },
            kind: expect.map(|expect| expect.kind),
            rules: expect.map_or(Vec::new(), |expect| expect.rules.to_vec()),
            file,
            first: line,
            last: line,
            function,
            text: expectation.text,
        });
    }
    let n_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let whole = parsed.is_silent.then_some((1, n_lines, "no diagnostics"));
    let lines = parsed.silent_lines.iter().map(|line| (*line, *line, "no warning"));
    for (first, last, text) in whole.into_iter().chain(lines) {
        if case.covered.is_empty() {
            continue;
        }
        let function = source::function_at(&case.functions, first).filter(|_| first == last);
        case.places.push(Place {
            role: Role::Silent,
            kind: None,
            rules: case.covered.clone(),
            file: name.to_owned(),
            first,
            last,
            function: function.map(|f| f.name.clone()),
            text: text.to_owned(),
        });
    }
    let is_judged = case.places.iter().any(|place| place.role != Role::Open);
    if is_judged || !case.covered.is_empty() {
        collected.cases.push(case);
    } else {
        *collected.skipped.entry("nothing of our rules").or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suites::model::Kind;

    fn collected(text: &str) -> Collected {
        let mut collected = Collected::default();
        add(&mut collected, Path::new("/suite"), "x.c", text);
        collected.finish();
        collected
    }

    #[test]
    fn runs_say_flags_checkers_and_prefixes() {
        let text = "// RUN: %clang_cc1 -x c++ -analyze -verify %s\n\
                    // RUN: %clang_analyze_cc1 -triple x86_64-linux -analyzer-checker=core,unix.Malloc \\\n\
                    // RUN:   -analyzer-config a=b -DX=1 -I %S/Inputs -verify=a,expected -Wno-x %s\n\
                    // RUN: %clang_analyze_cc1 -analyzer-checker=core -DY -verify %s\n";
        let run = run(text).unwrap();
        assert_eq!(run.flags, ["-DX=1", "-I", "%S/Inputs", "-Wno-x"]);
        assert_eq!(run.checkers, ["core", "unix.Malloc"]);
        assert_eq!(run.prefixes, ["a", "expected"]);
    }

    #[test]
    fn what_is_not_verified_or_cut_off_is_no_run() {
        assert_eq!(run("// RUN: %clang_analyze_cc1 -analyzer-checker=core %s"), None);
        assert_eq!(run("// RUN: FileCheck -verify %s"), None);
        assert_eq!(run("// RUN: %clang_analyze_cc1 -verify \\"), None);
        assert_eq!(run("// RUN: %clang_analyze_cc1 -verify -analyzer-checker"), None);
        assert_eq!(run("// RUN: %clang_analyze_cc1 \"-verify"), None);
    }

    #[test]
    fn expected_places_silent_lines_and_foreign_ones() {
        let found = collected(
            "// RUN: %clang_analyze_cc1 -analyzer-checker=core,unix.Malloc -verify %s\n\
             void f(int *p) {\n\
               *p = 1; // expected-warning{{Dereference of null pointer}}\n\
               p++; // no-warning\n\
               eval(p); // expected-warning{{TRUE}}\n\
               free(p); // expected-warning 0-1 {{Attempt to free released memory}}\n\
             }\n",
        );
        let seen: Vec<_> =
            found.cases[0].places.iter().map(|p| (p.role, p.kind, p.first)).collect();
        assert_eq!(
            seen,
            [
                (Role::Expected, Some(Kind::Null), 3),
                (Role::Silent, None, 4),
                (Role::Open, None, 5),
                (Role::Open, None, 6),
            ]
        );
        assert_eq!(found.not_ours, 1);
    }

    #[test]
    fn a_file_without_diagnostics_is_one_silent_place() {
        let found = collected(
            "// RUN: %clang_analyze_cc1 -analyzer-checker=core -verify %s\n\
             // expected-no-diagnostics\nvoid f(void) {}\n",
        );
        let place = &found.cases[0].places[0];
        assert_eq!((place.role, place.first, place.last), (Role::Silent, 1, 3));
        assert!(place.rules.contains(&"null-dereference"));
    }
}

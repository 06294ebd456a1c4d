//! Builds changed copies of a program, as often as changes are to be tried.
//!
//! The user's files stay as they are: the compiler is told to read other bytes in their place
//! (an overlay file system), so that includes, macros and `__FILE__` mean what they meant.
//! Only units that a change can reach are compiled again.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::{Cancel, Scratch};
use capture::command::native::NativeFlags;

use crate::build::{BuildError, BuildOptions, Builder, choose_main};
use crate::limits::Limits;
use crate::runner::{Ending, Job, ending, passes, start};
use crate::source::{Source, split_flags};
use crate::suite::Test;

/// A file of the program with other contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: PathBuf,
    pub text: Vec<u8>,
}

/// A program that is built anew for each change.
pub struct Workshop {
    options: BuildOptions,
    compile_flags: Vec<String>,
    link_flags: Vec<String>,
    /// Which unit has `main`, where the others are linked as needed.
    main: Option<usize>,
    /// Of the unchanged program, by unit.
    objects: Vec<PathBuf>,
    _home: Scratch,
}

/// A changed program; its files go with it.
pub struct Copy {
    executable: PathBuf,
    _home: Scratch,
}

/// How a test went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub passed: bool,
    pub ending: Ending,
    pub cpu: Duration,
}

impl Workshop {
    /// Builds the program as it is.
    pub fn new(options: &BuildOptions, cancel: &Cancel) -> Result<Self, BuildError> {
        options.check()?;
        let NativeFlags { compile: compile_flags, link: link_flags, .. } =
            split_flags(&options.flags);
        let home = new_home()?;
        let builder = Builder::new(options, home.path(), cancel);
        let units = builder.bitcode(&options.sources, &compile_flags)?;
        let main = match &options.loose {
            Some(wanted) => Some(main_of(&units, &options.sources, wanted.as_deref())?),
            None => None,
        };
        let objects = builder.plain_objects(&units)?;
        let options = options.clone();
        Ok(Self { options, compile_flags, link_flags, main, objects, _home: home })
    }

    /// The program with some of its files changed. Nothing changed gives the program itself.
    pub fn build(&self, changed: &[ChangedFile], cancel: &Cancel) -> Result<Copy, BuildError> {
        let home = new_home()?;
        let overlay = write_overlay(home.path(), changed)
            .map_err(|e| BuildError::Scratch(home.path().to_owned(), e))?;
        let builder =
            Builder { overlay: Some(&overlay), ..Builder::new(&self.options, home.path(), cancel) };
        let reached = self.reached(changed);
        let mut objects = self.objects.clone();
        if !reached.is_empty() {
            let sources: Vec<Source> =
                reached.iter().map(|unit| self.options.sources[*unit].as_file()).collect();
            let units = builder.bitcode(&sources, &self.compile_flags)?;
            for (unit, object) in reached.iter().zip(builder.plain_objects(&units)?) {
                objects[*unit] = object;
            }
        }
        if let Some(main) = self.main {
            objects = builder.as_needed(main, objects, "changed")?;
        }
        let executable = home.path().join("program");
        builder.link(&executable, &objects, &[], &self.link_flags).map_err(BuildError::Link)?;
        Ok(Copy { executable, _home: home })
    }

    /// The units a change can reach: those whose own file it is; all, where it is none's own.
    fn reached(&self, changed: &[ChangedFile]) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        for file in changed {
            let wanted = canonical(&file.path);
            let is_own = |unit: &usize| {
                let own = self.options.sources[*unit].path();
                canonical(&own) == wanted
            };
            let all = 0..self.options.sources.len();
            let own: Vec<usize> = all.clone().filter(is_own).collect();
            reached.extend(if own.is_empty() { all.collect() } else { own });
        }
        reached
    }
}

impl BuildOptions {
    /// The same program with some of its files changed; what is needed for that is written to
    /// `home`.
    pub fn with_changed(&self, changed: &[ChangedFile], home: &Path) -> io::Result<BuildOptions> {
        let mut options = self.clone();
        options.overlay = Some(write_overlay(home, changed)?);
        options.sources = self.sources.iter().map(Source::as_file).collect();
        Ok(options)
    }
}

impl Copy {
    pub fn run(&self, test: &Test, limits: Limits, cancel: &Cancel) -> io::Result<Verdict> {
        let job = Job { executable: &self.executable, control: None, limits };
        let left = start(test, &job, cancel)?;
        Ok(Verdict { passed: passes(test, &left), ending: ending(left.end), cpu: left.cpu })
    }
}

fn new_home() -> Result<Scratch, BuildError> {
    Scratch::in_memory().map_err(|e| BuildError::Scratch(std::env::temp_dir(), e))
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn main_of(
    units: &[PathBuf],
    sources: &[Source],
    wanted: Option<&str>,
) -> Result<usize, BuildError> {
    let mut mains = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        let bitcode = fs::read(unit).map_err(|e| BuildError::Scratch(unit.clone(), e))?;
        let hooked = llvm::instrument::instrument(&bitcode, 0, 0).map_err(|message| {
            BuildError::Instrument(sources[number].file().to_owned(), message)
        })?;
        if hooked.defined.iter().any(|name| name == "main") {
            mains.push(number);
        }
    }
    choose_main(&mains, sources, wanted)
}

/// Writes the changed files and the overlay that puts them in their places: under the name the
/// user gave and under the one without symbolic links.
fn write_overlay(home: &Path, changed: &[ChangedFile]) -> io::Result<PathBuf> {
    let mut roots = Vec::new();
    for (number, file) in changed.iter().enumerate() {
        let copy = home.join(format!("changed{number}"));
        fs::write(&copy, &file.text)?;
        let names = BTreeSet::from([std::path::absolute(&file.path)?, canonical(&file.path)]);
        roots.extend(names.iter().map(|name| {
            format!(
                "{{\"type\": \"file\", \"name\": {}, \"external-contents\": {}}}",
                quoted(name),
                quoted(&copy)
            )
        }));
    }
    let overlay = home.join("overlay.yaml");
    let roots = roots.join(",\n");
    fs::write(
        &overlay,
        format!("{{\"version\": 0, \"use-external-names\": false, \"roots\": [\n{roots}\n]}}\n"),
    )?;
    Ok(overlay)
}

fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\x{:02x}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Expected, Oracle};

    fn test(output: &str) -> Test {
        let expected = Expected { stdout: Some(output.into()), ..Expected::default() };
        Test {
            name: "t".into(),
            args: Vec::new(),
            stdin: Vec::new(),
            environment: Vec::new(),
            inputs: Vec::new(),
            oracle: Oracle::Output(expected),
            permissions: Default::default(),
        }
    }

    /// A change of a header reaches the units that include it, and the files stay.
    #[test]
    fn copies_are_built_from_changed_files_in_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let main = "#include <stdio.h>\n#include \"n.h\"\nint f(void);\n\
                    int main(void) { printf(\"%d %d\\n\", N, f()); return 0; }\n";
        fs::write(path("main.c"), main).unwrap();
        fs::write(path("f.c"), "#include \"n.h\"\nint f(void) { return N + 1; }\n").unwrap();
        fs::write(path("n.h"), "#define N 1\n").unwrap();
        let sources = ["main.c", "f.c"].map(|name| Source::File(path(name))).to_vec();
        let cancel = Cancel::new();
        let options = BuildOptions { sources, ..BuildOptions::default() };
        let workshop = Workshop::new(&options, &cancel).unwrap();
        let passes = |changed: &[ChangedFile], output: &str| {
            let copy = workshop.build(changed, &cancel).unwrap();
            copy.run(&test(output), Limits::default(), &cancel).unwrap().passed
        };
        assert!(passes(&[], "1 2\n"));
        let header = ChangedFile { path: path("n.h"), text: b"#define N 5\n".to_vec() };
        assert!(passes(&[header], "5 6\n"));
        let text = b"#include \"n.h\"\nint f(void) { return N + 7; }\n".to_vec();
        let unit = ChangedFile { path: path("f.c"), text };
        assert!(passes(&[unit], "1 8\n"));
        let broken = ChangedFile { path: path("f.c"), text: b"int f(void) {".to_vec() };
        assert!(matches!(workshop.build(&[broken], &cancel), Err(BuildError::Compile(..))));
        assert!(passes(&[], "1 2\n"), "the user's files are as they were");
    }
}

//! From C files to an instrumented executable and a plain one.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::Cancel;
use base::child::{self, Limits as ChildLimits};
use capture::command::native::NativeFlags;
use llvm::instrument::{Segment, Site, instrument};

use crate::libc_calls::{is_undone_by_snapshot, starts_threads};
use crate::source::{Source, split_flags, without_macros};

/// What to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    pub sources: Vec<Source>,
    /// As for a compiler; may hold link flags.
    pub flags: Vec<String>,
    /// Where it is not known which units make a program: the name of the one with `main`,
    /// without folder and ending, if several have one. Other units are linked as needed.
    pub loose: Option<Option<String>>,
    /// Compilers at work at once; 0 for one.
    pub jobs: usize,
    /// Says of files that their contents are elsewhere (an overlay file of clang).
    pub overlay: Option<PathBuf>,
}

/// An executable, and what its runs can be searched with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    pub path: PathBuf,
    /// Whether memory snapshots work: static, one thread, nothing a copy cannot undo.
    pub can_snapshot: bool,
    /// The first function that forbids snapshots.
    pub forbids_snapshot: Option<String>,
    pub has_threads: bool,
}

/// A program, instrumented.
#[derive(Clone, Debug)]
pub struct Program {
    pub instrumented: Executable,
    /// The same code at `-O0` without hooks.
    pub plain: PathBuf,
    pub sites: Vec<Site>,
    pub segments: Vec<Segment>,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{0}: no such file")]
    NoFile(PathBuf),
    #[error("no C files given")]
    NoFiles,
    #[error("cannot run clang-19: {0} (install the package clang-19)")]
    NoCompiler(io::Error),
    /// A unit and the first lines of what the compiler said.
    #[error("{0} does not compile: {1}")]
    Compile(PathBuf, String),
    #[error("the program does not link: {0}")]
    Link(String),
    #[error("{0} cannot be instrumented: {1}")]
    Instrument(PathBuf, String),
    #[error("no unit defines main{0}")]
    NoMain(String),
    #[error("several units define main ({0}): choose one with --target NAME")]
    SeveralMains(String),
    #[error("cannot write to {0}: {1}")]
    Scratch(PathBuf, io::Error),
    #[error("interrupted")]
    Cancelled,
}

const CLANG: &str = llvm::CLANG;

/// Debug information and the code as written; what overflows or aliases oddly behaves as
/// in an unoptimised build even after the optimiser has run.
const FRONT_END: &[&str] = &[
    "-O0",
    "-g",
    "-gcolumn-info",
    // The slot for returned values is known by its name.
    "-fno-discard-value-names",
    "-Xclang",
    "-disable-O0-optnone",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-ffp-contract=off",
    "-fno-pic",
    "-fno-pie",
    "-fno-stack-protector",
    "-emit-llvm",
    "-c",
];

/// Old C that newer compilers reject by default is accepted, and messages are plain.
const OLD_C: &[&str] = &[
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-w",
    "-Wno-error",
    "-Wno-implicit-int",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-incompatible-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-return-type",
    "-Wno-deprecated-non-prototype",
    "-Qunused-arguments",
];

pub(crate) const BACK_END: &[&str] =
    &["-O2", "-fno-pie", "-w", "-Qunused-arguments", "-x", "ir", "-c"];
pub(crate) const PLAIN_BACK_END: &[&str] =
    &["-O0", "-fno-pie", "-w", "-Qunused-arguments", "-x", "ir", "-c"];

impl BuildOptions {
    /// Flags that are left out, since nobody knows what they do.
    pub fn unknown_flags(&self) -> Vec<String> {
        split_flags(&self.flags).unknown
    }

    /// Whether there is something to build.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if self.sources.is_empty() {
            return Err(BuildError::NoFiles);
        }
        let is_missing = |source: &&Source| matches!(source, Source::File(file) if !file.is_file());
        match self.sources.iter().find(is_missing) {
            Some(missing) => Err(BuildError::NoFile(missing.file().to_owned())),
            None => Ok(()),
        }
    }
}

impl Program {
    /// Builds into `scratch`, which must exist.
    pub fn build(
        options: &BuildOptions,
        scratch: &Path,
        cancel: &Cancel,
    ) -> Result<Self, BuildError> {
        options.check()?;
        let NativeFlags { compile: compile_flags, link: link_flags, .. } =
            split_flags(&options.flags);
        let builder = Builder::new(options, scratch, cancel);
        let units = builder.bitcode(&options.sources, &compile_flags)?;
        let mut program = Parts::default();
        for (source, unit) in options.sources.iter().zip(&units) {
            program.add(source.file(), unit)?;
        }
        let main = options.loose.as_ref().map(|wanted| {
            let wanted = wanted.as_deref();
            program.main(&options.sources, wanted)
        });
        let main = main.transpose()?;
        let (mut objects, mut plain_objects) = builder.objects(&units)?;
        if let Some(main) = main {
            objects = builder.as_needed(main, objects, "hooked")?;
            plain_objects = builder.as_needed(main, plain_objects, "plain")?;
        }
        let shared = builder.shared_section(program.segments.len())?;
        let instrumented = builder.link_instrumented(&program, objects, shared, &link_flags)?;
        let plain = builder.scratch.join("plain");
        builder.link(&plain, &plain_objects, &[], &link_flags).map_err(BuildError::Link)?;
        Ok(Self { instrumented, plain, sites: program.sites, segments: program.segments })
    }
}

/// What the units say together.
#[derive(Default)]
struct Parts {
    sites: Vec<Site>,
    segments: Vec<Segment>,
    defined: BTreeSet<String>,
    needed: BTreeSet<String>,
    /// Units that define `main`.
    mains: Vec<usize>,
    n_units: usize,
}

impl Parts {
    fn add(&mut self, file: &Path, bitcode: &Path) -> Result<(), BuildError> {
        let scratch = |e| BuildError::Scratch(bitcode.to_owned(), e);
        let bytes = fs::read(bitcode).map_err(scratch)?;
        let unit = instrument(&bytes, self.sites.len() as u32, self.segments.len() as u32)
            .map_err(|message| BuildError::Instrument(file.to_owned(), message))?;
        fs::write(instrumented_path(bitcode), &unit.bitcode).map_err(scratch)?;
        self.sites.extend(unit.sites);
        self.segments.extend(unit.segments);
        if unit.defined.iter().any(|name| name == "main") {
            self.mains.push(self.n_units);
        }
        self.n_units += 1;
        self.defined.extend(unit.defined);
        self.needed.extend(unit.needed);
        Ok(())
    }

    fn main(&self, sources: &[Source], wanted: Option<&str>) -> Result<usize, BuildError> {
        choose_main(&self.mains, sources, wanted)
    }

    fn outside(&self) -> impl Iterator<Item = &String> {
        self.needed.difference(&self.defined)
    }
}

/// The unit a program starts in, of those that define `main`.
pub(crate) fn choose_main(
    mains_of_units: &[usize],
    sources: &[Source],
    wanted: Option<&str>,
) -> Result<usize, BuildError> {
    let name = |unit: usize| {
        let stem = sources[unit].file().file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    };
    let fits = |unit: &usize| wanted.is_none_or(|wanted| wanted == name(*unit));
    let mains: Vec<usize> = mains_of_units.iter().copied().filter(fits).collect();
    match mains.as_slice() {
        [main] => Ok(*main),
        [] => {
            let there: Vec<String> = mains_of_units.iter().map(|unit| name(*unit)).collect();
            let there = format!(" in {}; there are {}", wanted.unwrap_or("any"), there.join(", "));
            Err(BuildError::NoMain(if mains_of_units.is_empty() { String::new() } else { there }))
        }
        several => {
            let names: Vec<String> = several.iter().map(|unit| name(*unit)).collect();
            Err(BuildError::SeveralMains(names.join(", ")))
        }
    }
}

fn instrumented_path(bitcode: &Path) -> PathBuf {
    bitcode.with_extension("hooked.bc")
}

pub(crate) struct Builder<'a> {
    pub scratch: &'a Path,
    pub cancel: &'a Cancel,
    pub jobs: usize,
    /// Files whose contents are to be taken from elsewhere: of our own making, so no flag.
    pub overlay: Option<&'a Path>,
}

impl<'a> Builder<'a> {
    pub fn new(options: &'a BuildOptions, scratch: &'a Path, cancel: &'a Cancel) -> Self {
        let overlay = options.overlay.as_deref();
        Self { scratch, cancel, jobs: options.jobs.max(1), overlay }
    }

    pub fn bitcode(
        &self,
        sources: &[Source],
        flags: &[String],
    ) -> Result<Vec<PathBuf>, BuildError> {
        let outputs: Vec<PathBuf> =
            (0..sources.len()).map(|i| self.scratch.join(format!("unit{i}.bc"))).collect();
        self.in_parallel(sources.len(), |i| {
            self.compile(&sources[i], &outputs[i], flags, FRONT_END)?
                .map_err(|said| BuildError::Compile(sources[i].file().to_owned(), said))
        })?;
        Ok(outputs)
    }

    /// Compiles one unit; the inner error is what the compiler said.
    pub fn compile(
        &self,
        source: &Source,
        output: &Path,
        flags: &[String],
        front_end: &[&str],
    ) -> Result<Result<(), String>, BuildError> {
        let overlay = self.overlay.map(|path| ["-ivfsoverlay".to_owned(), text(path)]);
        let front_end = front_end.iter().chain(OLD_C).map(|flag| flag.to_string());
        let front_end = front_end.chain(overlay.into_iter().flatten());
        let unit = match source {
            Source::File(file) => {
                let mut args: Vec<String> = flags.iter().cloned().chain(front_end).collect();
                args.extend([text(file), "-o".to_string(), text(output)]);
                return Ok(self.clang(&args));
            }
            Source::Unit(unit) => {
                let flags = split_flags(&unit.flags).compile;
                let mut args: Vec<String> = flags.into_iter().chain(front_end).collect();
                args.extend([text(&unit.file), "-o".to_string(), text(output)]);
                return Ok(self.clang_in(Some(&unit.folder), &args));
            }
            Source::Preprocessed(unit) => unit,
        };
        let expanded = output.with_extension("i");
        fs::write(&expanded, without_macros(&unit.text))
            .map_err(|e| BuildError::Scratch(expanded.clone(), e))?;
        let mut args: Vec<String> =
            split_flags(&unit.flags).compile.into_iter().chain(front_end).collect();
        args.extend(["-x".to_string(), "cpp-output".to_string(), text(&expanded)]);
        args.extend(["-o".to_string(), text(output)]);
        Ok(self.clang_in(Some(&unit.folder), &args))
    }

    /// The object of the unit with `main`, and the others as a library, from which the linker
    /// takes what is needed.
    pub fn as_needed(
        &self,
        main: usize,
        mut objects: Vec<PathBuf>,
        name: &str,
    ) -> Result<Vec<PathBuf>, BuildError> {
        let main = objects.remove(main);
        if objects.is_empty() {
            return Ok(vec![main]);
        }
        let library = self.scratch.join(format!("lib{name}.a"));
        let mut command = child::command("ar").map_err(|e| BuildError::Link(e.to_string()))?;
        command.arg("rcs").arg(&library).args(&objects);
        let done = child::run(command, b"", &ChildLimits::default(), self.cancel)
            .map_err(|e| BuildError::Link(e.to_string()))?;
        if !done.ending.success() {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_string();
            return Err(BuildError::Link(format!("ar: {said}")));
        }
        Ok(vec![main, library])
    }

    /// Instrumented and plain objects.
    fn objects(&self, units: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), BuildError> {
        let hooked: Vec<PathBuf> = units.iter().map(|u| u.with_extension("hooked.o")).collect();
        let plain: Vec<PathBuf> = units.iter().map(|u| u.with_extension("plain.o")).collect();
        self.in_parallel(units.len() * 2, |job| {
            let unit = job / 2;
            let (flags, input, output) = if job % 2 == 0 {
                (BACK_END, instrumented_path(&units[unit]), &hooked[unit])
            } else {
                (PLAIN_BACK_END, units[unit].clone(), &plain[unit])
            };
            let mut args: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
            args.extend([text(&input), "-o".to_string(), text(output)]);
            self.clang(&args).map_err(|said| BuildError::Compile(units[unit].clone(), said))
        })?;
        Ok((hooked, plain))
    }

    /// Objects without hooks.
    pub fn plain_objects(&self, units: &[PathBuf]) -> Result<Vec<PathBuf>, BuildError> {
        let objects: Vec<PathBuf> = units.iter().map(|u| u.with_extension("plain.o")).collect();
        self.in_parallel(units.len(), |unit| {
            let mut args: Vec<String> =
                PLAIN_BACK_END.iter().map(|flag| flag.to_string()).collect();
            args.extend([text(&units[unit]), "-o".to_string(), text(&objects[unit])]);
            self.clang(&args).map_err(|said| BuildError::Compile(units[unit].clone(), said))
        })?;
        Ok(objects)
    }

    /// The page of counters with the coverage bytes behind it: its size is the program's.
    fn shared_section(&self, n_segments: usize) -> Result<PathBuf, BuildError> {
        let source = self.scratch.join("shared.s");
        let object = self.scratch.join("shared.o");
        let coverage = (n_segments.max(1)).next_multiple_of(4096);
        let assembly = format!(
            ".section .ff_shared,\"aw\",@nobits\n.p2align 12\n\
             .globl ff_shared, ff_countdown, ff_leaves, ff_relation, ff_coverage, ff_shared_end\n\
             ff_shared:\nff_countdown: .skip 64\nff_leaves: .skip 128\n\
             ff_relation: .skip 3904\n\
             ff_coverage: .skip {coverage}\nff_shared_end:\n\
             .section .note.GNU-stack,\"\",@progbits\n"
        );
        fs::write(&source, assembly).map_err(|e| BuildError::Scratch(source.clone(), e))?;
        self.clang(&["-c".to_string(), text(&source), "-o".to_string(), text(&object)])
            .map_err(BuildError::Link)?;
        Ok(object)
    }

    fn link_instrumented(
        &self,
        parts: &Parts,
        mut objects: Vec<PathBuf>,
        shared: PathBuf,
        link_flags: &[String],
    ) -> Result<Executable, BuildError> {
        let path = self.scratch.join("instrumented");
        objects.push(shared);
        objects.extend(self.runtime(rt::OBJECTS)?);
        let has_threads = parts.outside().any(|name| starts_threads(name));
        let forbids = parts.outside().find(|name| !is_undone_by_snapshot(name)).cloned();
        let mut executable =
            Executable { path, can_snapshot: false, forbids_snapshot: forbids, has_threads };
        if executable.forbids_snapshot.is_none() {
            let mut all = objects.clone();
            all.extend(self.runtime(rt::SNAPSHOT_OBJECTS)?);
            let wraps = rt::WRAPPED.iter().map(|name| format!("-Wl,--wrap={name}"));
            let flags: Vec<String> =
                wraps.chain(["-static".into(), "-Wl,-z,norelro".into()]).collect();
            match self.link(&executable.path, &all, &flags, link_flags) {
                Ok(()) => {
                    executable.can_snapshot = true;
                    return Ok(executable);
                }
                Err(_) => executable.forbids_snapshot = Some("dynamic linking".to_string()),
            }
        }
        // A static executable forks faster, where the libraries allow one.
        let static_flags = ["-static".to_string()];
        if self.link(&executable.path, &objects, &static_flags, link_flags).is_err() {
            self.link(&executable.path, &objects, &[], link_flags).map_err(BuildError::Link)?;
        }
        Ok(executable)
    }

    pub fn runtime(&self, objects: &[(&str, &[u8])]) -> Result<Vec<PathBuf>, BuildError> {
        let mut paths = Vec::new();
        for (name, bytes) in objects {
            let path = self.scratch.join(format!("rt-{name}"));
            fs::write(&path, bytes).map_err(|e| BuildError::Scratch(path.clone(), e))?;
            paths.push(path);
        }
        Ok(paths)
    }

    pub fn link(
        &self,
        output: &Path,
        objects: &[PathBuf],
        flags: &[String],
        user_flags: &[String],
    ) -> Result<(), String> {
        let mut args = vec!["-no-pie".to_string(), "-w".to_string()];
        args.extend(flags.iter().cloned());
        args.extend(objects.iter().map(|object| text(object)));
        args.extend(user_flags.iter().cloned());
        args.extend(["-lm".to_string(), "-o".to_string(), text(output)]);
        self.clang(&args)
    }

    /// Runs the compiler; an error is what it said, in a line or a few.
    pub fn clang(&self, args: &[String]) -> Result<(), String> {
        self.clang_in(None, args)
    }

    fn clang_in(&self, folder: Option<&Path>, args: &[String]) -> Result<(), String> {
        let mut command =
            child::command(CLANG).map_err(|e| format!("{e} (install the package clang-19)"))?;
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        command.args(args).env("LC_ALL", "C");
        let done = child::run(command, b"", &ChildLimits::default(), self.cancel)
            .map_err(|e| e.to_string())?;
        if done.ending.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let mut errors: Vec<&str> = said.lines().filter(|line| line.contains("error")).collect();
        errors.extend(said.lines().filter(|line| line.contains("undefined reference")));
        errors.truncate(3);
        Err(if errors.is_empty() { format!("{CLANG} {}", done.ending) } else { errors.join("; ") })
    }

    /// Does all jobs, on so many threads; the error of the first job that has one.
    pub fn in_parallel(
        &self,
        n_jobs: usize,
        job: impl Fn(usize) -> Result<(), BuildError> + Sync,
    ) -> Result<(), BuildError> {
        let next = AtomicUsize::new(0);
        let errors = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(n_jobs) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= n_jobs || self.cancel.is_cancelled() {
                            return;
                        }
                        if let Err(error) = job(index) {
                            let mut errors = errors.lock().unwrap_or_else(|e| e.into_inner());
                            errors.push((index, error));
                        }
                    }
                });
            }
        });
        if self.cancel.is_cancelled() {
            return Err(BuildError::Cancelled);
        }
        let mut errors = errors.into_inner().unwrap_or_else(|e| e.into_inner());
        errors.sort_by_key(|(index, _)| *index);
        errors.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

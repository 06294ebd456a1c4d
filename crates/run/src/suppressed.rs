//! Programs built for execution suppression, and their runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use base::{Cancel, Scratch};
use capture::command::native::NativeFlags;
use llvm::suppress::{Frame, Global, Options as SuppressOptions, Site, defined, suppress};

use crate::build::{
    BACK_END, BuildError, BuildOptions, Builder, PLAIN_BACK_END, choose_main, text,
};
use crate::crash_file::CrashControl;
use crate::limits::Limits;
use crate::runner::{self, Ending, Job, Left, ending, passes};
use crate::source::split_flags;
use crate::suite::Test;

pub use crate::crash_file::{Culprit, Event, Failure, Layout, Plan, Reached, Role, Run, Switch};
pub use crate::threads::{Access, Altered, Race, Schedule, Second, Threads, Wait, Watched};

/// A program whose definitions can be suppressed.
#[derive(Clone, Debug)]
pub struct SuppressedProgram {
    /// The code at `-O0` as it is.
    pub plain: PathBuf,
    /// Labels say which event defined a value.
    pub tracking: PathBuf,
    pub sites: Vec<Site>,
    pub frames: Vec<Frame>,
    /// With the number of the unit that defines them.
    pub globals: Vec<(usize, Global)>,
    /// Some unit starts threads.
    pub is_threaded: bool,
    link: Link,
    /// What the code that only suppresses is made from.
    units: Vec<PathBuf>,
    options: BuildOptions,
}

/// What is needed to link again, with the globals in another order.
#[derive(Clone, Debug)]
struct Link {
    scratch: PathBuf,
    objects: Vec<PathBuf>,
    flags: Vec<String>,
}

impl SuppressedProgram {
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
        let mut instrumented = instrument(options, &units, true)?;
        let mains = std::mem::take(&mut instrumented.mains);
        let mut objects = compile(&builder, options, &units, &mains, Kind::Tracking)?;
        let plain_objects = compile(&builder, options, &units, &mains, Kind::Plain)?;
        // First, so that what overflows behind the program's variables does not reach ours.
        objects.splice(0..0, builder.runtime(rt::TRACKING_OBJECTS)?);
        let (tracking, plain) = (scratch.join("tracking"), scratch.join("plain"));
        builder.link(&tracking, &objects, &[], &link_flags).map_err(BuildError::Link)?;
        builder.link(&plain, &plain_objects, &[], &link_flags).map_err(BuildError::Link)?;
        let globals = std::mem::take(&mut instrumented.globals);
        let link = Link { scratch: scratch.to_owned(), objects, flags: link_flags };
        let (sites, frames) = (instrumented.sites, instrumented.frames);
        let is_threaded = instrumented.is_threaded;
        let options = options.clone();
        Ok(Self { plain, tracking, sites, frames, globals, is_threaded, link, units, options })
    }

    /// The program that suppresses the same definitions without saying where they are, which
    /// is much faster.
    pub fn suppressing(&self, cancel: &Cancel) -> Result<PathBuf, BuildError> {
        let scratch = &self.link.scratch;
        let output = scratch.join("suppressing");
        if output.is_file() {
            return Ok(output);
        }
        let builder = Builder::new(&self.options, scratch, cancel);
        let instrumented = instrument(&self.options, &self.units, false)?;
        let (units, mains) = (&self.units, &instrumented.mains);
        let mut objects = compile(&builder, &self.options, units, mains, Kind::Suppressing)?;
        objects.splice(0..0, builder.runtime(rt::SUPPRESSING_OBJECTS)?);
        builder.link(&output, &objects, &[], &self.link.flags).map_err(BuildError::Link)?;
        Ok(output)
    }

    /// Whether globals are linked in the order they are listed in.
    pub fn has_all_units(&self) -> bool {
        self.options.loose.is_none()
    }

    /// Links the tracking program again for each order, as many at once as there are jobs: with
    /// each second global of a pair right behind the first; both are numbers of `globals`.
    /// Nothing where the linker cannot do it.
    pub fn with_pairs(
        &self,
        orders: &[Vec<(usize, usize)>],
        first: usize,
        cancel: &Cancel,
    ) -> Result<Vec<Option<PathBuf>>, BuildError> {
        let builder = Builder::new(&self.options, &self.link.scratch, cancel);
        let linked: Vec<OnceLock<PathBuf>> = orders.iter().map(|_| OnceLock::new()).collect();
        builder.in_parallel(orders.len(), |job| {
            let output = self.link.scratch.join(format!("globals{}", first + job));
            let script = output.with_extension("ld");
            let wanted = self.script(&orders[job]);
            // Linked before, in an earlier round.
            let is_there = fs::read_to_string(&script).is_ok_and(|text| text == wanted);
            if is_there && output.is_file() {
                let _ = linked[job].set(output);
                return Ok(());
            }
            fs::write(&script, &wanted).map_err(|e| BuildError::Scratch(script.clone(), e))?;
            let flags = [format!("-Wl,-T,{}", text(&script))];
            if builder.link(&output, &self.link.objects, &flags, &self.link.flags).is_ok() {
                let _ = linked[job].set(output);
            }
            Ok(())
        })?;
        Ok(linked.into_iter().map(OnceLock::into_inner).collect())
    }

    /// Compilers and linkers at work at once.
    pub fn n_jobs(&self) -> usize {
        self.options.jobs.max(1)
    }

    /// Added to the linker's own script.
    fn script(&self, pairs: &[(usize, usize)]) -> String {
        let place = |global: usize| {
            let (unit, global) = &self.globals[global];
            let name = &global.name;
            // Names of static variables may come up in several units.
            format!("*unit{unit}.tracking.o(.data.{name} .bss.{name})\n")
        };
        let mut lines = String::from("SECTIONS {\n.ff_pairs : SUBALIGN(1) {\n");
        for (buffer, variable) in pairs {
            lines += ". = ALIGN(64);\n";
            lines += &place(*buffer);
            lines += &place(*variable);
        }
        lines + ". = ALIGN(64);\n}\n}\nINSERT BEFORE .data;\n"
    }
}

#[derive(Default)]
struct Instrumented {
    sites: Vec<Site>,
    frames: Vec<Frame>,
    globals: Vec<(usize, Global)>,
    mains: Vec<usize>,
    is_threaded: bool,
}

fn labelled(unit: &Path, is_tracking: bool) -> PathBuf {
    unit.with_extension(if is_tracking { "tracking.bc" } else { "suppressing.bc" })
}

/// Instruments every unit, with sites numbered through the program.
fn instrument(
    options: &BuildOptions,
    units: &[PathBuf],
    is_tracking: bool,
) -> Result<Instrumented, BuildError> {
    let mut program = Instrumented::default();
    let mut codes = Vec::new();
    let mut all_defined = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let file = options.sources[index].file().to_owned();
        let code = fs::read(unit).map_err(|e| BuildError::Scratch(unit.clone(), e))?;
        let names = defined(&code).map_err(|said| BuildError::Instrument(file, said))?;
        if names.defined.iter().any(|name| name == "main") {
            program.mains.push(index);
        }
        program.is_threaded |= names.starts_threads;
        all_defined.extend(names.defined);
        codes.push(code);
    }
    let modelled = [rt::MODELLED, rt::SYNCHRONISING].concat();
    for (index, code) in codes.iter().enumerate() {
        let suppress_options = SuppressOptions {
            is_tracking,
            is_threaded: program.is_threaded,
            first_site: program.sites.len() as u32,
            first_frame: program.frames.len() as u32,
            defined: &all_defined,
            modelled: &modelled,
        };
        let file = options.sources[index].file().to_owned();
        let made =
            suppress(code, &suppress_options).map_err(|said| BuildError::Instrument(file, said))?;
        let path = labelled(&units[index], is_tracking);
        fs::write(&path, &made.bitcode).map_err(|e| BuildError::Scratch(path, e))?;
        program.sites.extend(made.sites);
        program.frames.extend(made.frames);
        program.globals.extend(made.globals.into_iter().map(|global| (index, global)));
    }
    Ok(program)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Tracking,
    Suppressing,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Plain => "plain",
            Kind::Tracking => "tracking",
            Kind::Suppressing => "suppressing",
        }
    }
}

/// What to link for one kind of program.
fn compile(
    builder: &Builder<'_>,
    options: &BuildOptions,
    units: &[PathBuf],
    mains: &[usize],
    kind: Kind,
) -> Result<Vec<PathBuf>, BuildError> {
    let objects: Vec<PathBuf> =
        units.iter().map(|unit| unit.with_extension(format!("{}.o", kind.name()))).collect();
    builder.in_parallel(units.len(), |job| {
        let (unit, output) = (&units[job], &objects[job]);
        let (flags, input) = match kind {
            Kind::Plain => (PLAIN_BACK_END, unit.clone()),
            labels => (BACK_END, labelled(unit, labels == Kind::Tracking)),
        };
        let mut args: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
        // A section for each variable, so that the linker can put them in another order.
        args.push("-fdata-sections".to_string());
        args.extend([text(&input), "-o".to_string(), text(output)]);
        builder.clang(&args).map_err(|said| BuildError::Compile(unit.clone(), said))
    })?;
    match &options.loose {
        Some(wanted) => {
            let main = choose_main(mains, &options.sources, wanted.as_deref())?;
            builder.as_needed(main, objects, kind.name())
        }
        None => Ok(objects),
    }
}

/// Runs of one program with one input.
#[derive(Clone, Copy)]
pub struct SuppressedRunner<'a> {
    pub program: &'a SuppressedProgram,
    pub test: &'a Test,
    pub limits: Limits,
    pub cancel: &'a Cancel,
}

/// What a run of the program as it is showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainRun {
    pub ending: Ending,
    pub passed: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub cpu: Duration,
}

impl SuppressedRunner<'_> {
    pub fn run_plain(&self) -> std::io::Result<PlainRun> {
        let job = Job { executable: &self.program.plain, control: None, limits: self.limits };
        let left = runner::start(self.test, &job, self.cancel)?;
        Ok(plain_run(self.test, left))
    }

    /// A run of the tracking program, with what the plan says suppressed.
    pub fn run(&self, executable: &Path, plan: &Plan) -> std::io::Result<Run> {
        let home = Scratch::in_memory()?;
        let mut control = CrashControl::create(&home.path().join("control"), plan, &self.limits)?;
        // Labels take address space that is never touched; the heap has its own limit.
        let limits = Limits { memory: u64::MAX, ..self.limits };
        let job = Job { executable, control: Some(&control.path), limits };
        let left = runner::start(self.test, &job, self.cancel)?;
        control.read()?;
        control.outcome(plain_run(self.test, left))
    }
}

fn plain_run(test: &Test, left: Left) -> PlainRun {
    PlainRun {
        ending: ending(left.end),
        passed: passes(test, &left),
        stdout: left.stdout,
        stderr: left.stderr,
        cpu: left.cpu,
    }
}

/// Whether the runtime stands in for a library function.
pub fn is_modelled(name: &str) -> bool {
    rt::MODELLED.contains(&name)
}

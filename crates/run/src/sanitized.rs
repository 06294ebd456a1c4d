//! The program built with clang's sanitizers, to see whether a fault happens natively.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Cancel;
use base::child;
use capture::command::native::NativeFlags;

use crate::build::{BuildError, BuildOptions, Builder, choose_main};
use crate::runner::contents;
use crate::sandbox::{self, Bounds, End, Launch, Permissions, Streams};
use crate::source::split_flags;

/// Which sanitizers a build has: AddressSanitizer and MemorySanitizer exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sanitizers {
    /// Addresses, leaks, undefined behaviour, conversions that change the value, wrap.
    Address,
    /// Values that were never set.
    Memory,
}

impl Sanitizers {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Sanitizers::Address => &[
                "-fsanitize=address,undefined,implicit-conversion,unsigned-integer-overflow",
                "-fsanitize-recover=all",
            ],
            Sanitizers::Memory => {
                &["-fsanitize=memory", "-fsanitize-memory-track-origins", "-fsanitize-recover=all"]
            }
        }
    }

    /// What the runtime reads: every report is wanted, not only the first, with positions.
    pub fn environment(self) -> Vec<(&'static str, String)> {
        let symbolizer = symbolizer().map(|path| path.display().to_string()).unwrap_or_default();
        let common = format!(
            "halt_on_error=0:hard_rss_limit_mb={MEMORY_MIB}:external_symbolizer_path={symbolizer}"
        );
        match self {
            Sanitizers::Address => vec![
                // Frames of returned functions are kept so that dangling pointers are seen.
                (
                    "ASAN_OPTIONS",
                    format!("{common}:detect_stack_use_after_return=1:allocator_may_return_null=1"),
                ),
                ("UBSAN_OPTIONS", format!("{common}:print_stacktrace=1")),
                // What is left of a pointer on the stack of an ended function hides no leak.
                ("LSAN_OPTIONS", "use_stacks=0:use_registers=0".to_owned()),
            ],
            Sanitizers::Memory => vec![("MSAN_OPTIONS", common)],
        }
    }
}

/// Turns addresses into positions; without it reports have none.
pub fn symbolizer() -> Option<PathBuf> {
    ["llvm-symbolizer-19", "llvm-symbolizer"]
        .iter()
        .find_map(|name| base::child::find_program(name.as_ref()).ok())
}

/// No optimisation, positions, and old C as everywhere in this crate.
const FRONT_END: &[&str] = &["-O0", "-g", "-fno-omit-frame-pointer", "-c"];

/// Builds the program with sanitizers into `scratch`, which must exist.
pub fn build(
    options: &BuildOptions,
    sanitizers: Sanitizers,
    scratch: &Path,
    cancel: &Cancel,
) -> Result<PathBuf, BuildError> {
    options.check()?;
    let NativeFlags { compile: compile_flags, link: link_flags, .. } = split_flags(&options.flags);
    let builder = Builder::new(options, scratch, cancel);
    let front_end: Vec<&str> = FRONT_END.iter().chain(sanitizers.flags()).copied().collect();
    let objects: Vec<PathBuf> =
        (0..options.sources.len()).map(|unit| scratch.join(format!("unit{unit}.san.o"))).collect();
    builder.in_parallel(objects.len(), |unit| {
        let source = &options.sources[unit];
        builder
            .compile(source, &objects[unit], &compile_flags, &front_end)?
            .map_err(|said| BuildError::Compile(source.file().to_owned(), said))
    })?;
    let objects = match &options.loose {
        None => objects,
        Some(wanted) => {
            let mains = units_with_main(&objects)?;
            let main = choose_main(&mains, &options.sources, wanted.as_deref())?;
            builder.as_needed(main, objects, "sanitized")?
        }
    };
    let output = scratch.join("sanitized");
    let flags: Vec<String> = sanitizers.flags().iter().map(|flag| flag.to_string()).collect();
    // MemorySanitizer's shadow needs an executable that can be anywhere.
    let pie = match sanitizers {
        Sanitizers::Address => Vec::new(),
        Sanitizers::Memory => vec!["-pie".to_owned()],
    };
    let flags: Vec<String> = flags.into_iter().chain(pie).collect();
    builder.link(&output, &objects, &flags, &link_flags).map_err(BuildError::Link)?;
    Ok(output)
}

/// The objects that define `main`, by their symbol tables.
fn units_with_main(objects: &[PathBuf]) -> Result<Vec<usize>, BuildError> {
    use object::{Object, ObjectSymbol};
    let mut mains = Vec::new();
    for (index, path) in objects.iter().enumerate() {
        let bytes = fs::read(path).map_err(|error| BuildError::Scratch(path.clone(), error))?;
        let Ok(file) = object::File::parse(&*bytes) else { continue };
        let is_main =
            |symbol: object::Symbol| symbol.is_definition() && symbol.name() == Ok("main");
        if file.symbols().any(is_main) {
            mains.push(index);
        }
    }
    Ok(mains)
}

/// One run of a sanitized program.
pub struct Run<'a> {
    pub sanitizers: Sanitizers,
    /// Without the program's name.
    pub arguments: Vec<Vec<u8>>,
    pub stdin: Vec<u8>,
    /// Variables that are set; nothing else is but what the sanitizers read.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Its working folder, which it may write to.
    pub folder: &'a Path,
    /// After this it is stopped.
    pub time: Duration,
    /// In the sandbox.
    pub is_confined: bool,
}

/// What a run left.
pub struct Ran {
    /// In words: `exited with 0`.
    pub ending: String,
    pub stderr: Vec<u8>,
}

/// MiB a run may have in memory: address space is no measure where shadows are reserved.
const MEMORY_MIB: u64 = 2048;

/// Bytes of any file, its messages too.
const FILE_SIZE: u64 = 64 << 20;

/// Runs a sanitized program.
pub fn run(program: &Path, run: &Run<'_>, cancel: &Cancel) -> io::Result<Ran> {
    let text = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
    let sanitizers = run.sanitizers.environment();
    let sanitizers = sanitizers.into_iter().map(|(name, value)| (name.into(), value.into()));
    let variables = run.environment.iter().map(|(name, value)| (text(name), text(value)));
    let launch = Launch {
        program,
        arguments: run.arguments.iter().map(text).collect(),
        environment: sanitizers.chain(variables).collect(),
        folder: run.folder,
        reads: vec![program],
        writes: Vec::new(),
        permissions: &Permissions::default(),
        // The leak checker stops the program's threads that way.
        may_trace: true,
        is_confined: run.is_confined,
    };
    let mut streams = Streams::new(&run.stdin)?;
    let bounds = Bounds { time: run.time, file_size: FILE_SIZE, address_space: None };
    let (end, _) = sandbox::run(&launch, &streams, &bounds, cancel)?;
    let ending = match end {
        End::Exited(code) => child::Ending::Exited(code.into()),
        End::Signalled(signal) => child::Ending::Signalled(signal),
        End::TimedOut => child::Ending::TimedOut,
        End::Cancelled => child::Ending::Cancelled,
    };
    Ok(Ran { ending: ending.to_string(), stderr: contents(&mut streams.stderr)? })
}

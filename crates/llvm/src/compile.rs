//! Preprocessed text to bitcode, by clang 19 as a child process.
//!
//! The flags keep the program as it was written: no optimisation runs, every implicit
//! conversion is marked by a check, and copies the user calls for stay calls.

use std::ffi::OsStr;
use std::io;
use std::process::Command;

use base::SourceMap;
use base::cancel::Cancel;
use base::child::{self, Ending, Finished, Limits, Tool};

/// The compiler whose bitcode the importer reads.
pub const CLANG: &str = "clang-19";

/// Compiler messages shown for a unit that does not compile.
const MAX_MESSAGES: usize = 5;

/// Why a unit has no bitcode.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("cannot run {CLANG}: {0} (install the package clang-19)")]
    NoCompiler(io::Error),
    /// The first messages of the compiler, in the user's positions.
    #[error("{}", .0.join("\n"))]
    Rejected(Vec<String>),
    /// It crashed, hung or was interrupted; with what it said, if anything.
    #[error("{CLANG} {ending}{}", at(.messages))]
    Died { ending: Ending, messages: Vec<String> },
    #[error(
        "{CLANG} printed something that is not bitcode; try to remove flags that ask for other output"
    )]
    Garbage,
}

/// Flags that follow the user's, so that they win. `-O1` with every pass disabled differs
/// from `-O0` in what clang *says*, not in the code's shape: declarations carry their C types,
/// inline definitions are kept, and functions are not marked against later promotion.
const OUR_FLAGS: &[&str] = &[
    "-O1",
    "-g",
    "-gdwarf-5",
    "-gcolumn-info",
    "-fno-lto",
    "-fno-strict-aliasing",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-disable-lifetime-markers",
    "-fsanitize=implicit-conversion",
    "-fsanitize-recover=all",
    "-fno-sanitize-trap=all",
    "-fno-sanitize-minimal-runtime",
    "-fno-sanitize-ignorelist",
    "-ffp-contract=off",
    "-ftrivial-auto-var-init=uninitialized",
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fno-builtin-bzero",
    "-fno-crash-diagnostics",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-ferror-limit=5",
    "-w",
    "-Wno-error",
    // Old C that newer compilers reject by default.
    "-Wno-implicit-int",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-incompatible-pointer-types",
    "-Wno-return-mismatch",
    "-Wno-return-type",
    "-Wno-deprecated-non-prototype",
    "-Qunused-arguments",
    "-emit-llvm",
    "-c",
];

/// Flags that precede the user's, so that his win. Tentative definitions in several units are
/// one object, as old code expects; where each unit defines it, the linker has said so before.
const DEFAULT_FLAGS: &[&str] = &["-fcommon"];

/// Compiles preprocessed C `text` under the user's `flags` (of which those that ask for
/// optimisation, sanitizers, coverage, link-time optimisation or `-Werror` are already
/// gone). `map` only serves to report the compiler's messages in the user's positions.
pub fn compile(
    text: &[u8],
    flags: &[impl AsRef<OsStr>],
    map: &SourceMap,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Vec<u8>, CompileError> {
    let program = child::find_program(CLANG.as_ref()).map_err(CompileError::NoCompiler)?;
    compile_with(&Tool::plain(program), text, flags, map, limits, cancel)
}

/// As [`compile`], by this clang.
pub fn compile_with(
    clang: &Tool,
    text: &[u8],
    flags: &[impl AsRef<OsStr>],
    map: &SourceMap,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Vec<u8>, CompileError> {
    let mut command = Command::new(clang.program());
    command.args(DEFAULT_FLAGS).args(flags).args(OUR_FLAGS).args([
        "-x",
        "cpp-output",
        "-",
        "-o",
        "-",
    ]);
    // A locale or colour setting of the user must not change the messages.
    command.env("LC_ALL", "C").env_remove("CCC_OVERRIDE_OPTIONS");
    let finished = clang.run(&command, text, limits, cancel).map_err(CompileError::NoCompiler)?;
    bitcode_of(finished, map)
}

fn bitcode_of(finished: Finished, map: &SourceMap) -> Result<Vec<u8>, CompileError> {
    let messages = || first_messages(&String::from_utf8_lossy(&finished.stderr), map);
    match finished.ending {
        Ending::Exited(0) if is_bitcode(&finished.stdout) && !finished.truncated => {
            Ok(finished.stdout)
        }
        Ending::Exited(0) => Err(CompileError::Garbage),
        Ending::Exited(1) => Err(CompileError::Rejected(messages())),
        ending => Err(CompileError::Died { ending, messages: messages() }),
    }
}

fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xC0\xDE")
}

/// The first errors clang printed. What it says about itself (stack dumps, notes) is left out.
fn first_messages(stderr: &str, map: &SourceMap) -> Vec<String> {
    let is_error = |line: &&str| line.contains("error: ");
    let mut messages: Vec<String> = stderr
        .lines()
        .filter(is_error)
        .take(MAX_MESSAGES)
        .map(|line| in_sources(line, map))
        .collect();
    if messages.is_empty() {
        messages.extend(stderr.lines().take(1).map(str::to_string));
    }
    if messages.is_empty() {
        messages.push(format!("{CLANG} failed without a message"));
    }
    messages
}

/// `<stdin>:12:3: error: ...` with the position the user knows.
fn in_sources(line: &str, map: &SourceMap) -> String {
    let translated = || {
        let rest = line.strip_prefix("<stdin>:")?;
        let (row, rest) = rest.split_once(':')?;
        let (column, message) = rest.split_once(':')?;
        let position = map.lookup(row.parse().ok()?, column.parse().ok()?)?;
        let file = map.files.get(position.file as usize)?;
        Some(format!("{file}:{}:{}:{message}", position.line, position.column))
    };
    translated().unwrap_or_else(|| line.to_string())
}

fn at(messages: &[String]) -> String {
    messages.first().map_or_else(String::new, |message| format!(": {message}"))
}

//! From a compile command to preprocessed text, through clang or the cache.
//!
//! The text is what `clang -E -dD` prints for the user's flags without optimisation:
//! `__OPTIMIZE__` is not defined, and `__GNUC__` is clang's 4.2 even where the build
//! uses gcc, because system headers then keep to what clang can parse.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base::Cancel;
use base::child::{self, Ending, Limits};
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Key};
use crate::clang::Clang;
use crate::command::{Flags, Language};
use crate::deps::{self, Dependency, Files, Freshness};
use crate::error::UnitFailure;
use crate::project::Text;
use crate::shadow;

/// Tries with fewer flags before giving up: clang names most unknown flags at once.
const MAX_TRIES: usize = 8;
/// Lines of compiler output kept for a failed unit.
const MAX_DETAILS: usize = 5;
/// Bytes of the list of files that a unit is made from.
const MAX_FILES: usize = 16 << 20;
/// The clock that stamps files is coarser than the one we read.
const CLOCK_SLACK: Duration = Duration::from_millis(10);

/// What to preprocess, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCommand {
    /// Absolute: the compiler's working directory.
    pub directory: PathBuf,
    /// As the command names it.
    pub source: String,
    pub language: Language,
    pub flags: Flags,
    /// The object it was compiled to, absolute, if one was kept.
    pub object: Option<PathBuf>,
}

impl UnitCommand {
    pub fn source_path(&self) -> PathBuf {
        self.directory.join(&self.source)
    }
}

/// What everything that preprocesses shares.
pub struct Workshop<'a> {
    pub clang: &'a Clang,
    pub cache: &'a Arc<Cache>,
    pub files: &'a Files,
    pub cancel: &'a Cancel,
    /// Processor time for one unit.
    pub time_limit: Duration,
}

/// A preprocessed unit.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    pub text: Text,
    pub manifest: Manifest,
    /// Processor time clang took; `None` if it did not run.
    pub cpu: Option<Duration>,
}

/// All about a preprocessed unit except its text; what the cache and event logs hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub text: Key,
    pub dependencies: Vec<Dependency>,
    /// Files that the include search passed over, see [`crate::shadow`].
    pub passed_over: Vec<PathBuf>,
    /// Flags clang turned down.
    pub rejected: Vec<String>,
}

/// Preprocesses a unit, or finds that the cache holds what that would give.
pub fn preprocess(shop: &Workshop, command: &UnitCommand) -> Result<Preprocessed, UnitFailure> {
    let key = manifest_key(shop.clang, command);
    match recall(shop, command, &key) {
        Some(unit) => Ok(unit),
        None => run_and_store(shop, command, None, &key),
    }
}

/// Preprocesses a unit whose source came through standard input.
pub fn preprocess_input(
    shop: &Workshop,
    command: &UnitCommand,
    input: &[u8],
) -> Result<Preprocessed, UnitFailure> {
    let key = manifest_key(shop.clang, command);
    run_and_store(shop, command, Some(input), &key)
}

fn recall(shop: &Workshop, command: &UnitCommand, key: &Key) -> Option<Preprocessed> {
    let manifest = shop.cache.get(key)?;
    let mut manifest: Manifest = serde_json::from_slice(&manifest).ok()?;
    match freshness(shop, command, &manifest) {
        Freshness::Same => {}
        Freshness::SameContent => {
            let paths = manifest.dependencies.iter().map(|d| shop.files.record(&d.path));
            manifest.dependencies = paths.collect::<Option<_>>()?;
            shop.cache.forget(key);
            store_manifest(shop, key, &manifest);
        }
        Freshness::Changed | Freshness::Missing => {
            shop.cache.forget(key);
            return None;
        }
    }
    if !shop.cache.contains(&manifest.text) {
        return None;
    }
    let text = stored_text(shop, command, manifest.text);
    Some(Preprocessed { text, manifest, cpu: None })
}

/// Whether preprocessing would still read the same files with the same content.
pub fn freshness(shop: &Workshop, command: &UnitCommand, manifest: &Manifest) -> Freshness {
    let freshness = shop.files.check(&manifest.dependencies);
    let unchanged = matches!(freshness, Freshness::Same | Freshness::SameContent);
    if unchanged
        && shadow::passed_over(shop.files, command, &manifest.dependencies) != manifest.passed_over
    {
        return Freshness::Changed;
    }
    freshness
}

fn run_and_store(
    shop: &Workshop,
    command: &UnitCommand,
    input: Option<&[u8]>,
    key: &Key,
) -> Result<Preprocessed, UnitFailure> {
    let started = SystemTime::now();
    let output = run_clang(shop, command, input)?;
    let files = output.files.iter().filter_map(|file| shop.files.record(file));
    let dependencies: Vec<Dependency> = files.collect();
    let manifest = Manifest {
        text: Key::of_content(&output.text),
        passed_over: shadow::passed_over(shop.files, command, &dependencies),
        dependencies,
        rejected: output.rejected,
    };
    let stored = shop.cache.put(&manifest.text, &output.text);
    // A file written while clang ran may not be the one clang read.
    let raced = manifest.dependencies.iter().any(|d| written_since(&d.path, started));
    if stored && input.is_none() && !raced {
        store_manifest(shop, key, &manifest);
    }
    let text = if stored {
        stored_text(shop, command, manifest.text)
    } else {
        Text::Memory(Arc::new(output.text))
    };
    Ok(Preprocessed { text, manifest, cpu: Some(output.cpu) })
}

fn stored_text(shop: &Workshop, command: &UnitCommand, key: Key) -> Text {
    let remake = (command.source != "-").then(|| Arc::new(command.clone()));
    Text::Stored { cache: shop.cache.clone(), key, remake }
}

/// Makes a stored text again that was evicted or damaged since it was found. `None` if
/// the files have changed since, or anything else went wrong.
pub fn remake(command: &UnitCommand, cache: &Arc<Cache>, key: Key) -> Option<Vec<u8>> {
    let shop = Workshop {
        clang: &Clang::find().ok()?,
        cache,
        files: &Files::default(),
        cancel: &Cancel::new(),
        time_limit: Limits::default().deadline,
    };
    let text = run_clang(&shop, command, None).ok()?.text;
    (Key::of_content(&text) == key).then(|| {
        cache.put(&key, &text);
        text
    })
}

fn store_manifest(shop: &Workshop, key: &Key, manifest: &Manifest) {
    if let Ok(bytes) = serde_json::to_vec(manifest) {
        shop.cache.put(key, &bytes);
    }
}

fn written_since(path: &Path, start: SystemTime) -> bool {
    let modified = std::fs::metadata(path).and_then(|m| m.modified());
    modified.is_ok_and(|modified| modified + CLOCK_SLACK >= start)
}

/// All that decides what clang prints, except the content of the files it reads.
fn manifest_key(clang: &Clang, command: &UnitCommand) -> Key {
    let environment = ["CPATH", "C_INCLUDE_PATH", "SOURCE_DATE_EPOCH"]
        .map(|name| std::env::var_os(name).unwrap_or_default().into_encoded_bytes());
    let mut parts = vec![
        // The manifest has what clang read, not what markers say.
        b"files read".as_slice(),
        clang.identity.as_bytes(),
        command.directory.as_os_str().as_encoded_bytes(),
        command.source.as_bytes(),
    ];
    parts.extend(environment.iter().map(Vec::as_slice));
    parts.extend(command.flags.preprocess.iter().map(String::as_bytes));
    Key::new("preprocessed", parts)
}

struct ClangOutput {
    text: Vec<u8>,
    /// What clang read. Line markers would not do: sources can claim any name in them.
    files: Vec<PathBuf>,
    rejected: Vec<String>,
    cpu: Duration,
}

fn run_clang(
    shop: &Workshop,
    command: &UnitCommand,
    input: Option<&[u8]>,
) -> Result<ClangOutput, UnitFailure> {
    let failure = |reason: String| UnitFailure::new(&command.source, reason);
    if command.source.contains(char::REPLACEMENT_CHARACTER) {
        return Err(failure("its name is not UTF-8; rename it".to_owned()));
    }
    shop.clang.recall_rejected(&command.flags.compile, shop.cache);
    let mut cpu = Duration::ZERO;
    for _ in 0..MAX_TRIES {
        let (flags, rejected) = shop.clang.without_rejected(&command.flags.preprocess);
        let mut clang = Command::new(shop.clang.tool.program());
        clang.args(["-E", "-dD", "-w", "-fno-caret-diagnostics"]).args(&flags);
        // Of a unit that fails clang removes this file: it must not be one that can be removed.
        clang.args(["-MD", "-MT", deps::TARGET, "-MF", "/proc/self/fd/2"]);
        clang.args(["-x", "c", &command.source]).current_dir(&command.directory);
        clang.env("LC_ALL", "C").env_remove("CCC_OVERRIDE_OPTIONS");
        // `__DATE__` and `__TIME__` must not make each run different from the last.
        if std::env::var_os("SOURCE_DATE_EPOCH").is_none() {
            clang.env("SOURCE_DATE_EPOCH", "0");
        }
        let limits = Limits { stderr_cap: MAX_FILES, ..Limits::of_processor_time(shop.time_limit) };
        let tool = &shop.clang.tool;
        let done = tool
            .run(&clang, input.unwrap_or_default(), &limits, shop.cancel)
            .map_err(|error| failure(format!("cannot run clang: {error}")))?;
        cpu += done.cpu;
        let stderr = String::from_utf8_lossy(&done.stderr);
        if done.ending.success() && !done.truncated {
            shop.clang.store_rejected(&command.flags.compile, &rejected, shop.cache);
            let files = deps::files_read(&done.stderr, &command.directory);
            return Ok(ClangOutput { text: done.stdout, files, rejected, cpu });
        }
        if !shop.clang.learn_rejected(&flags, &stderr) {
            return Err(explain(shop, command, &done, &stderr));
        }
    }
    Err(failure("clang turns down more of its flags at each try".to_owned()))
}

/// Why a unit failed, in one line and the compiler's first own.
fn explain(
    shop: &Workshop,
    command: &UnitCommand,
    done: &child::Finished,
    stderr: &str,
) -> UnitFailure {
    let reason = match done.ending {
        Ending::TimedOut => format!(
            "clang did not finish preprocessing within {} s and was stopped",
            shop.time_limit.as_secs()
        ),
        Ending::Cancelled => "interrupted".to_owned(),
        Ending::Signalled(signal) => format!("clang crashed (signal {signal}) while preprocessing"),
        Ending::Exited(_) if done.truncated => "its preprocessed text is too large".to_owned(),
        Ending::Exited(_) => match stderr.lines().find(|line| line.contains("error: ")) {
            Some(line) => format!("does not preprocess: {}", line.trim()),
            None => "clang failed to preprocess it".to_owned(),
        },
    };
    let details = stderr.lines().take(MAX_DETAILS).map(str::to_owned).collect();
    UnitFailure { path: command.source.clone(), reason, details }
}

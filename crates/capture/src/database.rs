//! Input of the second kind: `compile_commands.json`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::command::name::{Tool, tool};
use crate::command::words::{Quoting, expand_response_files, split};
use crate::command::{Invocation, Language};
use crate::error::{CaptureError, UnitFailure};
use crate::preprocess::UnitCommand;

pub const FILE_NAME: &str = "compile_commands.json";

/// A database larger than this would not fit into memory several times over.
const MAX_BYTES: u64 = 1 << 30;

/// What a database says.
#[derive(Debug, Default)]
pub struct Database {
    pub commands: Vec<UnitCommand>,
    pub failures: Vec<UnitFailure>,
    pub notices: Vec<String>,
}

/// Reads a database. Entries that make no sense become failures of their own; entries
/// that are not C are left out with one notice.
pub fn read(path: &Path) -> Result<Database, CaptureError> {
    let unreadable = |cause| CaptureError::Unreadable { path: path.to_owned(), cause };
    let bad = |cause: String| CaptureError::BadDatabase { path: path.to_owned(), cause };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(bad(format!("is too large ({} MiB)", size >> 20)));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(bad("is empty; configure the build again to write it".to_owned()));
    }
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| bad(format!("is not valid JSON: {error}")))?;
    let Value::Array(entries) = value else {
        return Err(bad("is not a list of compile commands".to_owned()));
    };
    if entries.is_empty() {
        return Err(bad("holds no compile commands".to_owned()));
    }
    let base = path.parent().unwrap_or(Path::new("/"));
    let database = collect(&entries, base);
    if database.commands.is_empty() && database.failures.is_empty() {
        return Err(CaptureError::NoCEntries(path.to_owned()));
    }
    Ok(database)
}

fn collect(entries: &[Value], base: &Path) -> Database {
    let mut database = Database::default();
    let mut others = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        match read_entry(entry, base) {
            Ok(Entry::Unit(command)) => {
                // The same command twice is one unit; several commands for a file are several.
                let same = (command.source_path(), command.flags.preprocess.clone());
                if seen.insert((same, command.object.clone())) {
                    database.commands.push(command);
                }
            }
            Ok(Entry::NotC(file)) => {
                others.insert(file);
            }
            Err((file, reason)) => {
                let file = file.unwrap_or_else(|| format!("{FILE_NAME} entry {}", index + 1));
                database.failures.push(UnitFailure::new(file, reason));
            }
        }
    }
    if let Some(first) = others.first() {
        database.notices.push(format!(
            "{} of {} entries are not C and were left out ({first}{})",
            others.len(),
            entries.len(),
            if others.len() > 1 { ", ..." } else { "" }
        ));
    }
    database
}

enum Entry {
    Unit(UnitCommand),
    NotC(String),
}

/// Understands one entry. An error names the file, if known, and says what is wrong.
fn read_entry(entry: &Value, base: &Path) -> Result<Entry, (Option<String>, String)> {
    let Value::Object(entry) = entry else { return Err((None, "is not an object".to_owned())) };
    let file =
        text(entry, "file").map_err(|e| (None, e))?.ok_or((None, "has no file".to_owned()))?;
    let wrong = |reason: String| (Some(file.to_owned()), reason);
    let directory = text(entry, "directory").map_err(wrong)?;
    let directory = base.join(directory.unwrap_or("."));
    let words = words(entry).map_err(wrong)?;
    let words = expand_response_files(words, &directory);
    let words = skip_launchers(&words);
    let (compiler, args) =
        words.split_first().ok_or_else(|| wrong("its command is empty".to_owned()))?;
    let invocation = Invocation::parse(args);
    // The source in the command is authoritative for its language; `file` names it.
    let position = source_position(&invocation, file, &directory);
    let language = match position {
        Some(position) => invocation.sources[position].1,
        None => Language::of_path(file).unwrap_or(Language::Other),
    };
    if !language.is_c() {
        return Ok(Entry::NotC(file.to_owned()));
    }
    if !directory.is_dir() {
        return Err(wrong(format!("its directory {} does not exist", directory.display())));
    }
    if !directory.join(file).is_file() {
        return Err(wrong("the file does not exist; was it generated and removed?".to_owned()));
    }
    let object = match text(entry, "output").map_err(wrong)? {
        Some(output) => Some(output.to_owned()),
        None => position.and_then(|position| invocation.object_of(position)),
    };
    let mut flags = invocation.flags;
    add_target(compiler, &mut flags.preprocess);
    add_target(compiler, &mut flags.compile);
    Ok(Entry::Unit(UnitCommand {
        source: file.to_owned(),
        language,
        flags,
        object: object.map(|object| directory.join(object)),
        directory,
    }))
}

fn text<'a>(entry: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match entry.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("its '{name}' is not a string")),
    }
}

/// The words of the command: `arguments` if there, else `command`.
fn words(entry: &Map<String, Value>) -> Result<Vec<String>, String> {
    match entry.get("arguments") {
        Some(Value::Array(arguments)) => arguments
            .iter()
            .map(|a| a.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| "its 'arguments' are not all strings".to_owned()),
        Some(Value::Null) | None => match text(entry, "command")? {
            Some(command) => Ok(split(command, Quoting::Shell)),
            None => Err("has neither 'arguments' nor 'command'".to_owned()),
        },
        Some(_) => Err("its 'arguments' are not a list".to_owned()),
    }
}

/// Drops `ccache` and the like in front of the compiler.
pub(crate) fn skip_launchers(words: &[String]) -> &[String] {
    let mut words = words;
    while let [first, rest @ ..] = words
        && tool(first) == Some(Tool::Launcher)
        && rest.first().is_some_and(|next| tool(next).is_some())
    {
        words = rest;
    }
    words
}

fn source_position(invocation: &Invocation, file: &str, directory: &Path) -> Option<usize> {
    let wanted = normal(&directory.join(file));
    let is_it = |name: &str| name == file || normal(&directory.join(name)) == wanted;
    invocation.sources.iter().position(|(name, _)| is_it(name))
}

/// The path without `.` and with `a/..` taken out, without asking the file system.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                if !result.pop() {
                    result.push("..");
                }
            }
            part => result.push(part),
        }
    }
    result
}

/// A cross compiler's target, which clang must be told.
pub(crate) fn add_target(compiler: &str, flags: &mut Vec<String>) {
    if let Some(Tool::Compiler { triple: Some(triple), .. }) = tool(compiler)
        && !flags.iter().any(|flag| flag.starts_with("--target=") || flag == "-target")
        && !is_native(&triple)
    {
        flags.insert(0, format!("--target={triple}"));
    }
}

fn is_native(triple: &str) -> bool {
    triple.split('-').next() == Some(std::env::consts::ARCH) && triple.contains("linux")
}

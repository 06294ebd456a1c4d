//! A compiler driver: compiles, links, or both.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::Cancel;

use super::run::run_real;
use super::{Job, link};
use crate::clang::Clang;
use crate::command::name::{DriverLanguage, Tool};
use crate::command::{Invocation, Language, Stage};
use crate::database::add_target;
use crate::deps::Files;
use crate::error::UnitFailure;
use crate::preprocess::{UnitCommand, Workshop, preprocess, preprocess_input};
use crate::probe::is_probe_source;
use crate::record::{Compile, Outcome, Record, hash_file};

/// A preprocessor that works longer than this is stopped; the unit is tried again later.
const TIME_LIMIT: Duration = Duration::from_secs(120);

pub(super) fn run(job: &Job) -> i32 {
    let mut invocation = Invocation::parse(&job.words);
    if let Tool::Compiler { language: DriverLanguage::Cplusplus, .. } = job.tool {
        for (_, language) in &mut invocation.sources {
            if language.is_c() {
                *language = Language::Other;
            }
        }
    }
    let has_input = !invocation.sources.is_empty() || !invocation.link.is_empty();
    let is_probe = |source: &str| is_probe_source(&job.directory.join(source), &job.root);
    let is_probe = invocation.sources.iter().any(|(source, _)| is_probe(source));
    if invocation.stage == Stage::Nothing || !has_input || is_probe {
        return job.become_real();
    }
    let input = invocation.sources.iter().any(|(source, _)| source == "-").then(|| {
        let mut input = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut input);
        input
    });
    if let Err(status) = run_real(job, input.as_deref()) {
        return status;
    }
    let mut record =
        Record { compiles: compiles(job, &invocation, input.as_deref()), ..Record::default() };
    if invocation.stage == Stage::Link {
        record.products.extend(link::product(job, &invocation));
    }
    job.note(&record);
    0
}

fn compiles(job: &Job, invocation: &Invocation, input: Option<&[u8]>) -> Vec<Compile> {
    if invocation.sources.is_empty() {
        return Vec::new();
    }
    let store = Arc::new(job.folder.store());
    let clang = Clang::at(&job.folder.clang()).or_else(|_| Clang::find());
    let (files, cancel) = (Files::default(), Cancel::new());
    let mut compiles = Vec::new();
    for (index, (source, language)) in invocation.sources.iter().enumerate() {
        let object = invocation.object_of(index).map(|object| job.directory.join(object));
        let mut flags = invocation.flags.clone();
        add_target(&job.compiler, &mut flags.preprocess);
        add_target(&job.compiler, &mut flags.compile);
        let command = UnitCommand {
            directory: job.directory.clone(),
            source: source.clone(),
            language: *language,
            flags,
            object,
        };
        let outcome = match &clang {
            _ if !language.is_c() => Outcome::Foreign(hash_file(&command.source_path())),
            Err(error) => Outcome::Failed { reason: error.to_string(), details: Vec::new() },
            Ok(clang) => {
                let shop = Workshop {
                    clang,
                    cache: &store,
                    files: &files,
                    cancel: &cancel,
                    time_limit: TIME_LIMIT,
                };
                unit(&shop, &command, input)
            }
        };
        let object = command.object.as_deref().and_then(hash_file);
        compiles.push(Compile { command, object, outcome });
    }
    compiles
}

fn unit(shop: &Workshop, command: &UnitCommand, input: Option<&[u8]>) -> Outcome {
    let result = match input {
        Some(input) if command.source == "-" => preprocess_input(shop, command, input),
        _ => preprocess(shop, command),
    };
    let full = || UnitFailure::new("", "its text could not be stored: is the disk full?");
    // A text that is only in our memory is lost with us.
    let stored = result.and_then(|unit| match unit.text {
        crate::Text::Stored { .. } => Ok(unit),
        crate::Text::Memory(_) => Err(full()),
    });
    match stored {
        Ok(unit) => Outcome::Preprocessed(unit.manifest),
        Err(failure) => Outcome::Failed { reason: failure.reason, details: failure.details },
    }
}

/// Compiles one source of a command that compiles and links, with the user's own
/// compiler and flags, to learn which symbols its object defines and needs.
pub(super) fn object_for_symbols(job: &Job, source: &str, object: &Path) -> bool {
    use crate::command::flags::{Role, role};
    let mut args = Vec::new();
    let mut words = job.words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            continue;
        }
        let (role, takes_next) = role(word);
        let argument = if takes_next { words.next() } else { None };
        let makes_files = ["-M", "-save-temps", "--save-temps", "-flto", "-fdump", "-Wl,"];
        let unwanted = makes_files.iter().any(|prefix| word.starts_with(prefix))
            || matches!(role, Role::Link | Role::ForLinker | Role::Output);
        if !unwanted {
            args.push(word.clone());
            args.extend(argument.cloned());
        }
    }
    let Ok(mut compiler) = base::child::command(&job.real) else { return false };
    // Behind a launcher the compiler is the next word.
    if crate::command::name::tool(&job.real.to_string_lossy()) == Some(Tool::Launcher) {
        compiler.arg(&job.compiler);
    }
    super::clean_environment(&mut compiler, &job.folder);
    compiler.args(args).arg("-c").arg("-o").arg(object).arg(source);
    let limits = base::child::Limits::of_processor_time(TIME_LIMIT);
    let done = base::child::run(compiler, b"", &limits, &Cancel::new());
    done.is_ok_and(|done| done.ending.success())
}

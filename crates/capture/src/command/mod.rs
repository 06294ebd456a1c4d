//! Understanding a compiler's command line: which files it compiles, in which
//! language, with what meaning, and what it links.

pub mod flags;
pub mod name;
pub mod native;
pub mod words;

use std::path::Path;

use serde::{Deserialize, Serialize};

use flags::{Role, role};

/// What a source file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    C,
    /// Already preprocessed C (`.i`).
    PreprocessedC,
    Assembler,
    /// C++, Objective-C, Fortran and all else a compiler driver takes.
    Other,
}

impl Language {
    /// By file name, as gcc and clang do. `None`: an object, archive or script for the linker.
    pub fn of_path(path: &str) -> Option<Self> {
        let extension = Path::new(path).extension()?.to_str()?;
        match extension {
            "c" => Some(Language::C),
            "i" => Some(Language::PreprocessedC),
            "s" | "S" | "sx" | "asm" => Some(Language::Assembler),
            "C" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "ii" | "h" | "hh" | "hpp" | "H"
            | "m" | "mi" | "mm" | "M" | "mii" | "f" | "F" | "f77" | "f90" | "F90" | "f95"
            | "f03" | "f08" | "for" | "d" | "go" | "adb" | "ads" | "cu" => Some(Language::Other),
            _ => None,
        }
    }

    /// By the name given to `-x`; `none` returns to file names.
    fn of_name(name: &str) -> Option<Self> {
        match name {
            "c" => Some(Language::C),
            "cpp-output" | "c-cpp-output" => Some(Language::PreprocessedC),
            "assembler" | "assembler-with-cpp" => Some(Language::Assembler),
            "none" => None,
            _ => Some(Language::Other),
        }
    }

    pub fn is_c(self) -> bool {
        matches!(self, Language::C | Language::PreprocessedC)
    }
}

/// The flags of a command, cleaned of what does not change the meaning of the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// For preprocessing the source. Holds those of `compile` as well, in order.
    pub preprocess: Vec<String>,
    /// For compiling the preprocessed text.
    pub compile: Vec<String>,
    /// Left out: what they do is not known.
    #[serde(default)]
    pub unknown: Vec<String>,
}

/// One thing on the way to the linker, in command-line order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkWord {
    /// The object made from `sources[index]` of the same command.
    Source(usize),
    /// A word as the linker would get it.
    Word(String),
}

/// How far the command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Asks about the compiler, or stops before there is an object.
    Nothing,
    /// Assembler text, which may be assembled and linked later.
    Assembler,
    Object,
    Link,
}

/// A compiler command, understood.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub stage: Stage,
    /// Sources in order, as written; `-` is standard input.
    pub sources: Vec<(String, Language)>,
    pub flags: Flags,
    pub output: Option<String>,
    pub link: Vec<LinkWord>,
}

impl Invocation {
    /// Reads the arguments after the compiler's name. Response files must have been
    /// expanded before.
    pub fn parse(args: &[String]) -> Self {
        let mut reader = Reader {
            result: Invocation {
                stage: Stage::Link,
                sources: Vec::new(),
                flags: Flags::default(),
                output: None,
                link: Vec::new(),
            },
            language: None,
            stop: None,
        };
        let mut words = args.iter();
        let mut only_files = false;
        while let Some(word) = words.next() {
            if only_files || !word.starts_with('-') || word == "-" {
                reader.file(word);
            } else if word == "--" {
                only_files = true;
            } else {
                let (role, takes_next) = role(word);
                let argument = if takes_next { words.next().map(String::as_str) } else { None };
                reader.option(word, role, argument);
            }
        }
        reader.result.stage = reader.stop.unwrap_or(Stage::Link);
        reader.result
    }

    /// The object file of the source at `index`, where the command keeps one.
    pub fn object_of(&self, index: usize) -> Option<String> {
        match (&self.output, self.stage) {
            (_, Stage::Nothing | Stage::Link) => None,
            (Some(output), Stage::Assembler | Stage::Object) => Some(output.clone()),
            (None, stage) => {
                let stem = Path::new(&self.sources.get(index)?.0).file_stem()?;
                let extension = if stage == Stage::Object { "o" } else { "s" };
                Some(format!("{}.{extension}", stem.to_str()?))
            }
        }
    }
}

struct Reader {
    result: Invocation,
    /// Set by `-x`, for the files after it.
    language: Option<Language>,
    stop: Option<Stage>,
}

impl Reader {
    fn file(&mut self, word: &str) {
        match self.language.or_else(|| Language::of_path(word)) {
            Some(language) => {
                self.result.link.push(LinkWord::Source(self.result.sources.len()));
                self.result.sources.push((word.to_owned(), language));
            }
            None => self.result.link.push(LinkWord::Word(word.to_owned())),
        }
    }

    fn option(&mut self, word: &str, role: Role, argument: Option<&str>) {
        let value = || {
            // The name of a joined option is two characters for those asked here; long ones
            // have an equals sign.
            let joined = || match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => value,
                _ => word.get(2..).unwrap_or_default(),
            };
            argument.unwrap_or_else(joined)
        };
        let flags = &mut self.result.flags;
        let words = || std::iter::once(word).chain(argument).map(str::to_owned);
        match role {
            Role::Dropped => {
                if let Some(list) = word.strip_prefix("-Wp,") {
                    let parts: Vec<&str> = list.split(',').collect();
                    self.preprocessor_words(&parts);
                }
            }
            Role::Unknown => flags.unknown.push(word.to_owned()),
            Role::Preprocess => flags.preprocess.extend(words()),
            Role::Compile => {
                flags.preprocess.extend(words());
                flags.compile.extend(words());
            }
            Role::CompileAndLink => {
                flags.preprocess.extend(words());
                flags.compile.extend(words());
                self.result.link.extend(words().map(LinkWord::Word));
            }
            Role::Link => match word.strip_prefix("-Wl,") {
                Some(list) => {
                    let words = list.split(',').map(|w| LinkWord::Word(w.to_owned()));
                    self.result.link.extend(words);
                }
                None => self.result.link.extend(words().map(LinkWord::Word)),
            },
            Role::Output => self.result.output = Some(value().to_owned()),
            Role::Language => self.language = Language::of_name(value()),
            Role::StopAtObject => self.stop_at(Stage::Object),
            Role::StopAtAssembler => self.stop_at(Stage::Assembler),
            Role::StopEarlier | Role::Query => self.stop_at(Stage::Nothing),
            Role::ForPreprocessor => self.preprocessor_words(argument.as_slice()),
            Role::ForLinker => {
                let word = argument.map(|w| LinkWord::Word(w.to_owned()));
                self.result.link.extend(word);
            }
        }
    }

    /// Words the driver hands to its preprocessor: definitions and include folders
    /// matter, the rest are dependency files and the like.
    fn preprocessor_words(&mut self, words: &[&str]) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (role, takes_next) = role(word);
            let argument = if takes_next { words.next() } else { None };
            // `-Wp,-MD,FILE`: what follows without a dash belongs to the option before.
            if role == Role::Preprocess {
                let words = std::iter::once(word).chain(argument).map(|w| (*w).to_owned());
                self.result.flags.preprocess.extend(words);
            }
        }
    }

    fn stop_at(&mut self, stage: Stage) {
        // The earliest stop wins: `-S -c` stops at assembler text.
        self.stop = Some(self.stop.map_or(stage, |stop| stop.min(stage)));
    }
}

#[cfg(test)]
mod tests;

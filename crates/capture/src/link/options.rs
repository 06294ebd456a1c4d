//! Reading a linker's command line.

use std::path::{Path, PathBuf};

use crate::command::LinkWord;

/// What kind of file a link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum LinkKind {
    Executable,
    Shared,
    /// `ld -r`: an object made of objects.
    Relocatable,
}

/// One thing on the command line that brings in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkItem {
    /// The object of a source compiled by the same command.
    Source(usize),
    File {
        path: PathBuf,
        whole: bool,
    },
    /// Archives up to the matching end are searched again and again.
    GroupStart,
    GroupEnd,
}

/// A link, understood.
#[derive(Clone, Debug)]
pub struct Link {
    pub kind: LinkKind,
    /// Set where the words themselves said `-o` (a linker called directly).
    pub output: Option<String>,
    pub items: Vec<LinkItem>,
    /// Symbols that are wanted from the start (`-u`, the entry).
    pub wanted: Vec<String>,
    /// `--wrap`: references to `f` become `__wrap_f`, to `__real_f` become `f`.
    pub wrapped: Vec<String>,
    /// lld and mold search all archives whatever their place.
    pub any_order: bool,
}

/// Options followed by an argument that brings in no code. Written without dashes.
const SKIPPED: &[&str] = &[
    "m",
    "z",
    "h",
    "y",
    "Y",
    "a",
    "A",
    "b",
    "c",
    "F",
    "f",
    "G",
    "I",
    "R",
    "T",
    "soname",
    "rpath",
    "rpath-link",
    "Map",
    "plugin",
    "plugin-opt",
    "dynamic-linker",
    "format",
    "oformat",
    "init",
    "fini",
    "assert",
    "version-script",
    "dynamic-list",
    "sort-section",
    "hash-style",
    "Tbss",
    "Tdata",
    "Ttext",
    "Ttext-segment",
    "section-start",
    "exclude-libs",
    "just-symbols",
    "dependency-file",
    "out-implib",
    "filter",
    "auxiliary",
    "script",
    "default-script",
    "trace-symbol",
    "retain-symbols-file",
    "isysroot",
    "sysroot",
    "target",
    "arch",
    "framework",
    "image-base",
    "stats-file",
    "reproduce",
    "threads",
    "thinlto-cache-dir",
    "mllvm",
];

impl Link {
    /// Reads the words a linker would get. `directory` is where it runs.
    pub fn parse(words: &[LinkWord], directory: &Path) -> Self {
        let mut reader = Reader {
            link: Link {
                kind: LinkKind::Executable,
                output: None,
                items: Vec::new(),
                wanted: Vec::new(),
                wrapped: Vec::new(),
                any_order: false,
            },
            directory,
            folders: Vec::new(),
            pending: Vec::new(),
            whole: false,
            dynamic: true,
            has_entry: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word {
                LinkWord::Source(index) => {
                    reader.pending.push(Pending::Item(LinkItem::Source(*index)));
                }
                LinkWord::Word(word) => reader.word(word, &mut || match words.next() {
                    Some(LinkWord::Word(word)) => Some(word.clone()),
                    _ => None,
                }),
            }
        }
        reader.finish()
    }
}

enum Pending {
    Item(LinkItem),
    /// Libraries are looked up at the end: `-L` holds for those before it as well.
    Library {
        name: String,
        whole: bool,
        dynamic: bool,
    },
}

struct Reader<'a> {
    link: Link,
    directory: &'a Path,
    folders: Vec<PathBuf>,
    pending: Vec<Pending>,
    whole: bool,
    dynamic: bool,
    has_entry: bool,
}

impl Reader<'_> {
    fn word(&mut self, word: &str, next: &mut dyn FnMut() -> Option<String>) {
        let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
            let path = self.directory.join(word);
            self.pending.push(Pending::Item(LinkItem::File { path, whole: self.whole }));
            return;
        };
        let option = option.strip_prefix('-').unwrap_or(option);
        let (name, joined) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let mut value = || joined.clone().or_else(&mut *next);
        match name {
            "o" | "output" => self.link.output = value(),
            "r" | "relocatable" | "i" | "Ur" => self.link.kind = LinkKind::Relocatable,
            "shared" | "Bshareable" => self.link.kind = LinkKind::Shared,
            "static" | "Bstatic" | "dn" | "non_shared" => self.dynamic = false,
            "Bdynamic" | "dy" | "call_shared" => self.dynamic = true,
            "whole-archive" => self.whole = true,
            "no-whole-archive" => self.whole = false,
            "start-group" | "(" | "start-lib" => {
                self.pending.push(Pending::Item(LinkItem::GroupStart));
            }
            "end-group" | ")" | "end-lib" => self.pending.push(Pending::Item(LinkItem::GroupEnd)),
            "u" | "undefined" | "require-defined" => self.link.wanted.extend(value()),
            "e" | "entry" => {
                self.has_entry = true;
                self.link.wanted.extend(value());
            }
            "wrap" => self.link.wrapped.extend(value()),
            "defsym" => {
                value();
            }
            "L" | "library-path" => {
                let folder = value().map(|folder| self.directory.join(folder));
                self.folders.extend(folder);
            }
            "l" | "library" => {
                if let Some(name) = value() {
                    self.library(&name);
                }
            }
            "fuse-ld" => self.link.any_order = value().is_some_and(|ld| is_any_order(&ld)),
            _ if joined.is_none() && SKIPPED.contains(&name) => {
                value();
            }
            _ => self.joined(word),
        }
    }

    /// Options with a single dash and their value joined on.
    fn joined(&mut self, word: &str) {
        if let Some(folder) = word.strip_prefix("-L") {
            self.folders.push(self.directory.join(folder));
        } else if let Some(name) = word.strip_prefix("-l") {
            self.library(name);
        } else if let Some(symbol) = word.strip_prefix("-u") {
            self.link.wanted.push(symbol.to_owned());
        } else if let Some(output) = word.strip_prefix("-o") {
            self.link.output = Some(output.to_owned());
        }
    }

    fn library(&mut self, name: &str) {
        let (name, whole, dynamic) = (name.to_owned(), self.whole, self.dynamic);
        self.pending.push(Pending::Library { name, whole, dynamic });
    }

    fn finish(mut self) -> Link {
        for item in std::mem::take(&mut self.pending) {
            match item {
                Pending::Item(item) => self.link.items.push(item),
                Pending::Library { name, whole, dynamic } => {
                    if let Some(path) = find_library(&name, &self.folders, dynamic) {
                        self.link.items.push(LinkItem::File { path, whole });
                    }
                }
            }
        }
        // What the start-up code refers to, unless it has another entry.
        if self.link.kind == LinkKind::Executable && !self.has_entry {
            self.link.wanted.extend(["main".to_owned(), "_start".to_owned()]);
        }
        self.link
    }
}

/// Whether a linker of this name searches archives in any order.
pub fn is_any_order(linker: &str) -> bool {
    linker.contains("lld") || linker.contains("mold")
}

/// The file that `-lNAME` means, in the given folders and those of the system.
pub fn find_library(name: &str, folders: &[PathBuf], dynamic: bool) -> Option<PathBuf> {
    let arch = std::env::consts::ARCH;
    let multiarch = PathBuf::from(format!("/usr/lib/{arch}-linux-gnu"));
    let system = [multiarch, "/usr/local/lib".into(), "/usr/lib".into(), "/lib".into()];
    let names = match name.strip_prefix(':') {
        Some(file) => vec![file.to_owned()],
        None if dynamic => vec![format!("lib{name}.so"), format!("lib{name}.a")],
        None => vec![format!("lib{name}.a")],
    };
    let folders = folders.iter().chain(&system);
    folders.flat_map(|folder| names.iter().map(|n| folder.join(n))).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Link {
        let words: Vec<_> = line.split(' ').map(|w| LinkWord::Word(w.to_owned())).collect();
        Link::parse(&words, Path::new("/d"))
    }

    fn file(name: &str, whole: bool) -> LinkItem {
        LinkItem::File { path: Path::new("/d").join(name), whole }
    }

    #[test]
    fn what_brings_in_code_is_kept_in_order() {
        let link = parse(
            "-m elf_x86_64 -o out a.o --start-group x.a y.a --end-group -z now \
             --whole-archive w.a --no-whole-archive -soname libq.so -rpath /r b.o",
        );
        assert_eq!(link.output.as_deref(), Some("out"));
        assert_eq!(
            link.items,
            [
                file("a.o", false),
                LinkItem::GroupStart,
                file("x.a", false),
                file("y.a", false),
                LinkItem::GroupEnd,
                file("w.a", true),
                file("b.o", false)
            ]
        );
        assert_eq!(link.wanted, ["main", "_start"]);
    }

    #[test]
    fn kinds_and_symbols() {
        assert_eq!(parse("-r a.o").kind, LinkKind::Relocatable);
        let link = parse("-shared -u one --undefined=two -e go --wrap=f a.o");
        assert_eq!(link.kind, LinkKind::Shared);
        assert_eq!(link.wanted, ["one", "two", "go"]);
        assert_eq!(link.wrapped, ["f"]);
        assert!(parse("-fuse-ld=lld a.o").any_order);
        assert!(!parse("-fuse-ld=gold a.o").any_order);
    }

    #[test]
    fn libraries_are_found_shared_first() {
        let dir = tempfile::tempdir().expect("temp folder");
        for name in ["libq.a", "libq.so", "libonly.a"] {
            std::fs::write(dir.path().join(name), "").expect("writable");
        }
        let folders = [dir.path().to_owned()];
        let name = |n, dynamic| {
            let path = find_library(n, &folders, dynamic)?;
            Some(path.file_name()?.display().to_string())
        };
        assert_eq!(name("q", true).as_deref(), Some("libq.so"));
        assert_eq!(name("q", false).as_deref(), Some("libq.a"));
        assert_eq!(name("only", true).as_deref(), Some("libonly.a"));
        assert_eq!(name(":libq.a", true).as_deref(), Some("libq.a"));
        assert_eq!(name("no-such-library-anywhere", true), None);
    }
}

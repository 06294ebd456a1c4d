//! What a program is made from: C files, or units that were preprocessed elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One unit of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A C file, compiled with the flags that all files share.
    File(PathBuf),
    /// A C file with flags of its own, compiled in a folder of its own.
    Unit(Unit),
    Preprocessed(Preprocessed),
}

/// A file as its build compiles it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub file: PathBuf,
    pub flags: Vec<String>,
    pub folder: PathBuf,
}

/// What a preprocessor made of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preprocessed {
    pub file: PathBuf,
    /// May hold macro definitions, which are passed over.
    pub text: Arc<Vec<u8>>,
    pub flags: Vec<String>,
    /// Where it is compiled: relative paths in `text` start here.
    pub folder: PathBuf,
}

impl Source {
    pub fn file(&self) -> &Path {
        match self {
            Source::File(file) => file,
            Source::Unit(unit) => &unit.file,
            Source::Preprocessed(unit) => &unit.file,
        }
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Source::File(file) => file.clone(),
            Source::Unit(unit) => unit.folder.join(&unit.file),
            Source::Preprocessed(unit) => unit.folder.join(&unit.file),
        }
    }

    /// The same unit compiled from its file, with more flags where it has flags of its own.
    pub(crate) fn as_file(&self, more: &[String]) -> Source {
        let (file, flags, folder) = match self {
            Source::File(_) => return self.clone(),
            Source::Unit(unit) => (&unit.file, &unit.flags, &unit.folder),
            Source::Preprocessed(unit) => (&unit.file, &unit.flags, &unit.folder),
        };
        let flags = flags.iter().chain(more).cloned().collect();
        Source::Unit(Unit { file: file.clone(), flags, folder: folder.clone() })
    }
}

/// The text with every line that defines or undefines a macro emptied: they would apply to
/// what is already expanded. Line numbers stay.
pub(crate) fn without_macros(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"#define ") || line.starts_with(b"#undef ") {
            kept.push(b'\n');
        } else {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// Flags for compiling and for linking; what would change the code under our hands
/// (optimisation, sanitizers, coverage, link-time optimisation) is dropped.
pub(crate) fn split_flags(flags: &[String]) -> (Vec<String>, Vec<String>) {
    let dropped = ["-O", "-fsanitize", "-fno-sanitize", "-flto", "-fprofile", "-Werror", "-g"];
    let exact = ["--coverage", "-coverage", "-c", "-S", "-E", "-pg", "-fPIC", "-fPIE", "-pie"];
    let (mut compile, mut link) = (Vec::new(), Vec::new());
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if flag == "-o" {
            flags.next();
        } else if flag == "-l" || flag == "-L" || flag == "-Xlinker" {
            link.push(flag.clone());
            link.extend(flags.next().cloned());
        } else if flag.starts_with("-l") || flag.starts_with("-L") || flag.starts_with("-Wl,") {
            link.push(flag.clone());
        } else if flag == "-pthread" {
            compile.push(flag.clone());
            link.push(flag.clone());
        } else if Path::new(flag).extension().is_some_and(|e| e == "a" || e == "o" || e == "so") {
            link.push(flag.clone());
        } else if !exact.contains(&flag.as_str())
            && !dropped.iter().any(|prefix| flag.starts_with(prefix))
        {
            compile.push(flag.clone());
        }
    }
    (compile, link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_where_they_belong() {
        let flags = ["-DX", "-O2", "-lm", "-L", "lib", "-o", "prog", "-Werror", "-pthread", "z.a"];
        let flags: Vec<String> = flags.iter().map(|s| s.to_string()).collect();
        let (compile, link) = split_flags(&flags);
        assert_eq!(compile, ["-DX", "-pthread"]);
        assert_eq!(link, ["-lm", "-L", "lib", "-pthread", "z.a"]);
    }

    #[test]
    fn macro_definitions_leave_empty_lines() {
        let text = b"# 1 \"a.c\"\n#define A B\nint B;\n#undef A\n#pragma pack(1)\n";
        assert_eq!(without_macros(text), b"# 1 \"a.c\"\n\nint B;\n\n#pragma pack(1)\n");
    }
}

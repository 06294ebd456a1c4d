//! What a program is made from: C files, or units that were preprocessed elsewhere.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capture::command::native::{NativeFlags, native_flags};

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

    /// The same unit compiled from its file.
    pub(crate) fn as_file(&self) -> Source {
        let (file, flags, folder) = match self {
            Source::File(_) => return self.clone(),
            Source::Unit(unit) => (&unit.file, &unit.flags, &unit.folder),
            Source::Preprocessed(unit) => (&unit.file, &unit.flags, &unit.folder),
        };
        Source::Unit(Unit { file: file.clone(), flags: flags.clone(), folder: folder.clone() })
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

/// Flags for compiling and for linking, without what would change the code under our hands
/// (optimisation, sanitizers, coverage) or do anything else.
pub(crate) fn split_flags(flags: &[String]) -> NativeFlags {
    native_flags(flags, &is_object)
}

/// What is neither an object nor an archive, the linker takes for a script.
fn is_object(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = base::read::open_regular(path).and_then(|mut file| file.read(&mut start));
    let archive = start.starts_with(b"!<arch>\n") || start.starts_with(b"!<thin>\n");
    read.is_ok() && (start.starts_with(b"\x7fELF") || archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_definitions_leave_empty_lines() {
        let text = b"# 1 \"a.c\"\n#define A B\nint B;\n#undef A\n#pragma pack(1)\n";
        assert_eq!(without_macros(text), b"# 1 \"a.c\"\n\nint B;\n\n#pragma pack(1)\n");
    }
}

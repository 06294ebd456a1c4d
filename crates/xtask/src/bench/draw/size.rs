//! How much of a package is C: lines of code by language, Debian's own files left out.

use std::path::Path;

use anyhow::{Context, Result};

use crate::bench::code_lines;

/// Lines of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// With headers, unless there is more C++ than C beside them.
    pub c: u64,
    /// In all other languages of programs. Scripts for the shell and for building do not count:
    /// many packages bring tens of thousands of generated lines of them.
    pub other: u64,
}

/// The share of C in percent that makes a package mostly C.
const MIN_C_PERCENT: u64 = 75;

/// Lines of C: large enough to hold something, small enough to be read in.
const LINES: std::ops::RangeInclusive<u64> = 3_000..=80_000;

const CXX: &[&str] = &["C", "H", "cc", "cpp", "cxx", "hh", "hpp", "hxx"];

const OTHER: &[&str] = &[
    "ada", "adb", "ads", "asm", "bas", "cs", "cu", "d", "el", "erl", "f", "f77", "f90", "f95",
    "go", "groovy", "hs", "java", "jl", "js", "kt", "lisp", "lua", "m", "ml", "mli", "mm", "p",
    "pas", "php", "pl", "pm", "py", "pyx", "r", "rb", "rs", "s", "S", "scala", "scm", "swift",
    "tcl", "tk", "ts", "vala", "vb", "vhd", "zig",
];

impl Size {
    pub fn of(tree: &Path) -> Result<Self> {
        let mut lines = Lines::default();
        lines.add(tree, true).with_context(|| format!("cannot read {}", tree.display()))?;
        let Lines { c, cxx, headers, other } = lines;
        Ok(if cxx > c {
            Size { c, other: cxx + headers + other }
        } else {
            Size { c: c + headers, other: cxx + other }
        })
    }

    pub fn is_wanted(&self) -> bool {
        LINES.contains(&self.c) && self.c * 100 >= (self.c + self.other) * MIN_C_PERCENT
    }
}

/// Lines by the endings of files.
#[derive(Default)]
struct Lines {
    c: u64,
    cxx: u64,
    headers: u64,
    other: u64,
}

impl Lines {
    fn add(&mut self, folder: &Path, is_top: bool) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() {
                let is_debian = is_top && name == "debian";
                if !is_debian && !name.starts_with('.') {
                    self.add(&path, false)?;
                }
            } else if kind.is_file() {
                let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
                if ending == "c" {
                    self.c += code_lines::count(&std::fs::read(&path)?);
                } else if ending == "h" {
                    self.headers += code_lines::count(&std::fs::read(&path)?);
                } else if CXX.contains(&ending) {
                    self.cxx += code_lines::count(&std::fs::read(&path)?);
                } else if OTHER.contains(&ending) {
                    self.other += not_blank(&std::fs::read(&path)?);
                }
            }
        }
        Ok(())
    }
}

fn not_blank(text: &[u8]) -> u64 {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter(|line| line.iter().any(|byte| !byte.is_ascii_whitespace())).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_language() {
        let tree = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = tree.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a.c", "int x;\n/* no */\n\nint y;\n");
        write("src/a.h", "int z;\n");
        write("src/b.cpp", "int z;\n\n");
        write("src/c.py", "pass\n\n");
        write("configure", "exit 0\n");
        write("debian/patch.c", "int x;\n");
        write("src/debian/c.c", "int x;\n");
        assert_eq!(Size::of(tree.path()).unwrap(), Size { c: 4, other: 2 });
        write("src/b.cpp", "int a;\nint b;\nint c;\nint d;\n");
        let size = Size::of(tree.path()).unwrap();
        assert_eq!(size, Size { c: 3, other: 6 }, "headers go with C++ where there is more of it");
    }

    #[test]
    fn mostly_c_of_the_right_size_is_wanted() {
        assert!(Size { c: 3_000, other: 1_000 }.is_wanted());
        assert!(!Size { c: 3_000, other: 1_001 }.is_wanted());
        assert!(!Size { c: 2_999, other: 0 }.is_wanted());
        assert!(!Size { c: 80_001, other: 0 }.is_wanted());
        assert!(!Size::default().is_wanted());
    }
}

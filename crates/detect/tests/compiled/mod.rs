//! C files as units of a program, for the tests of this crate.

use std::path::Path;
use std::process::Command;

/// Compiles and imports one file.
pub fn unit(path: &Path) -> Result<program::Program, String> {
    let output = Command::new("clang-19")
        .args(["-E", "-dD"])
        .arg(path)
        .output()
        .map_err(|error| error.to_string())?;
    let unit = capture::provenance::prepare(&output.stdout, &mut |path| std::fs::read(path).ok());
    let (limits, flags): (_, [&str; 0]) = (base::child::Limits::default(), []);
    let bitcode = llvm::compile(&unit.text, &flags, &unit.map, &limits, &base::Cancel::new())
        .map_err(|error| error.to_string())?;
    llvm::import(&bitcode, &unit.map, &path.to_string_lossy()).map_err(|error| error.to_string())
}

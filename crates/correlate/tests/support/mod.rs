//! C files as programs.

use std::path::Path;
use std::process::Command;

use capture::provenance;

pub fn program(path: &Path) -> program::Program {
    let output = Command::new("clang-19").args(["-E", "-dD"]).arg(path).output().expect("clang");
    let unit = provenance::prepare(&output.stdout, provenance::Extent::Needed, &mut |path| {
        std::fs::read(path).ok()
    });
    let limits = base::child::Limits::default();
    let flags: [&str; 0] = [];
    let bitcode = llvm::compile(&unit.text, &flags, &unit.map, &limits, &base::Cancel::new())
        .expect("the example compiles");
    let name = path.to_string_lossy();
    let unit = llvm::import(&bitcode, &unit.map, &name).expect("the example is imported");
    program::link::link(vec![unit]).program
}

//! Finds templates as they are added: every folder of `beliefs/` becomes part of the binary.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let folder = crate_dir.join("../../beliefs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut code = String::from("static BUILTIN: &[Builtin] = &[\n");
    for dir in sorted(&folder)? {
        let (template, doc) = (dir.join("template.toml"), dir.join("doc.md"));
        if template.is_file() {
            println!("cargo::rerun-if-changed={}", template.display());
            println!("cargo::rerun-if-changed={}", doc.display());
            let (template, doc) = (embed(&template), embed(&doc));
            let _ = writeln!(code, "Builtin {{ text: {template}, doc: {doc} }},");
        }
    }
    code.push_str("];\n");
    fs::write(out.join("builtin.rs"), code)
}

fn embed(path: &Path) -> String {
    format!("include_str!({:?})", path.display().to_string())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

//! Finds what is added by adding a file: attributes under `src/attribute/`, and the built-in
//! specifications under `faults/` and `models/`, which become part of the binary.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("attributes.rs"), attributes(&crate_dir.join("src/attribute"))?)?;
    let root = crate_dir.join("../..");
    fs::write(out.join("builtin.rs"), builtin(&root)?)
}

/// One module and one registry entry per file.
fn attributes(dir: &Path) -> io::Result<String> {
    let mut code = String::new();
    let mut names = Vec::new();
    for path in sorted(dir)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == "mod" || path.extension().is_none_or(|e| e != "rs") {
            continue;
        }
        let _ = writeln!(code, "#[path = {:?}]\nmod {name};", path.display().to_string());
        names.push(name);
    }
    let _ = writeln!(code, "/// All attributes, by file name.");
    let _ = writeln!(code, "static ALL: [&dyn Attribute; {}] = [", names.len());
    for name in names {
        let _ = writeln!(code, "    &{name}::Attr,");
    }
    code.push_str("];\n");
    Ok(code)
}

/// The texts of the built-in specifications, by path relative to the repository.
fn builtin(root: &Path) -> io::Result<String> {
    let mut faults = String::new();
    let mut models = String::new();
    for dir in sorted(&root.join("faults"))? {
        let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (spec, doc) = (dir.join("spec.fault"), dir.join("doc.md"));
        if spec.is_file() {
            let (spec, doc) = (embed(&spec), embed(&doc));
            let fixtures = files_below(&dir.join("fixtures"))?;
            let _ = writeln!(
                faults,
                "BuiltinFault {{ id: {id:?}, path: \"faults/{id}/spec.fault\", text: {spec}, \
                 doc: {doc}, fixtures: &[{fixtures}] }},"
            );
        }
    }
    for path in sorted(&root.join("models"))? {
        if path.extension().is_some_and(|e| e == "model") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = embed(&path);
            let _ = writeln!(models, "BuiltinModel {{ path: \"models/{name}\", text: {text} }},");
        }
    }
    Ok(format!(
        "/// `faults/*/spec.fault`.\npub static FAULTS: &[BuiltinFault] = &[\n{faults}];\n\
         /// `models/*.model`.\npub static MODELS: &[BuiltinModel] = &[\n{models}];\n"
    ))
}

/// Names and texts of the files in a folder and one level down.
fn files_below(dir: &Path) -> io::Result<String> {
    let mut files = String::new();
    for path in sorted(dir)? {
        let inner = if path.is_dir() { sorted(&path)? } else { vec![path] };
        for file in inner {
            let name = file.strip_prefix(dir).unwrap_or(&file).display().to_string();
            let _ = write!(files, "({name:?}, {}), ", embed(&file));
        }
    }
    Ok(files)
}

fn embed(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    if path.is_file() {
        format!("include_str!({:?})", path.display().to_string())
    } else {
        "\"\"".to_string()
    }
}

fn sorted(dir: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut paths = Vec::new();
    if dir.is_dir() {
        for entry in fs::read_dir(dir)? {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    Ok(paths)
}

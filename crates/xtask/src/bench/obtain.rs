//! Brings a corpus into the scratch folder: the crate through cargo, its configure steps, and
//! a `compile_commands.json`. What is there already is used again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::corpora::Recipe;
use super::units::{self, Unit};

/// A corpus that is ready to be compiled.
pub struct Corpus {
    pub name: String,
    /// Where its compiler runs and its `compile_commands.json` lies.
    pub folder: PathBuf,
    pub units: Vec<Unit>,
}

pub fn obtain(recipe: &Recipe, scratch: &Path) -> Result<Corpus> {
    let place = scratch.join(&recipe.name);
    let marker = place.join("recipe.json");
    let current = serde_json::to_string_pretty(recipe)?;
    let is_ready = std::fs::read_to_string(&marker).is_ok_and(|done| done == current);
    if !is_ready {
        eprintln!("obtaining {} ({} {})", recipe.name, recipe.package, recipe.version);
        if place.exists() {
            std::fs::remove_dir_all(&place)?;
        }
        vendor(recipe, &place)?;
    }
    let folder = vendored(recipe, &place)?.join(&recipe.root).canonicalize()?;
    if !is_ready {
        configure(recipe, &folder)?;
    }
    let units = units::of(recipe, &folder)?;
    std::fs::write(folder.join("compile_commands.json"), units::database(&units, &folder)?)?;
    std::fs::write(marker, current)?;
    Ok(Corpus { name: recipe.name.clone(), folder, units })
}

/// A cargo project that only depends on the crate, and cargo's own copy of its sources.
fn vendor(recipe: &Recipe, place: &Path) -> Result<()> {
    std::fs::create_dir_all(place).with_context(|| format!("cannot create {}", place.display()))?;
    let manifest = format!(
        "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [lib]\npath = \"lib.rs\"\n[workspace]\n[dependencies]\n{} = \"={}\"\n",
        recipe.package, recipe.version
    );
    std::fs::write(place.join("Cargo.toml"), manifest)?;
    std::fs::write(place.join("lib.rs"), "")?;
    run(&["cargo", "vendor", "--quiet", "--versioned-dirs", "vendor"], place)
}

/// The crate's folder, whose name ends in build metadata that the recipe does not repeat.
fn vendored(recipe: &Recipe, place: &Path) -> Result<PathBuf> {
    let wanted = format!("{}-{}", recipe.package, recipe.version);
    for entry in std::fs::read_dir(place.join("vendor"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == wanted || name.starts_with(&format!("{wanted}+")) {
            return Ok(entry.path());
        }
    }
    bail!("cargo vendor did not bring {wanted}")
}

fn configure(recipe: &Recipe, folder: &Path) -> Result<()> {
    for (path, text) in &recipe.write {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, text)?;
    }
    for step in &recipe.steps {
        let words: Vec<&str> = step.iter().map(String::as_str).collect();
        run(&words, folder)?;
    }
    Ok(())
}

fn run(words: &[&str], folder: &Path) -> Result<()> {
    let (program, args) = words.split_first().context("an empty command")?;
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        let log = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}\n{log}", words.join(" "), output.status);
    }
    Ok(())
}

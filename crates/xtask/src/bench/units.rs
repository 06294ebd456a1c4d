//! The units of a corpus: from globs, or from the commands its own build would run.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use glob::{MatchOptions, Pattern};

use super::corpora::Recipe;

/// A source file and the flags it is compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Relative to the corpus' folder.
    pub file: String,
    pub flags: Vec<String>,
}

const GLOB: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

pub fn of(recipe: &Recipe, folder: &Path) -> Result<Vec<Unit>> {
    let mut units = match recipe.units_from.as_slice() {
        [] => from_globs(recipe, folder)?,
        command => from_commands(&printed(command, folder)?),
    };
    let except: Vec<Pattern> =
        recipe.except.iter().map(|glob| Pattern::new(glob)).collect::<Result<_, _>>()?;
    units.retain(|unit| !except.iter().any(|p| p.matches_with(&unit.file, GLOB)));
    units.sort_by(|a, b| a.file.cmp(&b.file));
    if units.is_empty() {
        bail!("no units found in {}", folder.display());
    }
    Ok(units)
}

fn from_globs(recipe: &Recipe, folder: &Path) -> Result<Vec<Unit>> {
    let mut files = BTreeSet::new();
    for source in &recipe.sources {
        let pattern = format!("{}/{source}", Pattern::escape(&folder.to_string_lossy()));
        let before = files.len();
        for path in glob::glob_with(&pattern, GLOB)? {
            files.insert(path?.strip_prefix(folder)?.to_string_lossy().into_owned());
        }
        if files.len() == before {
            bail!("nothing matches {source} in {}", folder.display());
        }
    }
    Ok(files.into_iter().map(|file| Unit { file, flags: recipe.flags.clone() }).collect())
}

fn printed(command: &[String], folder: &Path) -> Result<String> {
    let (program, args) = command.split_first().context("an empty command")?;
    let output = Command::new(program).args(args).current_dir(folder).output()?;
    if !output.status.success() {
        bail!("{}: {}", command.join(" "), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Units out of lines like `gcc -I. -O3 -MMD -MF x.d -c -o x.o x.c`.
fn from_commands(text: &str) -> Vec<Unit> {
    let joined = text.replace("\\\n", " ");
    joined.lines().filter_map(|line| unit_of(&shlex::split(line)?)).collect()
}

fn unit_of(words: &[String]) -> Option<Unit> {
    let (compiler, words) = words.split_first()?;
    if !matches!(compiler.as_str(), "cc" | "gcc" | "clang") || !words.iter().any(|w| w == "-c") {
        return None;
    }
    let mut flags = Vec::new();
    let mut file = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "-MF" | "-MT" => drop(words.next()),
            "-c" | "-MMD" => {}
            source if source.ends_with(".c") => file = Some(source.to_owned()),
            flag => flags.push(flag.to_owned()),
        }
    }
    Some(Unit { file: file?, flags })
}

/// The compilation database of the units.
pub fn database(units: &[Unit], folder: &Path) -> Result<String> {
    let entries: Vec<serde_json::Value> = units
        .iter()
        .map(|unit| {
            let mut arguments = vec!["cc".to_owned()];
            arguments.extend(unit.flags.iter().cloned());
            arguments.extend(["-c".to_owned(), unit.file.clone()]);
            serde_json::json!({
                "directory": folder.to_string_lossy(), "file": unit.file, "arguments": arguments,
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&entries)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_commands_become_units() {
        let text = "echo start\n\
                    gcc -I. -DDIR=\"\\\"/x\\\"\" -MMD -MF a.d \\\n -MT a.o -c -o a.o a.c\n\
                    ar rcs lib.a a.o\n\
                    gcc -o prog a.o\n\
                    gcc -c asm.S\n";
        let flags = vec!["-I.".to_owned(), "-DDIR=\"/x\"".to_owned()];
        assert_eq!(from_commands(text), [Unit { file: "a.c".to_owned(), flags }]);
    }
}

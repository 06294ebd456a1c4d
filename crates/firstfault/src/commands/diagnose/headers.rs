//! Macros of the program's own headers, which are not changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Headers that are looked at.
const MAX_HEADERS: usize = 500;

/// Which of some macros a header defines that the files include by a name in quotes.
pub fn defining(files: &[PathBuf], macros: &BTreeSet<String>) -> Vec<(String, String)> {
    let mut left: Vec<PathBuf> = files.to_vec();
    let mut seen: BTreeSet<PathBuf> = files.iter().cloned().collect();
    let mut macros = macros.clone();
    let mut found = Vec::new();
    while let Some(path) = left.pop().filter(|_| !macros.is_empty()) {
        let Ok(text) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&text);
        for line in text.lines() {
            let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
            let directive = directive.trim_start();
            if let Some(defined) = directive.strip_prefix("define").map(name) {
                let is_new = macros.remove(&defined);
                if is_new && !files.contains(&path) {
                    let shown = path.display().to_string();
                    found.push((defined, shown.trim_start_matches("./").to_owned()));
                }
            } else if let Some(header) = included(directive) {
                let header = path.parent().unwrap_or(Path::new("")).join(header);
                if seen.len() < MAX_HEADERS && seen.insert(header.clone()) {
                    left.push(header);
                }
            }
        }
    }
    found.sort();
    found
}

fn name(rest: &str) -> String {
    let rest = rest.trim_start();
    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn included(directive: &str) -> Option<&str> {
    let rest = directive.strip_prefix("include")?.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(header, _)| header)
}

//! The recipes of `bench/corpora.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    corpus: Vec<Recipe>,
}

/// How to obtain and compile one corpus. `bench/corpora.toml` says what each field means.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub name: String,
    #[serde(rename = "crate")]
    pub package: String,
    pub version: String,
    pub root: String,
    #[serde(default)]
    pub sources: Vec<String>,
    #[serde(default)]
    pub except: Vec<String>,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub write: BTreeMap<String, String>,
    #[serde(default)]
    pub steps: Vec<Vec<String>>,
    #[serde(default)]
    pub units_from: Vec<String>,
}

pub fn load(path: &Path) -> Result<Vec<Recipe>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(file.corpus)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_recipes_can_be_read_and_have_names_of_their_own() {
        let recipes = super::load(&crate::repository().join("bench/corpora.toml")).unwrap();
        let names: std::collections::BTreeSet<_> = recipes.iter().map(|r| &r.name).collect();
        assert_eq!(names.len(), recipes.len());
        for recipe in &recipes {
            assert!(recipe.sources.is_empty() != recipe.units_from.is_empty(), "{}", recipe.name);
        }
    }
}

//! The annotation library: which mistakes are looked for, and their weights.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What ships with firstfault.
const OWN: &str = include_str!("annotations.toml");

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Alternatives of each operator, with their weights.
    #[serde(default)]
    pub operators: BTreeMap<String, BTreeMap<String, u32>>,
    #[serde(default)]
    pub weights: BTreeMap<String, u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error("the annotation library does not parse: {0}")]
    Malformed(String),
    #[error("the annotation library has no kind of mistake called {0}")]
    UnknownKind(String),
}

impl Library {
    /// What ships with firstfault.
    pub fn own() -> Self {
        toml::from_str(OWN).expect("the library that ships with firstfault parses")
    }

    /// The same with what a user's library replaces.
    pub fn with(text: &str) -> Result<Self, LibraryError> {
        let theirs: Library =
            toml::from_str(text).map_err(|error| LibraryError::Malformed(error.to_string()))?;
        let mut library = Self::own();
        if let Some(unknown) = theirs.weights.keys().find(|k| !library.weights.contains_key(*k)) {
            return Err(LibraryError::UnknownKind(unknown.clone()));
        }
        library.operators.extend(theirs.operators);
        library.weights.extend(theirs.weights);
        Ok(library)
    }

    pub fn weight(&self, kind: &str) -> u32 {
        self.weights.get(kind).copied().unwrap_or(0)
    }

    /// Alternatives of an operator, the likeliest first.
    pub fn alternatives(&self, operator: &str) -> Vec<(&str, u32)> {
        let Some(known) = self.operators.get(operator) else { return Vec::new() };
        let mut found: Vec<(&str, u32)> =
            known.iter().map(|(other, weight)| (other.as_str(), *weight)).collect();
        found.sort_by_key(|(other, weight)| (u32::MAX - weight, *other));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_alternative_comes_first() {
        assert_eq!(Library::own().alternatives("<=")[0], ("<", 30));
    }

    #[test]
    fn a_users_library_replaces_what_it_names() {
        let text = "[operators]\n\"<\" = { \">\" = 50 }\n[weights]\nnegation = 1\n";
        let library = Library::with(text).expect("it parses");
        assert_eq!(library.alternatives("<"), [(">", 50)]);
        assert_eq!(library.weight("negation"), 1);
        assert_eq!(library.weight("copy-paste"), Library::own().weight("copy-paste"));
        assert!(matches!(Library::with("[weights]\nx = 1"), Err(LibraryError::UnknownKind(_))));
    }
}

//! The annotation library: which mistakes are looked for, and their weights.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What ships with firstfault.
const OWN: &str = include_str!("annotations.toml");

/// What can stand between or at operands.
const OPERATORS: [&str; 31] = [
    "<=", "<", ">", ">=", "==", "!=", "+", "-", "*", "/", "%", "&&", "||", "&", "|", "^", "<<",
    ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "=", "++", "--",
];

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
    #[error("the annotation library names {0:?}, which is no operator of C that can be exchanged")]
    UnknownOperator(String),
}

impl Library {
    /// What ships with firstfault.
    pub fn own() -> Self {
        toml::from_str(OWN).expect("the library that ships with firstfault parses")
    }

    /// The same with what a user's library replaces.
    pub fn with(text: &str) -> Result<Self, LibraryError> {
        let theirs: Library = toml::from_str(text).map_err(|error| malformed(text, &error))?;
        let mut library = Self::own();
        if let Some(unknown) = theirs.weights.keys().find(|k| !library.weights.contains_key(*k)) {
            return Err(LibraryError::UnknownKind(unknown.clone()));
        }
        let named = theirs.operators.iter().flat_map(|(old, new)| new.keys().chain([old]));
        if let Some(unknown) = named.into_iter().find(|name| !OPERATORS.contains(&name.as_str())) {
            return Err(LibraryError::UnknownOperator(unknown.clone()));
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

/// In one line: the parser's own message has a picture below it.
fn malformed(text: &str, error: &toml::de::Error) -> LibraryError {
    let message = error.message().trim().replace('\n', ", ");
    let before = error.span().and_then(|span| text.get(..span.start));
    LibraryError::Malformed(match before {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    })
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

    #[test]
    fn what_is_no_operator_is_named() {
        for (text, name) in [("\"+\" = { \"@\" = 50 }", "@"), ("\"<=>\" = { \"<\" = 3 }", "<=>")] {
            let error = Library::with(&format!("[operators]\n{text}\n")).expect_err("no operator");
            assert!(error.to_string().contains(name), "{error}");
        }
        let own = Library::own();
        let mut named = own.operators.iter().flat_map(|(old, new)| new.keys().chain([old]));
        assert!(named.all(|name| OPERATORS.contains(&name.as_str())));
    }

    #[test]
    fn what_does_not_parse_is_told_in_one_line() {
        let error = Library::with("[weights]\n\n[operators\n").expect_err("a bracket is missing");
        let said = error.to_string();
        assert!(!said.contains('\n') && said.contains("line 3"), "{said}");
    }
}

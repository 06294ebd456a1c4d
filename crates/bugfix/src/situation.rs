//! The situation of a statement from everything that is known of it.

use findings::values::SiteValues;
use findings::{Deviation, Fault};
use syntax::{Source, Statement, tokens};

use crate::scope::Scope;
use crate::{Situation, structure_descriptors, value_descriptors};

/// What the tests showed, or what an analysis of the code found without running it.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub sites: Vec<SiteValues>,
    /// Descriptors of findings at the statement.
    pub found: Situation,
}

/// All descriptors of a statement.
pub fn situation(
    source: &Source,
    scope: &Scope,
    statement: &Statement,
    evidence: &Evidence,
) -> Situation {
    let mut situation = structure_descriptors(source, scope, statement);
    situation.extend(value_descriptors(&evidence.sites));
    situation.extend(evidence.found.iter().cloned());
    situation
}

/// A fault found on a path: its rule, and its error state without the names of the program.
pub fn fault_descriptors(fault: &Fault) -> Situation {
    let mut found = Situation::from([format!("RULE {}", fault.rule)]);
    let state = general_state(&fault.error_state);
    if !state.is_empty() {
        found.insert(format!("STATE {state}"));
    }
    found
}

/// A broken belief: its template.
pub fn deviation_descriptors(deviation: &Deviation) -> Situation {
    Situation::from([format!("BELIEF {}", deviation.template)])
}

/// `Len(a) > Size(a)` is `Len > Size`: properties and relations, whatever they are about.
fn general_state(state: &str) -> String {
    let tokens = tokens(state.as_bytes());
    let mut kept = Vec::new();
    for token in &tokens {
        let is_property = token.text.starts_with(|c: char| c.is_ascii_uppercase());
        let is_relation =
            matches!(token.text.as_str(), "<" | ">" | "<=" | ">=" | "==" | "!=" | "=");
        let is_number = token.text.starts_with(|c: char| c.is_ascii_digit());
        if is_property || is_relation || is_number {
            kept.push(token.text.as_str());
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_states_lose_the_names_of_the_program() {
        assert_eq!(general_state("Len(a) > Size(a)"), "Len > Size");
        assert_eq!(general_state("Value(n) == 0"), "Value == 0");
        assert_eq!(general_state(""), "");
    }
}

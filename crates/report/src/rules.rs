//! What reports say about rules, besides what they found: given by whoever knows the rules.

use findings::{Findings, Severity};

/// A rule of a specification, a belief template, or a kind of result of another command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: String,
    /// What is wrong, in a phrase.
    pub title: String,
    pub severity: Severity,
    pub cwe: Vec<u32>,
    /// What `firstfault explain` prints: Markdown.
    pub doc: String,
}

impl Rule {
    /// The first paragraph of the document, on one line: what the rule finds.
    pub fn summary(&self) -> String {
        let lines = self.doc.lines().map(str::trim);
        let text = lines.skip_while(|line| line.is_empty() || line.starts_with('#'));
        let paragraph: Vec<&str> = text.take_while(|line| !line.is_empty()).collect();
        if paragraph.is_empty() { self.title.clone() } else { paragraph.join(" ") }
    }

    /// A rule that nothing is known of but its name.
    fn unknown(id: &str) -> Self {
        let title = id.replace('-', " ");
        let (severity, cwe) = (Severity::Warning, Vec::new());
        Self { id: id.to_owned(), title, severity, cwe, doc: String::new() }
    }
}

/// Statements `locate` ranks.
pub const STATEMENT: &str = "suspicious-statement";
/// What `crash` finds.
pub const CORRUPTION: &str = "first-corruption";
/// A repair of something that is no fault of the report.
pub const REPAIR: &str = "repair";
/// What `suggest` proposes.
pub const SUGGESTION: &str = "suggestion";

/// Results that come from runs and past fixes, not from rules.
fn of_commands() -> [Rule; 4] {
    let rule = |id: &str, severity, title: &str, doc: &str| Rule {
        id: id.to_owned(),
        title: title.to_owned(),
        severity,
        cwe: Vec::new(),
        doc: format!("# {id}\n\n{doc}\n"),
    };
    [
        rule(
            STATEMENT,
            Severity::Warning,
            "changing what this statement computes makes failing tests pass",
            "A statement that failing tests execute, ranked by how many of them pass when one \
             value it computes is replaced. Look at the first ranks first: the cause of the \
             failure is usually among them.",
        ),
        rule(
            CORRUPTION,
            Severity::Error,
            "memory is first corrupted here",
            "The first point at which a failing run corrupted its memory. Everything that went \
             wrong later, up to the crash, follows from it. Fix this one.",
        ),
        rule(
            REPAIR,
            Severity::Note,
            "a change that removes the failure",
            "A change of the source, found from an error trace, with which the failure no longer \
             happens. What was checked about it is said with it.",
        ),
        rule(
            SUGGESTION,
            Severity::Note,
            "a change that fixed similar faults",
            "What past fixes of statements in the same situation did. It is a suggestion, tried \
             where tests were given.",
        ),
    ]
}

/// The rules a report needs: those that were looked for and those that found something, in
/// the order of their ids.
pub fn of_report(findings: &Findings, known: &[Rule]) -> Vec<Rule> {
    let mut ids: Vec<&str> = findings.rules.iter().map(String::as_str).collect();
    ids.extend(findings.faults.iter().map(|fault| fault.rule.as_str()));
    ids.extend(findings.deviations.iter().map(|deviation| deviation.template.as_str()));
    ids.extend(findings.statements.first().map(|_| STATEMENT));
    ids.extend(findings.corruption.iter().map(|_| CORRUPTION));
    ids.extend(findings.repairs.iter().filter(|r| r.fault.is_none()).map(|_| REPAIR));
    ids.extend(findings.suggestions.first().map(|_| SUGGESTION));
    ids.sort_unstable();
    ids.dedup();
    let own = of_commands();
    let rule = |id: &&str| {
        let found = known.iter().chain(&own).find(|rule| rule.id == **id);
        let mut rule = found.cloned().unwrap_or_else(|| Rule::unknown(id));
        // Imported rules carry their weaknesses with each fault.
        if rule.cwe.is_empty() {
            let of_rule = findings.faults.iter().filter(|fault| fault.rule == **id);
            rule.cwe = of_rule.flat_map(|fault| fault.cwe.iter().copied()).collect();
            rule.cwe.sort_unstable();
            rule.cwe.dedup();
        }
        rule
    };
    ids.iter().map(rule).collect()
}

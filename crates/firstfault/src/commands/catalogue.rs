//! What is known about rules and belief templates, for `rules`, `explain` and reports.

use std::path::Path;

use anyhow::Result;
use beliefs::Template;
use findings::Severity;
use report::rules::Rule;
use spec::Loaded;
use spec::ast::SpecKind;
use spec::discover;

use crate::config;

/// Every rule and template: the built-in ones and those of the project in this folder.
pub fn rules(root: &Path) -> Result<Vec<Rule>> {
    let mut rules = faults(root)?;
    rules.extend(templates());
    Ok(rules)
}

/// Rules of specifications.
pub fn faults(root: &Path) -> Result<Vec<Rule>> {
    let mut all = discover::builtin();
    all.extend(discover::load(&config::load(root)?.spec)?);
    Ok(all.iter().filter(|loaded| loaded.spec.kind == SpecKind::Fault).map(rule).collect())
}

fn rule(loaded: &Loaded) -> Rule {
    let spec = &loaded.spec;
    let own = || std::fs::read_to_string(Path::new(&loaded.path).with_file_name("doc.md"));
    let doc = discover::documentation(&spec.id).map(str::to_owned);
    Rule {
        id: spec.id.clone(),
        title: spec.title.clone().unwrap_or_default(),
        severity: detect::report::severity(spec.severity),
        cwe: spec.cwe.clone(),
        doc: doc.or_else(|| own().ok()).unwrap_or_default(),
    }
}

/// Templates of beliefs.
pub fn templates() -> Vec<Rule> {
    let rule = |template: Template| Rule {
        id: template.id,
        title: template.title,
        severity: Severity::Warning,
        cwe: Vec::new(),
        doc: template.doc,
    };
    Template::builtin().into_iter().map(rule).collect()
}

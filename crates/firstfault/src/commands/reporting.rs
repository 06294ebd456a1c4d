//! From findings to a report: for every command that has one.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use base::Cancel;
use findings::Findings;
use report::output::Target;
use report::sources::Sources;
use report::{Format, Options};
use serde_json::Value;

use super::{Outcome, catalogue, last};
use crate::args::SelectArgs;
use crate::config;
use crate::identity::{self, base_commit, baseline, changes, ignore};

/// What is to be done with findings.
pub struct Reporting<'a> {
    pub target: &'a Target,
    /// Sources are looked for below it.
    pub root: &'a Path,
    pub format: Format,
    pub options: Options,
    /// What `--state` says.
    pub state: Option<&'a Path>,
}

impl Reporting<'_> {
    /// Renders findings of running a program, keeps them for `firstfault report`, and brings
    /// them to their reader. Their paths may be absolute.
    pub fn write(&self, findings: &Findings) -> Result<()> {
        let mut named = below(self.root, findings)?;
        let mut sources = Sources::of(self.root, &named);
        identity::name(&mut named, &mut sources);
        named.keep_mentioned_sources();
        last::keep(self.root, self.state, &named);
        self.render(&named)
    }

    /// Names the findings, leaves out what is not wanted, and writes the rest. `files` are all
    /// that were analysed.
    pub fn finish(
        &self,
        mut findings: Findings,
        select: &SelectArgs,
        files: &BTreeSet<String>,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let mut sources = Sources::of(self.root, &findings);
        identity::name(&mut findings, &mut sources);
        let known = catalogue::rules(self.root)?.into_iter().map(|rule| rule.id).collect();
        ignore::apply(&mut findings, files, &known, &mut sources);
        if let Some(path) = &select.save_baseline {
            baseline::save(&findings, path)?;
        }
        if let Some(path) = select.baseline.clone().or(config::load(self.root)?.baseline) {
            baseline::leave_out(&mut findings, &baseline::read(&path)?, "in_baseline");
        }
        if let Some(commit) = &select.changed_since {
            let changes = changes::since(commit, self.root, cancel)?;
            changes::keep_changed(&mut findings, &changes, &mut sources);
        }
        // The other version is analysed only where there is something to compare.
        if let Some(commit) = &select.diff
            && findings.has_findings()
        {
            let before = base_commit::known(commit, cancel)?;
            baseline::leave_out(&mut findings, &before, "known_before");
        }
        findings.finish();
        findings.keep_mentioned_sources();
        if !cancel.is_cancelled() {
            if !select.forget {
                last::keep(self.root, self.state, &findings);
            }
            self.render(&findings)?;
        }
        Ok(Outcome::of(&findings))
    }

    /// Renders findings without keeping them.
    pub fn render(&self, findings: &Findings) -> Result<()> {
        let options = Options { colour: wants_colour(self.target), ..self.options };
        let rules = match self.format {
            Format::Sarif | Format::Html => catalogue::rules(self.root)?,
            Format::Text | Format::Json | Format::Dot | Format::Svg => Vec::new(),
        };
        let mut sources = Sources::of(self.root, findings);
        let text = report::render(findings, self.format, &mut sources, &rules, options);
        Ok(self.target.write(text.as_bytes())?)
    }
}

/// The findings with paths relative to the folder of the project, where they lie below it.
fn below(root: &Path, findings: &Findings) -> Result<Findings> {
    let Ok(root) = root.canonicalize() else { return Ok(findings.clone()) };
    let mut value = serde_json::to_value(findings)?;
    shorten(&mut value, &root);
    // A measure that is no number does not come back.
    Ok(serde_json::from_value(value).unwrap_or_else(|_| findings.clone()))
}

fn shorten(value: &mut Value, root: &Path) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(file) if name == "file" => {
                        if let Ok(relative) = Path::new(&*file).strip_prefix(root) {
                            *file = relative.to_string_lossy().into_owned();
                        }
                    }
                    _ => shorten(value, root),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, root)),
        _ => {}
    }
}

/// On a terminal, or where `--color` insists; https://no-color.org and its kin are heard.
fn wants_colour(target: &Target) -> bool {
    use anstream::{AutoStream, ColorChoice};
    match target {
        Target::Stdout => AutoStream::choice(&std::io::stdout()) != ColorChoice::Never,
        Target::File(_) => {
            matches!(ColorChoice::global(), ColorChoice::Always | ColorChoice::AlwaysAnsi)
        }
    }
}

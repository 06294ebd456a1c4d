//! Writing a report, for every command that has one.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Result;
use findings::Findings;
use report::output::Target;
use report::sources::Sources;
use report::{Format, Options};

/// Renders the findings and brings them to their reader. Sources are looked for below `root`.
pub fn write(
    target: &Target,
    findings: &Findings,
    root: &Path,
    format: Format,
    options: Options,
) -> Result<()> {
    let to_terminal = *target == Target::Stdout && std::io::stdout().is_terminal();
    // https://no-color.org
    let colour = to_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let options = Options { colour, ..options };
    let text = report::render(findings, format, &mut Sources::new(root), options);
    Ok(target.write(text.as_bytes())?)
}

//! Findings as people and programs read them, and the way they get to a file.
//!
//! One module per format; each turns [`findings::Findings`] into bytes and knows nothing
//! of where they go. [`output`] brings them there whole or not at all.

pub mod diff;
pub mod edits;
pub mod output;
pub mod rules;
pub mod sanitizer;
pub mod sarif;
pub mod sources;
pub mod uri;

mod graph;
mod html;
mod json;
mod text;

use findings::Findings;
use rules::Rule;
use sources::Sources;

/// How findings are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Compiler-style lines with snippets, for people and for editors that jump to places.
    Text,
    /// The contract of the `findings` crate.
    Json,
    /// For code scanning services and editors.
    Sarif,
    /// One file that a browser shows by itself.
    Html,
    /// The correlation graph for Graphviz.
    Dot,
    /// The correlation graph as a picture.
    Svg,
}

/// What may differ between two readers of the same findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Terminal colours; set only where a terminal reads.
    pub colour: bool,
    /// First lines only: no snippets, no paths.
    pub brief: bool,
    /// List what stayed undecided.
    pub dont_knows: bool,
    /// List what functions ask of callers outside the program.
    pub contracts: bool,
    /// The correlation graph instead of the faults, where people read.
    pub graph: bool,
}

/// The report in the given format, ending in a newline. What `rules` do not describe is shown
/// by its name.
pub fn render(
    findings: &Findings,
    format: Format,
    sources: &mut Sources,
    rules: &[Rule],
    options: Options,
) -> String {
    match format {
        Format::Text if options.graph => graph::outline(findings),
        Format::Text => text::render(findings, sources, options),
        Format::Json => json::render(findings),
        Format::Sarif => sarif::render(findings, sources, rules),
        Format::Html => html::render(findings, sources, rules),
        Format::Dot => graph::dot(findings),
        Format::Svg => graph::svg(findings),
    }
}

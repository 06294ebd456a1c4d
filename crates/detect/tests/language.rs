//! The specification language at work: every production of the grammar (Fig 4 of the paper),
//! every special point and the paper's own specifications have their effect on C.
//!
//! A file of `language/` holds its specification in a comment that starts with `/*@ spec`, or
//! has the name of a figure of the `spec` crate, and is otherwise a fixture: what is annotated is
//! reported, and nothing else. The built-in models take part, the built-in faults only where a
//! file has no specification of its own.

mod compiled;

use std::path::Path;

use fixture::{Fixture, RunError};
use rayon::prelude::*;
use spec::ast::SpecKind;
use spec::rules::Rules;

const START: &str = "/*@ spec\n";

/// The specifications of a file: its own, and the figure it is named after.
fn specifications(fixture: &Fixture) -> Vec<String> {
    let figure = fixture.path.file_stem().map(|stem| {
        let figures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/tests/figures");
        figures.join(stem).with_extension("fault")
    });
    let own = fixture.sources[0].text.split(START).skip(1);
    own.filter_map(|part| part.split("*/").next().map(str::to_owned))
        .chain(figure.and_then(|path| std::fs::read_to_string(path).ok()))
        .collect()
}

fn rules(fixture: &Fixture) -> Result<Rules, RunError> {
    let fail = |what: String| RunError::Analysis { path: fixture.path.clone(), what };
    let texts = specifications(fixture);
    let mut specs: Vec<_> = spec::discover::builtin()
        .into_iter()
        .map(|loaded| loaded.spec)
        .filter(|spec| spec.kind == SpecKind::Model || texts.is_empty())
        .collect();
    for text in &texts {
        let (spec, diagnostics) = spec::check::check(text);
        let messages: String = diagnostics.iter().map(|d| d.render("spec", text)).collect();
        if !messages.is_empty() {
            return Err(fail(messages));
        }
        specs.push(spec);
    }
    let mut rules = Rules::new(&specs).map_err(|diagnostics| fail(format!("{diagnostics:?}")))?;
    if fixture.flags.iter().any(|flag| flag == "--assume-alloc-succeeds") {
        rules.assume_alloc_succeeds();
    }
    Ok(rules)
}

fn complaints(fixture: &Fixture) -> Vec<String> {
    let findings = rules(fixture).and_then(|rules| compiled::analyse(fixture, &rules));
    match findings {
        Ok(findings) => {
            fixture::check(fixture, &findings).iter().map(ToString::to_string).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn every_part_of_the_language_has_its_effect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let fixtures = fixture::fixtures_below(&folder).expect("the fixtures can be read");
    assert!(fixtures.len() >= 20, "only {} fixtures", fixtures.len());
    let complaints: Vec<String> = fixtures.par_iter().flat_map(complaints).collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

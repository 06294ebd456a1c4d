//! Links, by a compiler driver or by the linker itself.

use super::Job;
use super::compile::object_for_symbols;
use super::run::run_real;
use crate::command::{Invocation, LinkWord};
use crate::link::object::{LinkerInput, Symbols, read_input};
use crate::link::options::{Link, LinkKind, is_any_order};
use crate::link::resolve;
use crate::record::{Product, ProductKind, Record};

/// Where a linker puts what nobody named.
const DEFAULT_OUTPUT: &str = "a.out";

/// The linker, called directly.
pub(super) fn run(job: &Job) -> i32 {
    let words: Vec<LinkWord> = job.words.iter().cloned().map(LinkWord::Word).collect();
    let mut link = Link::parse(&words, &job.directory);
    if link.items.is_empty() {
        return job.become_real();
    }
    if let Err(status) = run_real(job, None) {
        return status;
    }
    link.any_order |= is_any_order(&job.compiler);
    let output = link.output.clone().unwrap_or_else(|| DEFAULT_OUTPUT.to_owned());
    let product = describe(job, &link, &output, &[]);
    job.note(&Record { products: product.into_iter().collect(), ..Record::default() });
    0
}

/// What a compiler driver linked.
pub(super) fn product(job: &Job, invocation: &Invocation) -> Option<Product> {
    let link = Link::parse(&invocation.link, &job.directory);
    if link.items.is_empty() {
        return None;
    }
    let output = invocation.output.as_deref().unwrap_or(DEFAULT_OUTPUT);
    let sources: Vec<&str> = invocation.sources.iter().map(|(name, _)| name.as_str()).collect();
    describe(job, &link, output, &sources)
}

fn describe(job: &Job, link: &Link, output: &str, sources: &[&str]) -> Option<Product> {
    let output = job.directory.join(output);
    if !output.metadata().ok()?.is_file() {
        return None;
    }
    let mut symbols = |index: usize| symbols_of_source(job, sources.get(index).copied());
    let resolved = resolve(link, &mut symbols);
    let kind = match link.kind {
        LinkKind::Executable => ProductKind::Executable,
        LinkKind::Shared => ProductKind::Shared,
        LinkKind::Relocatable => ProductKind::Object,
    };
    let mut product = Product::of_file(kind, output, resolved.linked)?;
    product.inexact = resolved.inexact;
    Some(product)
}

fn symbols_of_source(job: &Job, source: Option<&str>) -> Symbols {
    let unknown = Symbols { hidden: true, ..Symbols::default() };
    let Some(source) = source.filter(|source| *source != "-") else { return unknown };
    let object = job.folder.temporaries().join(format!("{}-symbols.o", std::process::id()));
    let made = object_for_symbols(job, source, &object);
    let input = if made { read_input(&object) } else { None };
    let _ = std::fs::remove_file(&object);
    match input {
        Some(LinkerInput::Object(object)) => object.symbols,
        _ => unknown,
    }
}

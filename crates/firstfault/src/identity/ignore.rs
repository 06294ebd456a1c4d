//! `firstfault-ignore[rule]: reason` in a comment: beside a line, before it, or before a
//! function for all of it. One that silences nothing is reported: it hides the next fault.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Findings, Notice, Place};
use report::sources::Sources;

use super::outline::Outline;

const MARK: &str = "firstfault-ignore";

/// A comment that silences rules over some lines.
#[derive(Debug, PartialEq, Eq)]
struct Ignore {
    line: u32,
    rules: Vec<String>,
    has_reason: bool,
    /// First and last line it is about.
    scope: (u32, u32),
}

/// Leaves out what comments silence, and adds a notice for each comment that silences
/// nothing. `files` are all that were analysed; `known` are the ids of all rules.
pub fn apply(
    findings: &mut Findings,
    files: &BTreeSet<String>,
    known: &BTreeSet<String>,
    sources: &mut Sources,
) {
    let about = findings.faults.iter().map(|fault| &fault.place.file);
    let about = about.chain(findings.deviations.iter().map(|deviation| &deviation.place.file));
    let files: BTreeSet<String> = files.iter().chain(about).cloned().collect();
    let ignores: BTreeMap<String, Vec<Ignore>> = files
        .into_iter()
        .filter_map(|file| {
            let content = sources.content(&file)?;
            let found = memchr::memmem::find(content, MARK.as_bytes()).map(|_| read(content));
            found.filter(|ignores| !ignores.is_empty()).map(|ignores| (file, ignores))
        })
        .collect();
    let mut used: BTreeSet<(String, u32, String)> = BTreeSet::new();
    let mut silences = |place: &Place, rule: &str| {
        let of_file = ignores.get(&place.file).map_or(&[][..], Vec::as_slice);
        let fits = |ignore: &&Ignore| {
            let (first, last) = ignore.scope;
            ignore.has_reason
                && (first..=last).contains(&place.line)
                && ignore.rules.iter().any(|ignored| ignored == rule)
        };
        let mut fitting = of_file.iter().filter(fits).peekable();
        let is_silenced = fitting.peek().is_some();
        let mark = |ignore: &Ignore| (place.file.clone(), ignore.line, rule.to_owned());
        used.extend(fitting.map(mark));
        is_silenced
    };
    let before = findings.faults.len() + findings.deviations.len();
    findings.retain_faults(|fault| !silences(&fault.place, &fault.rule));
    findings.retain_deviations(|deviation| !silences(&deviation.place, &deviation.template));
    let n_ignored = before - findings.faults.len() - findings.deviations.len();
    if n_ignored > 0 {
        findings.count("ignored", n_ignored as u64);
    }
    let unmatched = notices(&ignores, &used, &findings.rules, known);
    findings.notices.extend(unmatched);
}

fn notices(
    ignores: &BTreeMap<String, Vec<Ignore>>,
    used: &BTreeSet<(String, u32, String)>,
    looked_for: &[String],
    known: &BTreeSet<String>,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    for (file, ignore) in ignores.iter().flat_map(|(file, all)| all.iter().map(move |i| (file, i)))
    {
        let place = Place { file: file.clone(), line: ignore.line, ..Place::default() };
        let mut add = |message: String| {
            notices.push(Notice { place: place.clone(), message });
        };
        if ignore.rules.is_empty() {
            add(format!("{MARK} names no rule: write {MARK}[rule]: reason"));
        } else if !ignore.has_reason {
            add(format!("{MARK} gives no reason and is not followed: write {MARK}[rule]: reason"));
        }
        for rule in ignore.rules.iter().filter(|_| ignore.has_reason) {
            if !known.contains(rule) {
                let near = spec::diagnostic::suggest(rule, known.iter().map(String::as_str));
                let near = near.map(|near| format!("; do you mean {near}?")).unwrap_or_default();
                add(format!("{MARK}[{rule}]: no rule is called that{near}"));
            } else if looked_for.contains(rule)
                && !used.contains(&(file.clone(), ignore.line, rule.clone()))
            {
                add(format!("{MARK}[{rule}] silences nothing: remove it"));
            }
        }
    }
    notices
}

fn read(content: &[u8]) -> Vec<Ignore> {
    let outline = Outline::new(content);
    let mut ignores = Vec::new();
    for (first, comment) in &outline.comments {
        for (line, text) in (*first..).zip(comment.lines()) {
            let Some(at) = text.find(MARK) else { continue };
            let (rules, has_reason) = parse(&text[at + MARK.len()..]);
            let last = first + comment.lines().count() as u32 - 1;
            ignores.push(Ignore { line, rules, has_reason, scope: scope(&outline, *first, last) });
        }
    }
    ignores
}

/// The line of the comment where it has code; else the next one, or the function it begins.
fn scope(outline: &Outline, first: u32, last: u32) -> (u32, u32) {
    if outline.has_code.get(first.saturating_sub(1) as usize) == Some(&true) {
        return (first, last);
    }
    let Some(next) = outline.code_from(last) else { return (first, last) };
    match outline.functions.iter().find(|function| function.first == next) {
        Some(function) => (function.first, function.last),
        None => (next, next),
    }
}

/// `[rule, rule]: reason`, which may go on to the end of the comment.
fn parse(text: &str) -> (Vec<String>, bool) {
    let Some((rules, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return (Vec::new(), false);
    };
    let names = rules.split(',').map(|rule| rule.trim().to_owned());
    let rules = names.filter(|rule| !rule.is_empty()).collect();
    let reason = rest.trim_start().strip_prefix(':').unwrap_or_default();
    (rules, !reason.trim().trim_end_matches("*/").trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int a; // firstfault-ignore[leak]: kept for ever\n\
        /* firstfault-ignore[leak, double-free]: the next line only */\n\
        int b;\n\
        /* Why it is so.\n * firstfault-ignore[null-dereference]: checked by all callers\n */\n\
        int f(int *p)\n{\n  return *p;\n}\n\
        int c; // firstfault-ignore[leak]\n\
        int d; // firstfault-ignore: no rule\n\
        char *s = \"firstfault-ignore[leak]: no comment\";\n";

    #[test]
    fn a_comment_is_about_its_line_the_next_one_or_a_function() {
        let ignores = read(TEXT.as_bytes());
        let scopes: Vec<_> = ignores.iter().map(|ignore| ignore.scope).collect();
        assert_eq!(scopes, [(1, 1), (3, 3), (7, 10), (11, 11), (12, 12)]);
        assert_eq!(ignores[1].rules, ["leak", "double-free"]);
        let reasons: Vec<bool> = ignores.iter().map(|ignore| ignore.has_reason).collect();
        assert_eq!(reasons, [true, true, true, false, false]);
    }
}

//! The assignments and conditions of a trace, as places where the repair program chooses.

use std::ops::Range;

use syntax::{Source, StatementKind};

use crate::Library;
use crate::edits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// The right side of an assignment or initialiser, or a returned value.
    Value,
    /// `i++` and the like, and `x += e`: target and the whole new value as text.
    Update,
    Condition,
}

/// An expression whose value is chosen.
#[derive(Clone, Debug)]
pub struct Site {
    pub file: usize,
    pub bytes: Range<usize>,
    pub kind: SiteKind,
    /// For an update, what is assigned and the value.
    pub update: Option<(String, String)>,
    pub line: u32,
    pub function: String,
    /// Texts and weights of the library's alternatives, where these are used.
    pub alternatives: Vec<(String, u32)>,
    /// The library has alternatives, be it that none can be computed beside the original.
    pub is_known: bool,
    /// The compiler objects to its alternatives.
    pub is_plain: bool,
    pub variable: String,
}

impl Site {
    pub fn is_condition(&self) -> bool {
        self.kind == SiteKind::Condition
    }

    /// 4.2: what the library has alternatives for gets one of them or stays as it is.
    pub fn is_fixed(&self) -> bool {
        self.is_known && self.alternatives.is_empty()
    }
}

/// The sites of statements on the slice.
pub fn find(source: &Source, file: usize, on_slice: &dyn Fn(u32) -> bool) -> Vec<Site> {
    let mut sites = Vec::new();
    for statement in source.statements() {
        let (first, _) = source.position(statement.bytes.start);
        let (last, _) = source.position(statement.bytes.end.saturating_sub(1));
        if !(first..=last).any(on_slice) || source.has_error(&statement.bytes) {
            continue;
        }
        let text = source.slice(&statement.bytes);
        if statement.kind == StatementKind::Declaration && text.trim_start().starts_with("static") {
            continue;
        }
        for e in source.expressions(&statement.bytes) {
            let mut bytes = e.bytes.clone();
            let mut update = None;
            let mut variable = String::new();
            let operator = e.operator.as_ref().map(|o| source.slice(o)).unwrap_or_default();
            let kind = match (e.kind, e.parent) {
                ("assignment_expression", _) if operator == "=" => {
                    let [target, value] = &e.operands[..] else { continue };
                    bytes = value.clone();
                    variable = source.slice(target);
                    SiteKind::Value
                }
                ("assignment_expression", _) => {
                    let [target, value] = &e.operands[..] else { continue };
                    let (target, value) = (source.slice(target), source.slice(value));
                    let sign = operator.trim_end_matches('=');
                    variable = target.clone();
                    update = Some((target.clone(), format!("{target} {sign} ({value})")));
                    SiteKind::Update
                }
                ("update_expression", ("expression_statement" | "for_statement", _)) => {
                    let [target] = &e.operands[..] else { continue };
                    let target = source.slice(target);
                    let sign = if operator == "++" { "+" } else { "-" };
                    variable = target.clone();
                    update = Some((target.clone(), format!("{target} {sign} 1")));
                    SiteKind::Update
                }
                (_, ("init_declarator", Some("value"))) => SiteKind::Value,
                (_, ("return_statement", _)) => SiteKind::Value,
                (_, ("for_statement", Some("condition"))) => SiteKind::Condition,
                (_, ("parenthesized_expression", _))
                    if is_whole_condition(source, &statement.kind, &statement.bytes, &e.bytes) =>
                {
                    SiteKind::Condition
                }
                _ => continue,
            };
            let (line, _) = source.position(bytes.start);
            let function = statement.function.clone();
            let (alternatives, is_known, is_plain) = (Vec::new(), false, false);
            sites.push(Site {
                file,
                bytes,
                kind,
                update,
                line,
                function,
                alternatives,
                is_known,
                is_plain,
                variable,
            });
        }
    }
    sites
}

/// The whole of what an `if` or `while` tests.
fn is_whole_condition(
    source: &Source,
    kind: &StatementKind,
    statement: &Range<usize>,
    bytes: &Range<usize>,
) -> bool {
    let is_test = matches!(kind, StatementKind::If | StatementKind::While | StatementKind::DoWhile);
    let before = source.slice(&(statement.start..bytes.start));
    let after = source.slice(&(bytes.end..statement.end));
    let words = before.trim_end().trim_end_matches('(').trim();
    is_test && matches!(words, "if" | "while" | "") && after.trim() == ")"
}

/// The text of a file with its sites made to choose, and where each went.
pub fn write(
    source: &Source,
    file: usize,
    sites: &mut [Site],
    library: Option<&Library>,
) -> (Vec<u8>, Vec<(usize, Range<usize>)>) {
    if let Some(library) = library {
        add_alternatives(source, file, sites, library);
    }
    let mut order: Vec<usize> = (0..sites.len()).filter(|at| sites[*at].file == file).collect();
    order.sort_by_key(|at| (sites[*at].bytes.start, usize::MAX - sites[*at].bytes.end));
    let first = source.functions().first().map_or(0, |function| function.bytes.start);
    let mut out = source.text()[..first].to_vec();
    out.extend_from_slice(
        b"long long firstfault_choose(int, long long); \
          long long firstfault_pick(int, int, long long, ...); ",
    );
    let mut places = Vec::new();
    let mut at = first;
    for index in order {
        let site = &sites[index];
        // Sites inside others keep their value.
        if site.bytes.start < at {
            continue;
        }
        out.extend_from_slice(&source.text()[at..site.bytes.start]);
        let start = out.len();
        let value = match &site.update {
            Some((_, value)) => value.clone(),
            None => source.slice(&site.bytes),
        };
        let value = value.replace(['\n', '\r'], " ");
        let choice = if site.alternatives.is_empty() {
            format!("firstfault_choose({index}, (long long)({value}))")
        } else {
            let others: Vec<String> =
                site.alternatives.iter().map(|(text, _)| format!("(long long)({text})")).collect();
            let n = others.len();
            format!("firstfault_pick({index}, {n}, (long long)({value}), {})", others.join(", "))
        };
        let text = match (&site.update, site.kind) {
            (Some((target, _)), _) => format!("({target} = (__typeof__({target})){choice})"),
            (None, SiteKind::Condition) => format!("({choice} != 0)")
                .replace(&format!("(long long)({value})"), &format!("(long long)(({value}) != 0)")),
            (None, _) => format!("((__typeof__({value})){choice})"),
        };
        out.extend_from_slice(text.as_bytes());
        places.push((index, start..out.len()));
        at = site.bytes.end;
    }
    out.extend_from_slice(&source.text()[at..]);
    (out, places)
}

/// The library's alternatives of each site that can be computed beside the original: without
/// effects, and defined whatever the values are.
fn add_alternatives(source: &Source, file: usize, sites: &mut [Site], library: &Library) {
    let lines = sites.iter().filter(|site| site.file == file).map(|site| site.line).collect();
    let all = edits::enumerate(source, file, library, &lines);
    for site in sites.iter_mut().filter(|site| site.file == file) {
        site.alternatives.clear();
        for edit in &all {
            let is_inside =
                site.bytes.start <= edit.bytes.start && edit.bytes.end <= site.bytes.end;
            site.is_known |= is_inside;
            if !is_inside || site.is_plain {
                continue;
            }
            let mut text = format!(
                "{}{}{}",
                source.slice(&(site.bytes.start..edit.bytes.start)),
                edit.new,
                source.slice(&(edit.bytes.end..site.bytes.end))
            );
            if let Some((target, value)) = &site.update {
                let Some(updated) = updated(target, value, &text) else { continue };
                text = updated;
            }
            let is_pure = !text.contains(['[', '*', '/', '%', '"', '\n'])
                && !text.contains("->")
                && !text.contains("++")
                && !text.contains("--")
                && !text
                    .replace("==", "")
                    .replace("<=", "")
                    .replace(">=", "")
                    .replace("!=", "")
                    .contains('=');
            if is_pure && site.alternatives.len() < 12 {
                site.alternatives.push((text, edit.weight));
            }
        }
    }
}

/// The value that a change of `i++` or `i += e` gives its target. A change of the target itself
/// is none: what else is updated cannot be chosen beside it.
fn updated(target: &str, value: &str, changed: &str) -> Option<String> {
    let by_one = match () {
        () if changed == format!("{target}++") || changed == format!("++{target}") => Some("+ 1"),
        () if changed == format!("{target}--") || changed == format!("--{target}") => Some("- 1"),
        () => None,
    };
    let new = match by_one {
        Some(by_one) => format!("{target} {by_one}"),
        None => {
            let rest = changed.strip_prefix(target)?.trim_start();
            let (sign, by) = rest.split_once('=')?;
            let sign = sign.trim_end();
            let is_sign = matches!(sign, "" | "+" | "-" | "&" | "|" | "^" | "<<" | ">>");
            match (is_sign, sign.is_empty()) {
                (false, _) => return None,
                (true, true) => by.trim().to_owned(),
                (true, false) => format!("{target} {sign} ({})", by.trim()),
            }
        }
    };
    (new != value).then_some(new)
}

//! What clang's `-verify` reads in comments: `expected-warning@+1 2 {{text}}`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub line: u32,
    /// Another file than the one that holds the directive.
    pub file: Option<String>,
    pub text: String,
    /// It may be reported, but need not.
    pub is_optional: bool,
}

#[derive(Debug, Default)]
pub struct Expectations {
    pub warnings: Vec<Warning>,
    /// Nothing at all may be reported in the file.
    pub is_silent: bool,
    /// Lines with the remark `no-warning`.
    pub silent_lines: Vec<u32>,
    /// `line: why`.
    pub malformed: Vec<String>,
}

/// Those of the prefixes, but for lines that are left out (the first is at 0).
pub fn expectations(text: &str, prefixes: &[String], left_out: &[bool]) -> Expectations {
    let mut found = Expectations::default();
    let markers: BTreeMap<&str, u32> = (1..)
        .zip(text.lines())
        .filter_map(|(number, line)| Some((marker(line)?, number)))
        .collect();
    for (number, line) in (1..).zip(text.lines()) {
        if left_out.get(number as usize - 1).copied().unwrap_or(false) {
            continue;
        }
        let mut rest = line;
        while let Some((prefix, behind)) = next(rest) {
            rest = behind;
            if !prefixes.iter().any(|p| p == prefix) {
                continue;
            }
            match warning(behind, number, &markers) {
                Ok((warning, length)) => {
                    found.warnings.push(warning);
                    rest = &behind[length..];
                }
                Err(error) => found.malformed.push(format!("{number}: {error:#}")),
            }
        }
        found.is_silent |= prefixes.iter().any(|p| line.contains(&format!("{p}-no-diagnostics")));
        if line.contains("no-warning") && !line.contains("expected-no-warning") {
            found.silent_lines.push(number);
        }
    }
    found.silent_lines.retain(|line| found.warnings.iter().all(|w| w.line != *line));
    found
}

/// The prefix of the next `...-warning`, and what is behind it.
fn next(text: &str) -> Option<(&str, &str)> {
    let at = text.find("-warning")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let start = text[..at]
        .rfind(|c| !is_name(c))
        .map_or(0, |i| i + text[i..].chars().next().map_or(1, char::len_utf8));
    Some((&text[start..at], &text[at + "-warning".len()..]))
}

/// `// #name` at the end of a line.
fn marker(line: &str) -> Option<&str> {
    let (_, comment) = line.split_once("//")?;
    let name = comment.trim_start().strip_prefix('#')?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

/// What stands behind `expected-warning`, and its length.
fn warning(text: &str, line: u32, markers: &BTreeMap<&str, u32>) -> Result<(Warning, usize)> {
    let mut rest = text.strip_prefix("-re").unwrap_or(text);
    let mut file = None;
    let mut at = line;
    if let Some(place) = rest.strip_prefix('@') {
        let end = place.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(place.len());
        (file, at) = place_of(&place[..end], line, markers)?;
        rest = &place[end..];
    }
    rest = rest.trim_start();
    let end = rest.find("{{").context("no {{text}}")?;
    let count = rest[..end].trim();
    if !count.chars().all(|c| c.is_ascii_digit() || c == '+' || c == '-' || c == '*') {
        bail!("'{count}' is no number of warnings");
    }
    let is_optional = count.starts_with('0') || count == "*";
    let inside = &rest[end + 2..];
    let length = closing(inside).context("no }} behind {{")?;
    let used = text.len() - inside.len() + length + 2;
    let text = inside[..length].to_owned();
    Ok((Warning { line: at, file, text, is_optional }, used))
}

/// `+1`, `-2`, `17`, `#marker` or `file:17`.
fn place_of(text: &str, line: u32, markers: &BTreeMap<&str, u32>) -> Result<(Option<String>, u32)> {
    if let Some(name) = text.strip_prefix('#') {
        let at = markers.get(name).with_context(|| format!("no line is marked #{name}"))?;
        return Ok((None, *at));
    }
    if let Some((file, number)) = text.rsplit_once(':') {
        let number = number.parse().with_context(|| format!("'{text}' is no place"))?;
        return Ok((Some(file.to_owned()), number));
    }
    let number: i64 = text.parse().with_context(|| format!("'{text}' is no line"))?;
    let is_relative = text.starts_with(['+', '-']);
    let at = if is_relative { i64::from(line).saturating_add(number) } else { number };
    let at = u32::try_from(at).ok().filter(|at| *at > 0).context("before the first line")?;
    Ok((None, at))
}

/// Where the braces of a text end; patterns have braces of their own inside.
fn closing(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        let rest = &text[at..];
        let open = rest.find("{{");
        let close = rest.find("}}")?;
        match open.filter(|open| *open < close) {
            Some(open) => {
                depth += 1;
                at += open + 2;
            }
            None if depth == 0 => return Some(at + close),
            None => {
                depth -= 1;
                at += close + 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, prefixes: &[&str]) -> Expectations {
        let prefixes: Vec<String> = prefixes.iter().map(|&p| p.to_owned()).collect();
        expectations(text, &prefixes, &[])
    }

    fn lines(text: &str) -> Vec<(u32, String)> {
        let found = read(text, &["expected"]);
        assert_eq!(found.malformed, [] as [&str; 0]);
        found.warnings.into_iter().map(|w| (w.line, w.text)).collect()
    }

    #[test]
    fn places_are_own_relative_absolute_or_marked() {
        let text = "a // expected-warning{{one}} expected-warning {{two}}\n\
                    // expected-warning@-1{{three}} expected-warning@+1 2 {{four}}\n\
                    b // #here\n\
                    // expected-warning@#here{{five}} expected-warning@1{{six}}\n";
        let expected = [(1, "one"), (1, "two"), (1, "three"), (3, "four"), (3, "five"), (1, "six")];
        assert_eq!(lines(text), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn patterns_keep_their_braces() {
        assert_eq!(lines("// expected-warning-re{{a {{.*}} b}}"), [(1, "a {{.*}} b".to_owned())]);
    }

    #[test]
    fn only_the_prefixes_of_the_run_count() {
        let text = "// other-warning{{a}} non-nested-warning@-1{{b}} xexpected-warning{{c}}\n\
                    // expected-note{{d}} é-expected-warning{{f}} (expected-warning{{e}}\n";
        let found = read(text, &["expected"]);
        assert_eq!(found.warnings.len(), 1);
        assert_eq!(read(text, &["other"]).warnings.len(), 1);
        assert!(read("// non-nested-warning{{b}}", &["nested"]).warnings.is_empty());
        assert_eq!(read("// non-nested-warning{{b}}", &["non-nested"]).warnings.len(), 1);
    }

    #[test]
    fn malformed_directives_are_told_and_the_rest_is_read() {
        let text = "// expected-warning{{a\n// expected-warning\n// expected-warning@-5{{b}}\n\
                    // expected-warning@#none{{c}}\n// expected-warning two {{d}}\n\
                    // expected-warning@x{{d}}\n// expected-warning{{e}}\n";
        let found = read(text, &["expected"]);
        assert_eq!(found.malformed.len(), 6);
        assert_eq!(found.warnings.len(), 1);
    }

    #[test]
    fn optional_warnings_other_files_and_silence() {
        let found = read(
            "// expected-warning 0-1 {{a}} expected-warning@b.c:3{{b}}\nx; // no-warning\n",
            &["expected"],
        );
        assert!(found.warnings[0].is_optional && !found.warnings[1].is_optional);
        assert_eq!(found.warnings[1].file.as_deref(), Some("b.c"));
        assert_eq!(found.silent_lines, [2]);
        assert!(!found.is_silent);
        assert!(read("// expected-no-diagnostics", &["expected"]).is_silent);
        assert!(!read("// expected-no-diagnostics", &["other"]).is_silent);
    }
}

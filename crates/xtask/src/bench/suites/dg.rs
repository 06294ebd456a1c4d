//! Directives of DejaGnu in comments, `{ dg-warning "text" "" { target *-*-* } .-1 }`, as far
//! as gcc's tests use them.

use anyhow::{Context, Result, bail};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The line it stands on, from 1.
    pub line: u32,
    /// `dg-warning`, ...
    pub name: String,
    pub args: Vec<String>,
}

/// The directives of a file, those that cannot be read as an error with their line.
pub fn directives(text: &str) -> Vec<(u32, Result<Directive>)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut rest = line;
        while let Some(start) = rest.find('{') {
            rest = &rest[start + 1..];
            if !rest.trim_start().starts_with("dg-") {
                continue;
            }
            match list(rest) {
                Ok((words, length)) => {
                    rest = &rest[length..];
                    let mut words = words.into_iter();
                    let name = words.next().unwrap_or_default();
                    found.push((
                        number,
                        Ok(Directive { line: number, name, args: words.collect() }),
                    ));
                }
                Err(error) => {
                    found.push((number, Err(error)));
                    break;
                }
            }
        }
    }
    found
}

/// The words of a list up to its closing brace, and the length with it. Words in quotes lose
/// their backslashes, so that patterns are read as text.
fn list(text: &str) -> Result<(Vec<String>, usize)> {
    let mut words = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '}' => return Ok((words, at + 1)),
            c if c.is_whitespace() => {}
            '"' => {
                let mut word = String::new();
                loop {
                    match chars.next().context("a quote is not closed")?.1 {
                        '"' => break,
                        '\\' => {
                            if let Some((_, c)) = chars.next_if(|(_, c)| *c != '\\') {
                                word.push(c);
                            }
                        }
                        c => word.push(c),
                    }
                }
                words.push(word);
            }
            '{' => {
                let mut depth = 1;
                let mut word = String::new();
                loop {
                    let c = chars.next().context("a brace is not closed")?.1;
                    depth += match c {
                        '{' => 1,
                        '}' => -1,
                        _ => 0,
                    };
                    if depth == 0 {
                        break;
                    }
                    word.push(c);
                }
                words.push(word);
            }
            c => {
                let mut word = String::from(c);
                while let Some((_, c)) = chars.next_if(|(_, c)| !c.is_whitespace() && *c != '}') {
                    word.push(c);
                }
                words.push(word);
            }
        }
    }
    bail!("a brace is not closed")
}

/// The system that expectations are read for.
const TRIPLET: &str = "x86_64-pc-linux-gnu";

/// What does not hold of C on that system; every other effective target does.
const DO_NOT_HOLD: &[&str] = &[
    "c++",
    "c++98_only",
    "default_packed",
    "ilp32",
    "int16",
    "llp64",
    "newlib",
    "short_enums",
    "vxworks_kernel",
];

/// Whether `target ...` in a selector holds; a selector without it always does. `xfail` is
/// what gcc itself gets wrong, which changes nothing about what is right.
pub fn is_for_us(selector: &str) -> bool {
    let selector = spaced(selector);
    let words: Vec<&str> = selector.split_whitespace().collect();
    let Some(start) = words.iter().position(|word| *word == "target") else { return true };
    let words = &words[start + 1..];
    let end = words.iter().position(|word| *word == "xfail").unwrap_or(words.len());
    holds(&words[..end])
}

/// Whether an expression over systems and effective targets holds.
pub fn selects_us(expression: &str) -> bool {
    holds(&spaced(expression).split_whitespace().collect::<Vec<_>>())
}

/// Whether an effective target, as in `dg-require-effective-target`, holds.
pub fn is_effective(target: &str) -> bool {
    !DO_NOT_HOLD.contains(&target)
}

fn spaced(text: &str) -> String {
    text.replace('{', " { ").replace('}', " } ").replace('!', " ! ").replace('"', " ")
}

/// Words next to each other are alternatives.
fn holds(words: &[&str]) -> bool {
    let mut at = 0;
    alternatives(words, &mut at)
}

fn alternatives(words: &[&str], at: &mut usize) -> bool {
    let mut any = false;
    while let Some(word) = words.get(*at) {
        match *word {
            "}" => break,
            "||" => *at += 1,
            "&&" => {
                *at += 1;
                let right = one(words, at);
                any = any && right;
            }
            _ => any |= one(words, at),
        }
    }
    any
}

fn one(words: &[&str], at: &mut usize) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    match *word {
        "!" => !one(words, at),
        "{" => {
            let inner = alternatives(words, at);
            *at += 1;
            inner
        }
        name if name.contains('-') || name.contains('*') => {
            glob::Pattern::new(name).is_ok_and(|pattern| pattern.matches(TRIPLET))
        }
        name => is_effective(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Directive> {
        directives(text).into_iter().filter_map(|(_, directive)| directive.ok()).collect()
    }

    #[test]
    fn words_are_quoted_braced_or_bare() {
        let text =
            "x; /* { dg-warning \"leak of 'p' \\\\\\[CWE\" \"a b\" { target *-*-* } .-1 } */";
        let found = all(text);
        assert_eq!(found[0].name, "dg-warning");
        assert_eq!(found[0].args, ["leak of 'p' [CWE", "a b", " target *-*-* ", ".-1"]);
    }

    #[test]
    fn a_line_may_hold_several() {
        let text = "\n/* { dg-warning \"a\" } { dg-bogus \"b\" } */ if (x) { y; }";
        let names: Vec<(u32, String)> = all(text).into_iter().map(|d| (d.line, d.name)).collect();
        assert_eq!(names, [(2, "dg-warning".to_owned()), (2, "dg-bogus".to_owned())]);
    }

    #[test]
    fn what_is_not_closed_is_an_error_and_the_rest_is_read() {
        let text = "/* { dg-warning \"a } */\n/* { dg-warning { a } */\n/* { dg-bogus \"b\" } */";
        let found = directives(text);
        assert_eq!(found.len(), 3);
        assert!(found[0].1.is_err() && found[1].1.is_err());
        assert_eq!(found[2].1.as_ref().unwrap().name, "dg-bogus");
    }

    #[test]
    fn selectors_choose_by_system_and_language() {
        assert!(is_for_us(" target *-*-* "));
        assert!(is_for_us(" xfail *-*-* "));
        assert!(is_for_us(" target c "));
        assert!(!is_for_us(" target c++ "));
        assert!(!is_for_us(" target *-*-vxworks* "));
        assert!(is_for_us(" target { x86_64-*-* && lp64 } "));
        assert!(!is_for_us(" target { x86_64-*-* && ilp32 } "));
        assert!(selects_us("! short_enums"));
        assert!(!selects_us("{ powerpc*-*-aix* avr-*-* } || newlib"));
        assert!(!is_for_us(" target c++ xfail *-*-* "));
    }

    #[test]
    fn selectors_that_are_cut_short_end() {
        for text in ["target {", "target !", "target { && }", "target }", "{"] {
            let _ = is_for_us(text);
            let _ = selects_us(text);
        }
        assert!(!is_for_us("target !  *-*-*"));
    }
}

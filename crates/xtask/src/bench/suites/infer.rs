//! Infer's own tests: `infer/tests/codetoanalyze/c`, with what Infer reports in `issues.exp`
//! and what is right in the names of functions (`_bad`, `_ok`, `_good`, `_latent`, `FN_`,
//! `FP_`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::mapping;
use super::model::{Case, Collected, Function, Kind, Place, Role};
use super::source;

const PULSE: &[&str] = &[
    "double-free",
    "infinite-loop",
    "leak",
    "null-dereference",
    "uninitialized-read",
    "use-after-free",
];
const NUMBERS: &[&str] =
    &["buffer-overflow", "buffer-overread", "buffer-underflow", "integer-overflow"];

/// What the checker looks for that a folder is for; nothing where it is no matter of ours.
fn covered(folder: &str) -> &'static [&'static str] {
    match folder {
        "bufferoverrun" => NUMBERS,
        folder if folder.starts_with("pulse") => PULSE,
        _ => &[],
    }
}

/// A line of `issues.exp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pub file: String,
    pub function: String,
    /// Lines behind the first of the function.
    pub offset: u32,
    pub bug_type: String,
}

/// Below the folder of Infer's sources, its tests, or the one with the programs in C.
pub fn collect(folder: &Path) -> Result<Collected> {
    let base = base_of(folder)?;
    let mut collected = Collected::default();
    let mut issues: BTreeMap<String, Vec<Issue>> = BTreeMap::new();
    let pattern = format!("{}/**/issues.exp", glob::Pattern::escape(&base.to_string_lossy()));
    for list in glob::glob(&pattern).context("the suite's path cannot be searched")? {
        let list = list.context("cannot read the suite")?;
        let text = std::fs::read_to_string(&list)
            .with_context(|| format!("cannot read {}", list.display()))?;
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty()) {
            match issue(line) {
                Ok(issue) => issues.entry(issue.file.clone()).or_default().push(issue),
                Err(error) => {
                    let list = list.strip_prefix(&base).unwrap_or(&list).display();
                    collected.malformed.push(format!("{list}:{number}: {error}"));
                }
            }
        }
    }
    if issues.is_empty() {
        bail!("no issues.exp below {} lists anything", base.display());
    }
    let pattern = format!("{}/**/*.c", glob::Pattern::escape(&base.to_string_lossy()));
    for file in glob::glob(&pattern).context("the suite's path cannot be searched")? {
        let file = file.context("cannot read the suite")?;
        let name = file.strip_prefix(&base)?.to_string_lossy().into_owned();
        let text =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let of_file = issues.remove(&name).unwrap_or_default();
        add(&mut collected, &base, &name, &String::from_utf8_lossy(&text), &of_file);
    }
    for (file, issues) in issues {
        collected.malformed.extend(issues.iter().map(|i| format!("{file}: no file for {i:?}")));
    }
    collected.finish();
    Ok(collected)
}

fn base_of(folder: &Path) -> Result<PathBuf> {
    for base in ["infer/tests/codetoanalyze/c", "tests/codetoanalyze/c", "codetoanalyze/c", "."] {
        let base = folder.join(base);
        if base.join("pulse").is_dir() {
            return Ok(base.canonicalize()?);
        }
    }
    bail!("no infer/tests/codetoanalyze/c in {}", folder.display())
}

/// `codetoanalyze/c/pulse/x.c, function, 4, TYPE, bucket, ERROR, [trace]`.
fn issue(line: &str) -> Result<Issue> {
    let fields: Vec<&str> = line.splitn(5, ", ").collect();
    let [file, function, offset, bug_type, ..] = fields[..] else {
        bail!("fewer than four fields")
    };
    let offset = offset.parse().with_context(|| format!("'{offset}' is no line"))?;
    let file = file.strip_prefix("codetoanalyze/c/").unwrap_or(file).to_owned();
    Ok(Issue { file, function: function.to_owned(), offset, bug_type: bug_type.to_owned() })
}

/// What the name of a function says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Bad,
    Good,
    /// Flawed for some callers only.
    Latent,
    Nothing,
}

/// `FP_x_ok` and `x_Good_FP` are fine, whatever Infer says; `FN_x_bad` is not.
fn named(function: &str) -> Named {
    let words = words(function);
    // The last one counts: `call_x_bad_ok` is a good caller of a bad function.
    for word in words.iter().rev() {
        match word.as_str() {
            "bad" => return Named::Bad,
            "ok" | "good" => return Named::Good,
            "latent" => return Named::Latent,
            _ => {}
        }
    }
    match () {
        () if words.iter().any(|word| word == "fn") => Named::Bad,
        () if words.iter().any(|word| word == "fp") => Named::Good,
        () => Named::Nothing,
    }
}

/// Parts between underscores and before capitals, in lower case, without digits at the end.
fn words(function: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in function.split('_') {
        let mut word = String::new();
        let mut was_lower = false;
        for c in part.chars() {
            if c.is_uppercase() && was_lower {
                words.push(std::mem::take(&mut word));
            }
            was_lower = c.is_lowercase() || c.is_ascii_digit();
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned())
        .collect()
}

fn add(collected: &mut Collected, base: &Path, name: &str, text: &str, issues: &[Issue]) {
    let folder = name.split('/').next().unwrap_or("");
    let covered = covered(folder);
    let functions = source::functions(text);
    let mut case = Case {
        name: name.to_owned(),
        folder: base.to_owned(),
        files: vec![name.to_owned()],
        flags: Vec::new(),
        places: Vec::new(),
        functions: functions.clone(),
        covered: covered.to_vec(),
        by_call: true,
    };
    for issue in issues {
        let Some(function) = functions.iter().find(|f| f.name == issue.function) else {
            collected.malformed.push(format!("{name}: no function {}", issue.function));
            continue;
        };
        let line = function.first + issue.offset;
        let Some(expect) = mapping::of_infer(&issue.bug_type) else {
            collected.not_ours += 1;
            case.places.push(place(name, function, Role::Open, (line, line), &issue.bug_type));
            continue;
        };
        let says = named(&function.name);
        let is_certain = mapping::is_certain_for_infer(&issue.bug_type);
        if says == Named::Good {
            // A false report of Infer: the function is a silent place.
            *collected.left_out.entry("false reports of Infer").or_default() += 1;
        } else if issue.bug_type.ends_with("_LATENT") || says == Named::Latent {
            *collected.left_out.entry("latent").or_default() += 1;
            let lines = (function.first, function.last);
            case.places.push(place(name, function, Role::Open, lines, &issue.bug_type));
        } else if says == Named::Nothing && !is_certain {
            *collected.left_out.entry("not certain to Infer").or_default() += 1;
            let lines = (function.first, function.last);
            case.places.push(place(name, function, Role::Open, lines, &issue.bug_type));
        } else {
            case.places.push(Place {
                kind: Some(expect.kind),
                rules: expect.rules.to_vec(),
                ..place(name, function, Role::Expected, (line, line), &issue.bug_type)
            });
        }
    }
    if !covered.is_empty() {
        for function in &functions {
            let has_issue = issues.iter().any(|issue| issue.function == function.name);
            let lines = (function.first, function.last);
            let (role, kind) = match named(&function.name) {
                Named::Good => (Role::Silent, None),
                Named::Bad if !has_issue => (Role::Expected, Some(Kind::NotSaid)),
                Named::Latent if !has_issue => (Role::Open, None),
                _ => continue,
            };
            let rules = if role == Role::Open { Vec::new() } else { covered.to_vec() };
            case.places.push(Place {
                kind,
                rules,
                ..place(name, function, role, lines, "by its name")
            });
        }
    }
    let is_judged = case.places.iter().any(|place| place.role != Role::Open);
    if is_judged || !covered.is_empty() {
        collected.cases.push(case);
    } else {
        *collected.skipped.entry("nothing of our rules").or_default() += 1;
    }
}

fn place(file: &str, function: &Function, role: Role, lines: (u32, u32), text: &str) -> Place {
    Place {
        role,
        kind: None,
        rules: Vec::new(),
        file: file.to_owned(),
        first: lines.0,
        last: lines.1,
        function: Some(function.name.clone()),
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(issues: &[&str], text: &str) -> Collected {
        let issues: Vec<Issue> = issues.iter().map(|line| issue(line).unwrap()).collect();
        let mut collected = Collected::default();
        add(&mut collected, Path::new("/suite"), "pulse/x.c", text, &issues);
        collected.finish();
        collected
    }

    #[test]
    fn names_say_what_is_right() {
        for bad in ["f_bad", "FN_f_bad2", "call_f_Bad", "fBad", "f_FN", "g_ok_then_bad"] {
            assert_eq!(named(bad), Named::Bad, "{bad}");
        }
        for good in ["f_ok", "FP_f_ok", "f_Good_FP", "f_good2", "call_bad_ok", "fGood", "f_FP"] {
            assert_eq!(named(good), Named::Good, "{good}");
        }
        assert_eq!(named("f_latent"), Named::Latent);
        for nothing in ["main", "token", "badger", "book", "goodbye"] {
            assert_eq!(named(nothing), Named::Nothing, "{nothing}");
        }
    }

    #[test]
    fn lines_of_issues_count_from_the_function() {
        let line =
            "codetoanalyze/c/pulse/x.c, f_bad, 2, NULLPTR_DEREFERENCE, no_bucket, ERROR, [a, b]";
        let found = collected(&[line], "\nvoid f_bad() {\n int* p = 0;\n *p = 1;\n}\n");
        let place = &found.cases[0].places[0];
        assert_eq!((place.role, place.kind), (Role::Expected, Some(Kind::Null)));
        assert_eq!((place.first, place.last), (4, 4));
        assert_eq!(found.cases[0].places.len(), 1);
    }

    #[test]
    fn false_latent_and_foreign_issues_are_not_expected() {
        let found = collected(
            &[
                "x.c, FP_f_ok, 1, NULLPTR_DEREFERENCE, b, ERROR, []",
                "x.c, g_latent, 1, NULLPTR_DEREFERENCE_LATENT, b, ERROR, []",
                "x.c, h_bad, 1, DEADLOCK, b, ERROR, []",
                "x.c, absent, 1, NULLPTR_DEREFERENCE, b, ERROR, []",
            ],
            "void FP_f_ok() {\n}\nvoid g_latent() {\n}\nvoid h_bad() {\n}\nvoid i_bad() {\n}\n",
        );
        let roles: Vec<_> = found.cases[0].places.iter().map(|p| (p.role, p.kind)).collect();
        let not_said = (Role::Expected, Some(Kind::NotSaid));
        let open = (Role::Open, None);
        assert_eq!(roles, [(Role::Silent, None), open, open, not_said]);
        assert_eq!((found.not_ours, found.malformed.len()), (1, 1));
    }

    #[test]
    fn malformed_lines_are_errors() {
        assert!(issue("").is_err());
        assert!(issue("a.c, f, 3").is_err());
        assert!(issue("a.c, f, x, TYPE, b").is_err());
        assert!(issue("a.c, f, -1, TYPE, b").is_err());
    }
}

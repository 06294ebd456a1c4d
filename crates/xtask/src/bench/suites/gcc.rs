//! gcc's tests of its analyzer: `gcc.dg/analyzer` and, since gcc 14, `c-c++-common/analyzer`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::dg::{self, Directive};
use super::mapping;
use super::model::{Case, Collected, Place, Role};
use super::source;

/// Below a gcc source tree, its test suite, or the folder itself.
pub fn collect(folder: &Path) -> Result<Collected> {
    let (base, below) = base_of(folder)?;
    let mut collected = Collected::default();
    for part in below {
        let pattern = format!("{}/{part}/**/*.c", glob::Pattern::escape(&base.to_string_lossy()));
        for file in glob::glob(&pattern).context("the suite's path cannot be searched")? {
            let file = file.context("cannot read the suite")?;
            // Not UTF-8 in places: bytes that are not become marks, lines stay.
            let text =
                std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let name = file.strip_prefix(&base)?.to_string_lossy().into_owned();
            add(&mut collected, &base, &name, &String::from_utf8_lossy(&text));
        }
    }
    collected.finish();
    Ok(collected)
}

fn base_of(folder: &Path) -> Result<(PathBuf, Vec<&'static str>)> {
    for base in ["gcc/testsuite", "testsuite", "."] {
        let base = folder.join(base);
        if base.join("gcc.dg/analyzer").is_dir() {
            let common = base.join("c-c++-common/analyzer").is_dir();
            let mut below = vec!["gcc.dg/analyzer"];
            below.extend(common.then_some("c-c++-common/analyzer"));
            return Ok((base.canonicalize()?, below));
        }
    }
    if folder.join("analyzer-decls.h").is_file() {
        return Ok((folder.canonicalize()?, vec!["."]));
    }
    bail!("neither gcc.dg/analyzer nor analyzer-decls.h is in {}", folder.display())
}

fn add(collected: &mut Collected, base: &Path, name: &str, text: &str) {
    let mut directives = Vec::new();
    for (line, directive) in dg::directives(text) {
        match directive {
            Ok(directive) => directives.push(directive),
            Err(error) => collected.malformed.push(format!("{name}:{line}: {error}")),
        }
    }
    if let Some(why) = directives.iter().find_map(skips) {
        *collected.skipped.entry(why).or_default() += 1;
        return;
    }
    let options = options(&directives);
    let flags: Vec<String> = options.iter().filter(|o| is_for_compilers(o)).cloned().collect();
    let off: Vec<&str> = options
        .iter()
        .filter_map(|option| mapping::of_gcc_option(option.strip_prefix("-Wno-analyzer-")?))
        .flat_map(|expect| expect.rules.iter().copied())
        .collect();
    let covered = mapping::GCC_RULES.iter().copied().filter(|rule| !off.contains(rule)).collect();
    let mut files = vec![name.to_owned()];
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let more = directives.iter().filter(|d| d.name == "dg-additional-sources");
    for file in more.flat_map(|d| d.args.first()).flat_map(|files| files.split_whitespace()) {
        files.push(folder.join(file).to_string_lossy().into_owned());
    }
    let mut case = Case {
        name: name.to_owned(),
        folder: base.to_owned(),
        files,
        flags,
        places: Vec::new(),
        functions: source::functions(text),
        covered,
        by_call: false,
    };
    let out = source::left_out(text, &case.flags);
    let named: BTreeMap<&str, u32> = directives
        .iter()
        .filter(|d| d.name == "dg-line")
        .filter_map(|d| Some((d.args.first()?.as_str(), d.line)))
        .collect();
    for directive in &directives {
        let role = match directive.name.as_str() {
            "dg-warning" => Role::Expected,
            "dg-bogus" => Role::Silent,
            _ => continue,
        };
        if out.get(directive.line as usize - 1).copied().unwrap_or(false)
            || !directive.args.get(2).is_none_or(|selector| dg::is_for_us(selector))
        {
            continue;
        }
        let Some(message) = directive.args.first() else {
            collected.malformed.push(format!("{name}:{}: no text", directive.line));
            continue;
        };
        let line = match line_of(directive, &named) {
            Ok(line) => line,
            Err(error) => {
                collected.malformed.push(format!("{name}:{}: {error}", directive.line));
                continue;
            }
        };
        let place = place(&case, role, line, message);
        if place.role == Role::Open {
            collected.not_ours += 1;
        }
        case.places.push(place);
    }
    collected.cases.push(case);
}

fn place(case: &Case, role: Role, line: u32, message: &str) -> Place {
    // Nothing at all may be said where the text is empty.
    let expect = mapping::of_gcc(message);
    let rules = match (role, expect) {
        (Role::Silent, None) if message.is_empty() => case.covered.clone(),
        (_, Some(expect)) => expect.rules.to_vec(),
        (_, None) => Vec::new(),
    };
    Place {
        role: if rules.is_empty() { Role::Open } else { role },
        kind: expect.map(|expect| expect.kind),
        rules,
        file: case.files[0].clone(),
        first: line,
        last: line,
        function: source::function_at(&case.functions, line).map(|f| f.name.clone()),
        text: message.to_owned(),
    }
}

/// The line a directive speaks of: its own, one relative to it, one by number, or one that a
/// `dg-line` named.
fn line_of(directive: &Directive, named: &BTreeMap<&str, u32>) -> Result<u32> {
    let Some(text) = directive.args.get(3) else { return Ok(directive.line) };
    if let Some(relative) = text.strip_prefix('.') {
        if relative.is_empty() {
            return Ok(directive.line);
        }
        let by: i64 = relative.parse().with_context(|| format!("'{text}' is no line"))?;
        let line = i64::from(directive.line).saturating_add(by);
        return u32::try_from(line).ok().filter(|line| *line > 0).context("before the first line");
    }
    if let Ok(line) = text.parse::<u32>() {
        return Ok(line);
    }
    named.get(text.as_str()).copied().with_context(|| format!("no line is named '{text}'"))
}

/// Why a file is not for C on our system.
fn skips(directive: &Directive) -> Option<&'static str> {
    let arg = |index: usize| directive.args.get(index).map(String::as_str);
    match directive.name.as_str() {
        "dg-do" if !arg(1).is_none_or(dg::is_for_us) => Some("for another system"),
        "dg-require-effective-target" if !arg(0).is_none_or(dg::is_effective) => {
            Some("for another system")
        }
        // Those that skip for certain options only concern runs with these options.
        "dg-skip-if" => {
            let options = arg(2).unwrap_or("").trim();
            let is_always = options.is_empty() || options == "*";
            (is_always && dg::selects_us(arg(1)?)).then_some("skipped on our system")
        }
        _ => None,
    }
}

fn options(directives: &[Directive]) -> Vec<String> {
    directives
        .iter()
        .filter(|d| matches!(d.name.as_str(), "dg-options" | "dg-additional-options"))
        .filter(|d| d.args.get(1).is_none_or(|selector| dg::is_for_us(selector)))
        .flat_map(|d| d.args.first())
        .flat_map(|options| options.split_whitespace().map(str::to_owned))
        .collect()
}

/// What changes the program rather than the warnings.
fn is_for_compilers(option: &str) -> bool {
    ["-D", "-U", "-std=", "-fopenmp", "-m"].iter().any(|start| option.starts_with(start))
        || ["-ansi", "-fno-builtin", "-fsigned-char", "-funsigned-char"].contains(&option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suites::model::Kind;

    fn collected(text: &str) -> Collected {
        let mut collected = Collected::default();
        add(&mut collected, Path::new("/suite"), "gcc.dg/analyzer/x.c", text);
        collected.finish();
        collected
    }

    #[test]
    fn warnings_are_expected_and_bogus_ones_must_be_silent() {
        let found = collected(
            "void f (void *p)\n{\n  free (p);\n  free (p); /* { dg-warning \"double-'free' of 'p'\" } */\n\
             } /* { dg-bogus \"leak\" } */\n\
             /* { dg-warning \"leak of 'q'\" \"\" { target *-*-* } .-2 } */\n\
             void g (void) { eval (1); /* { dg-warning \"TRUE\" } */ }\n",
        );
        let case = &found.cases[0];
        let seen: Vec<_> = case.places.iter().map(|p| (p.role, p.kind, p.first)).collect();
        assert_eq!(
            seen,
            [
                (Role::Expected, Some(Kind::Leak), 4),
                (Role::Expected, Some(Kind::DoubleRelease), 4),
                (Role::Silent, Some(Kind::Leak), 5),
                (Role::Open, None, 7),
            ]
        );
        assert_eq!(case.places[0].function.as_deref(), Some("f"));
        assert_eq!(found.not_ours, 1);
    }

    #[test]
    fn lines_can_have_names_and_wrong_ones_are_told() {
        let found = collected(
            "x; /* { dg-line here } */\n\
             /* { dg-warning \"leak\" \"\" { target *-*-* } here } */\n\
             /* { dg-warning \"leak\" \"\" { target *-*-* } there } */\n\
             /* { dg-warning \"leak\" \"\" { target *-*-* } .-9 } */\n\
             /* { dg-warning \"leak\" \"\" { target *-*-* } .-x } */\n\
             /* { dg-warning } */\n\
             /* { dg-warning \"leak */\n",
        );
        assert_eq!(found.cases[0].places.len(), 1);
        assert_eq!(found.cases[0].places[0].first, 1);
        assert_eq!(found.malformed.len(), 5);
    }

    #[test]
    fn other_systems_and_languages_are_left_out() {
        let found = collected("/* { dg-do compile { target powerpc*-*-* } } */\n");
        assert!(found.cases.is_empty());
        let found = collected("/* { dg-skip-if \"\" { *-*-* } { \"-O0\" } { \"\" } } */\n");
        assert_eq!(found.cases.len(), 1);
        let found = collected("/* { dg-skip-if \"\" { ! short_enums } } */\n");
        assert_eq!(found.skipped.values().sum::<usize>(), 1);
        let found = collected(
            "#ifdef __cplusplus\n/* { dg-warning \"leak\" } */\n#endif\n\
             /* { dg-warning \"leak\" \"\" { target c++ } } */\n",
        );
        assert!(found.cases[0].places.is_empty());
    }

    #[test]
    fn options_reach_the_compiler_and_warnings_switched_off_are_not_judged() {
        let found = collected(
            "/* { dg-additional-options \"-O2 -DX=1 -Wno-analyzer-malloc-leak\" } */\n\
             /* { dg-additional-options \"-DY\" { target c++ } } */\n",
        );
        assert_eq!(found.cases[0].flags, ["-DX=1"]);
        assert!(!found.cases[0].covered.contains(&"leak"));
        assert!(found.cases[0].covered.contains(&"double-free"));
    }
}

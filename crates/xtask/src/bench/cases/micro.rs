//! Micro programs: marks in the sources say what is wanted, `expected.toml` where there are
//! none.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::said::{At, Reported, Said};
use super::score::endings;
use super::truth::Fault;

/// `/*!buffer-overflow*/` on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub line: u32,
    /// Parts of rule names, one of which has to occur.
    pub rules: Vec<String>,
}

/// The marks of a source text.
pub fn marks(text: &str) -> Result<Vec<Mark>> {
    let mut marks = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("/*!") {
            let Some((pattern, after)) = after.split_once("*/") else {
                bail!("line {number}: the mark does not end");
            };
            ensure!(!pattern.trim().is_empty(), "line {number}: the mark names no rule");
            marks.push(Mark { line: number, rules: alternatives(pattern)? });
            rest = after;
        }
    }
    Ok(marks)
}

/// `buffer-(over|under)flow` stands for two names, `signedness|buffer` too.
fn alternatives(pattern: &str) -> Result<Vec<String>> {
    let Some((before, rest)) = pattern.split_once('(') else {
        ensure!(!pattern.contains(')'), "unbalanced ')' in {pattern}");
        return Ok(pattern.split('|').map(str::to_owned).collect());
    };
    let (inside, after) =
        rest.split_once(')').with_context(|| format!("unbalanced '(' in {pattern}"))?;
    ensure!(!before.contains('|') && !after.contains(['|', '(']), "cannot read {pattern}");
    Ok(inside.split('|').map(|middle| format!("{before}{middle}{after}")).collect())
}

/// What is wanted of the programs without marks.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wishes {
    #[serde(default)]
    pub crash: Vec<CrashWish>,
    #[serde(default)]
    pub beliefs: Vec<BeliefWish>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrashWish {
    pub file: String,
    /// Kinds of answers that are wrong.
    #[serde(default)]
    pub not: Vec<String>,
    /// The lines that are right; any where empty.
    #[serde(default)]
    pub lines: Vec<u32>,
    /// Two runs have to give one answer.
    #[serde(default)]
    pub twice: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeliefWish {
    pub file: String,
    /// A report in one of these is wanted; in none, if there are none.
    #[serde(default)]
    pub functions: Vec<String>,
    /// Of one of these templates; of any where empty.
    #[serde(default)]
    pub templates: Vec<String>,
}

pub fn wishes(path: &Path) -> Result<Wishes> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is no list of wishes", path.display()))
}

/// A micro program as one tool has it.
#[derive(Clone, Debug, Serialize)]
pub struct MicroScore {
    pub name: String,
    pub n_wanted: usize,
    pub n_found: usize,
    /// Rules of the reports that are not wanted.
    pub extra: Vec<String>,
    /// How each miss ended.
    pub missed: Vec<String>,
    pub failed: bool,
}

/// A program in which some faults are wanted, or none.
pub fn marked(name: &str, marks: &[Mark], said: &Said) -> MicroScore {
    let hits = |report: &Reported, mark: &Mark| {
        let is_rule = mark.rules.iter().any(|rule| report.rule.contains(rule.as_str()));
        let mut told = report.places.iter().chain(&report.path);
        is_rule && told.any(|at| at.line == mark.line)
    };
    let is_found = |mark: &&Mark| said.reports.iter().any(|report| hits(report, mark));
    let is_wanted = |report: &&Reported| marks.iter().any(|mark| hits(report, mark));
    let missed = marks.iter().filter(|mark| !is_found(mark));
    MicroScore {
        name: name.to_owned(),
        n_wanted: marks.len(),
        n_found: marks.iter().filter(is_found).count(),
        extra: said.reports.iter().filter(|r| !is_wanted(r)).map(|r| r.rule.clone()).collect(),
        missed: missed.map(|mark| ending(mark, said)).collect(),
        failed: said.failed.is_some(),
    }
}

fn ending(mark: &Mark, said: &Said) -> String {
    let of_rule = said.open.iter().find(|open| {
        open.at.line == mark.line && mark.rules.iter().any(|rule| open.rule.contains(rule.as_str()))
    });
    let rule = of_rule.map_or(mark.rules[0].clone(), |open| open.rule.clone());
    let fault = Fault {
        id: String::new(),
        file: None,
        line: mark.line,
        rule,
        alt_lines: Vec::new(),
        alt_at: Vec::new(),
    };
    format!("{}:{}: {}", mark.rules.join("|"), mark.line, endings(said, &fault))
}

/// A run, and a second one where one answer of two is asked for.
pub fn crashed(wish: &CrashWish, said: &Said, again: Option<&Said>) -> MicroScore {
    let why = match &said.corruption {
        None => Some(said.failed.clone().unwrap_or_else(|| "no answer".to_owned())),
        Some(found) if wish.not.contains(&found.kind) => {
            Some(format!("{} {}", found.kind, found.at))
        }
        Some(found) if !wish.lines.is_empty() && !wish.lines.contains(&found.at.line) => {
            Some(format!("{} {}", found.kind, found.at))
        }
        Some(found) => again.and_then(|again| match &again.corruption {
            Some(other) if other == found => None,
            Some(other) => {
                Some(format!("{} {}, then {} {}", found.kind, found.at, other.kind, other.at))
            }
            None => Some(format!("{} {}, then no answer", found.kind, found.at)),
        }),
    };
    MicroScore {
        name: wish.file.clone(),
        n_wanted: 1,
        n_found: usize::from(why.is_none()),
        extra: Vec::new(),
        missed: why.into_iter().collect(),
        failed: said.failed.is_some() && said.corruption.is_none(),
    }
}

pub fn believed(wish: &BeliefWish, said: &Said) -> MicroScore {
    let is_wanted = |report: &&Reported| {
        wish.functions.contains(&report.function)
            && (wish.templates.is_empty() || wish.templates.contains(&report.rule))
    };
    let n_wanted = usize::from(!wish.functions.is_empty());
    let n_found = usize::from(said.reports.iter().any(|report| is_wanted(&report)));
    let missed = format!("{} in {}", wish.templates.join(" or "), wish.functions.join(" or "));
    MicroScore {
        name: wish.file.clone(),
        n_wanted,
        n_found,
        extra: said.reports.iter().filter(|r| !is_wanted(r)).map(told).collect(),
        missed: (n_found < n_wanted).then_some(missed).into_iter().collect(),
        failed: said.failed.is_some(),
    }
}

fn told(report: &Reported) -> String {
    let at = report.places.first().map_or(String::new(), At::to_string);
    format!("{} {at}", report.rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::said::Corruption;
    use crate::bench::cases::score::tests::report;

    #[test]
    fn marks_are_read_and_broken_ones_refused() {
        let found = marks("a;\nb[n]=0; /*!buffer-(over|under)flow*/ c(); /*!leak*/\n").unwrap();
        let lines: Vec<u32> = found.iter().map(|mark| mark.line).collect();
        assert_eq!(lines, [2, 2]);
        assert_eq!(found[0].rules, ["buffer-overflow", "buffer-underflow"]);
        assert_eq!(marks("/*!signedness|buffer*/").unwrap()[0].rules, ["signedness", "buffer"]);
        for broken in ["/*!leak", "/*!*/", "/*!a(b*/", "/*!a)*/", "/*!a|b(c)*/"] {
            assert!(marks(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_mark_is_found_at_its_line_or_on_the_path() {
        let marks = marks("\n\nx /*!buffer*/").unwrap();
        let found = |report| {
            let score = marked("m", &marks, &Said { reports: vec![report], ..Said::default() });
            (score.n_found, score.extra.len())
        };
        assert_eq!(found(report("buffer-overread", "m.c", 3)), (1, 0));
        assert_eq!(found(report("buffer-overread", "m.c", 4)), (0, 1));
        assert_eq!(found(report("leak", "m.c", 3)), (0, 1));
        let path = vec![At::new("m.c", 3)];
        assert_eq!(found(Reported { path, ..report("buffer-overread", "m.c", 9) }), (1, 0));
    }

    #[test]
    fn runs_are_judged_by_kind_line_and_repetition() {
        let wish = |text: &str| toml::from_str::<Wishes>(text).unwrap().crash.remove(0);
        let said = |kind: &str, line| {
            let kind = kind.to_owned();
            let corruption = Some(Corruption { at: At::new("m.c", line), kind });
            Said { corruption, ..Said::default() }
        };
        let not = wish("[[crash]]\nfile = 'm.c'\nnot = ['overflow']\nlines = [3]");
        assert_eq!(crashed(&not, &said("wrong-value", 3), None).n_found, 1);
        assert_eq!(crashed(&not, &said("wrong-value", 4), None).n_found, 0);
        assert_eq!(crashed(&not, &said("overflow", 3), None).n_found, 0);
        assert_eq!(crashed(&not, &Said::default(), None).n_found, 0);
        let twice = wish("[[crash]]\nfile = 'm.c'\ntwice = true");
        let (one, other) = (said("race", 3), said("race", 4));
        assert_eq!(crashed(&twice, &one, Some(&one)).n_found, 1);
        assert_eq!(crashed(&twice, &one, Some(&other)).n_found, 0);
        assert!(toml::from_str::<Wishes>("[[crash]]\nfile = 'm.c'\ntwise = true").is_err());
    }

    #[test]
    fn beliefs_are_wanted_in_a_function_or_nowhere() {
        let deviation = |function: &str, rule: &str| Reported {
            function: function.to_owned(),
            ..report(rule, "m.c", 1)
        };
        let said = |reports| Said { reports, ..Said::default() };
        let wish = BeliefWish {
            file: "m.c".to_owned(),
            functions: vec!["bad".to_owned()],
            templates: vec!["is-err".to_owned()],
        };
        let score = believed(&wish, &said(vec![deviation("bad", "is-err")]));
        assert_eq!((score.n_found, score.extra.len()), (1, 0));
        let score = believed(&wish, &said(vec![deviation("bad", "can-fail")]));
        assert_eq!((score.n_found, score.extra.len()), (0, 1));
        let silent = BeliefWish { functions: Vec::new(), ..wish };
        let score = believed(&silent, &said(vec![deviation("bad", "is-err")]));
        assert_eq!((score.n_wanted, score.n_found, score.extra.len()), (0, 0, 1));
    }
}

//! `bench/draws/NNN.toml`: what was drawn, what was reported, and what it was judged to be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// A draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    pub seed: u64,
    /// The day the first package was drawn.
    pub date: String,
    /// The commit whose reports are judged.
    pub commit: String,
    /// The suite of Debian, and how many of its packages could be drawn.
    pub suite: String,
    pub n_candidates: usize,
    /// Those that came and were not mostly C of the size wanted.
    #[serde(default)]
    pub n_unwanted: usize,
    /// Those that came and were not whole on the mirror.
    #[serde(default)]
    pub n_unavailable: usize,
    #[serde(default, rename = "package")]
    pub packages: Vec<Package>,
    #[serde(default, rename = "failed")]
    pub failed: Vec<Failed>,
    #[serde(default, rename = "finding")]
    pub findings: Vec<Judged>,
}

/// A package that was built and checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub units: usize,
    /// Lines of code in the units that were compiled.
    pub lines: u64,
    /// How many findings each tool reported: `firstfault`, `beliefs`, `clang`, `gcc`.
    #[serde(default)]
    pub reports: BTreeMap<String, usize>,
    /// User and system time of each tool.
    #[serde(default)]
    pub cpu_seconds: BTreeMap<String, u64>,
}

/// A package in whose place another was drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    pub name: String,
    pub version: String,
    pub stage: String,
    pub reason: String,
}

/// A finding that was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    pub package: String,
    pub version: String,
    pub tool: String,
    pub id: String,
    pub rule: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub level: String,
    pub file: String,
    pub line: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    pub message: String,
    /// Empty only in a template: not read yet.
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    #[serde(rename = "")]
    Open,
    True,
    False,
    Unclear,
}

/// Why a finding is false.
pub const CAUSES: &[(&str, &str)] = &[
    ("infeasible-path", "tests on the path exclude each other, or a value cannot be that one"),
    ("caller-guarantees", "every caller makes sure it cannot happen"),
    ("library-knowledge", "a library function does not behave as assumed"),
    ("loop", "what a loop does, or how often it runs, was lost"),
    ("alias", "two names of one object, or of different ones, were mixed up"),
    ("aggregate-relation", "fields of a record belong together: a length and its buffer"),
    ("ownership", "somebody else keeps or frees the object"),
    ("macro", "a macro, an attribute or the build was misread"),
    ("intended", "it happens, and is meant or harmless by design"),
    ("other", "said in `why`"),
];

impl Judged {
    /// Whether what has been filled in is complete.
    pub fn checked(&self) -> Result<()> {
        let is_given = |text: &str| !text.trim().is_empty();
        match self.verdict {
            Verdict::True if !is_given(&self.input) => {
                bail!("a true finding needs an `input`: what makes it happen")
            }
            Verdict::False if !CAUSES.iter().any(|(cause, _)| *cause == self.cause) => {
                let known: Vec<&str> = CAUSES.iter().map(|(cause, _)| *cause).collect();
                bail!("`cause` is `{}`; it must be one of {}", self.cause, known.join(", "))
            }
            Verdict::False | Verdict::Unclear if !is_given(&self.why) => {
                bail!("a false or unclear finding needs `why`")
            }
            _ => Ok(()),
        }
    }

    /// What names a finding within a draw.
    pub fn key(&self) -> (String, String) {
        (self.package.clone(), self.id.clone())
    }
}

/// Verdicts of one tool on one package, to be filled in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    #[serde(default, rename = "finding")]
    pub findings: Vec<Judged>,
}

pub fn template(path: &Path) -> Result<Template> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let template: Template =
        toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    checked(&template.findings).with_context(|| path.display().to_string())?;
    Ok(template)
}

fn checked(findings: &[Judged]) -> Result<()> {
    let mut keys = BTreeSet::new();
    for finding in findings {
        let name = format!("{} {}", finding.package, finding.id);
        finding.checked().with_context(|| name.clone())?;
        if !keys.insert(finding.key()) {
            bail!("{name} is there twice");
        }
    }
    Ok(())
}

pub fn parse(text: &str) -> Result<Draw> {
    let draw: Draw = toml::from_str(text)?;
    checked(&draw.findings)?;
    for finding in &draw.findings {
        if finding.verdict == Verdict::Open {
            bail!("{} {} has no verdict", finding.package, finding.id);
        }
        if !draw.packages.iter().any(|package| package.name == finding.package) {
            bail!("{} {}: no such package was drawn", finding.package, finding.id);
        }
    }
    Ok(draw)
}

pub fn path(root: &Path, name: &str) -> PathBuf {
    root.join("bench/draws").join(format!("{name}.toml"))
}

pub fn load(path: &Path) -> Result<Draw> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{} is malformed", path.display()))
}

pub fn write(path: &Path, draw: &Draw) -> Result<()> {
    let text = format!(
        "# A draw of fresh packages, written by `cargo xtask bench draw`, and the verdicts on \
         what was reported.\n\n{}",
        toml::to_string(draw)?
    );
    let folder = path.parent().context("a draw lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// All draws with their names, the first one first.
pub fn all(root: &Path) -> Result<Vec<(String, Draw)>> {
    let folder = root.join("bench/draws");
    let mut names: Vec<String> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries
            .filter_map(|entry| {
                entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned)
            })
            .collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).context("cannot read bench/draws"),
    };
    names.sort();
    names.into_iter().map(|name| Ok((name.clone(), load(&path(root, &name))?))).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn judged(tool: &str, n: u32, verdict: Verdict) -> Judged {
        Judged {
            package: "ant".to_owned(),
            version: "1-1".to_owned(),
            tool: tool.to_owned(),
            id: format!("{tool}-{n:02}"),
            rule: "leak".to_owned(),
            level: String::new(),
            file: "a.c".to_owned(),
            line: n,
            function: "f".to_owned(),
            message: "\"p\" is lost".to_owned(),
            verdict,
            input: "f(0)".to_owned(),
            cause: "loop".to_owned(),
            why: "it ends".to_owned(),
        }
    }

    pub fn draw(findings: Vec<Judged>) -> Draw {
        let package = Package {
            name: "ant".to_owned(),
            version: "1-1".to_owned(),
            units: 3,
            lines: 4_000,
            reports: [("firstfault".to_owned(), 8), ("clang".to_owned(), 2)].into(),
            cpu_seconds: BTreeMap::new(),
        };
        Draw {
            seed: 1,
            date: "2026-01-31".to_owned(),
            commit: "abc1234".to_owned(),
            suite: "bookworm".to_owned(),
            packages: vec![package],
            findings,
            ..Draw::default()
        }
    }

    #[test]
    fn draws_are_written_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let verdicts = [Verdict::True, Verdict::False, Verdict::Unclear];
        let findings = (1..).zip(verdicts).map(|(n, v)| judged("firstfault", n, v)).collect();
        let draw = draw(findings);
        write(&path(folder.path(), "001"), &draw).unwrap();
        assert_eq!(all(folder.path()).unwrap(), [("001".to_owned(), draw)]);
    }

    #[test]
    fn incomplete_verdicts_are_refused() {
        let error = |change: fn(&mut Judged), verdict: Verdict| {
            let mut finding = judged("firstfault", 7, verdict);
            change(&mut finding);
            let text = toml::to_string(&draw(vec![finding])).unwrap();
            format!("{:#}", parse(&text).unwrap_err())
        };
        let said = error(|f| f.input = " ".to_owned(), Verdict::True);
        assert!(said.starts_with("ant firstfault-07: a true finding needs an `input`"), "{said}");
        let said = error(|f| f.cause = "luck".to_owned(), Verdict::False);
        assert!(said.contains("`cause` is `luck`; it must be one of infeasible-path"), "{said}");
        let said = error(|f| f.why = String::new(), Verdict::Unclear);
        assert!(said.contains("needs `why`"), "{said}");
        assert!(error(|_| (), Verdict::Open).contains("has no verdict"));
        let said = error(|f| f.package = "bee".to_owned(), Verdict::True);
        assert!(said.contains("no such package was drawn"), "{said}");
    }

    #[test]
    fn malformed_files_are_refused() {
        let text = toml::to_string(&draw(vec![judged("gcc", 1, Verdict::True)])).unwrap();
        let error = |from: &str, to: &str| {
            assert!(text.contains(from), "{from} is in {text}");
            format!("{:#}", parse(&text.replace(from, to)).unwrap_err())
        };
        assert!(error("verdict = \"true\"", "verdict = \"maybe\"").contains("maybe"));
        assert!(error("verdict = \"true\"", "").contains("verdict"));
        assert!(error("input =", "inputs =").contains("inputs"));
        assert!(error("seed = 1", "seed = one").contains("line 1"));
        let twice = vec![judged("gcc", 1, Verdict::True), judged("gcc", 1, Verdict::False)];
        let twice = toml::to_string(&draw(twice)).unwrap();
        assert!(format!("{:#}", parse(&twice).unwrap_err()).contains("ant gcc-01 is there twice"));
    }
}

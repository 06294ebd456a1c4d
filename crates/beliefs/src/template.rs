//! Templates: what a rule looks like, as data.
//!
//! A template says which events it is about, what fills its slots, which outcomes follow the
//! rule and which break it, and how the rule is put into words. `beliefs/*/template.toml` are
//! the built-in ones; a project adds its own in the same form.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::event::{Kind, Outcome, flag};
use crate::known::Settings;
use crate::latent;

struct Builtin {
    text: &'static str,
    doc: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("{path}: {message}")]
    Wrong { path: PathBuf, message: String },
    #[error("cannot read {path}: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
}

/// How sure one can be that the programmer holds the belief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Belief {
    /// Every contradiction is a deviation.
    Must,
    /// Deviations are ranked by how often the belief holds elsewhere.
    May,
}

/// The file's own form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    id: String,
    title: String,
    belief: Belief,
    event: String,
    slots: Vec<String>,
    #[serde(default, rename = "where")]
    required: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    follows: Vec<String>,
    breaks: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    not_names: Vec<String>,
    #[serde(default)]
    partner_names: Vec<String>,
    #[serde(default)]
    by: Vec<String>,
    #[serde(default)]
    hints: Vec<[String; 2]>,
    #[serde(default)]
    hints_only: bool,
    #[serde(default)]
    absent_breaks: bool,
    #[serde(default)]
    per_function: bool,
    #[serde(default)]
    lenient: Vec<String>,
    #[serde(default)]
    promote: Vec<String>,
    #[serde(default)]
    habit: Vec<String>,
    #[serde(default)]
    speaks_for: Vec<String>,
    #[serde(default)]
    speaks_against: Vec<String>,
    #[serde(default)]
    min_share: f64,
    #[serde(default = "default_p0")]
    p0: f64,
    #[serde(default = "default_min_z")]
    min_z: f64,
    #[serde(default = "default_min_followed")]
    min_followed: u64,
    #[serde(default)]
    weight: f64,
    rule: String,
    deviation: String,
    #[serde(default)]
    absent: Option<String>,
    #[serde(default)]
    spurious: String,
    example: String,
    #[serde(default)]
    paranoid: Vec<String>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    backdoors: Vec<String>,
}

fn default_p0() -> f64 {
    0.9
}

fn default_min_z() -> f64 {
    -1.5
}

fn default_min_followed() -> u64 {
    3
}

/// A template, ready to use.
#[derive(Clone, Debug)]
pub struct Template {
    pub id: String,
    pub title: String,
    pub doc: String,
    pub belief: Belief,
    pub kind: Kind,
    /// Names of the slots that columns `a` and `b` fill.
    pub slots: Vec<String>,
    required: u32,
    unless: u32,
    follows: Vec<Outcome>,
    breaks: Vec<Outcome>,
    names: Vec<glob::Pattern>,
    not_names: Vec<glob::Pattern>,
    partner_names: Vec<glob::Pattern>,
    by: Vec<glob::Pattern>,
    hints: Vec<[String; 2]>,
    hints_only: bool,
    /// Sites without a row for the partner break the rule too.
    pub absent_breaks: bool,
    /// A function counts once for a rule, however often it follows or breaks it.
    pub per_function: bool,
    /// Rows with these flags have no say about functions for which they are common.
    pub lenient: u32,
    /// A row that follows the rule and has all of these leaves no doubt that it is meant.
    promote: u32,
    /// A site with one of these and without any partner has no say, unless sites with them
    /// follow the rule as a habit.
    pub habit: u32,
    /// Of the rows that follow the rule, those with one flag tell that it is meant, those with the
    /// other that it is not.
    pub speaks_for: u32,
    pub speaks_against: u32,
    /// Rules for which a smaller share of those speaks are none.
    pub min_share: f64,
    pub p0: f64,
    /// Rules below this are coincidences.
    pub min_z: f64,
    pub min_followed: u64,
    /// What the template's deviations are worth beside those of others.
    pub weight: f64,
    pub rule: String,
    pub deviation: String,
    /// The same for a site without the partner on any path.
    pub absent: String,
    /// The words for something that fills the second slot and is the rule for nothing. Empty
    /// where that may be.
    pub spurious: String,
    pub example: String,
    /// What extraction has to be told.
    pub settings: Settings,
}

impl Template {
    pub fn parse(text: &str, doc: &str) -> Result<Self, String> {
        let written: Written =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == written.event);
        let kind = kind.ok_or_else(|| {
            let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            format!("no event is called {}; there are {}", written.event, known.join(", "))
        })?;
        if written.slots.is_empty() || written.slots.len() > 2 {
            return Err("a template has one slot or two".to_owned());
        }
        if !(written.p0 > 0.0 && written.p0 < 1.0) {
            return Err("p0 is a probability, greater than 0 and less than 1".to_owned());
        }
        Ok(Self {
            id: written.id,
            title: written.title,
            doc: doc.to_owned(),
            belief: written.belief,
            kind,
            slots: written.slots,
            required: flags(&written.required)?,
            unless: flags(&written.unless)?,
            follows: outcomes(&written.follows)?,
            breaks: outcomes(&written.breaks)?,
            names: patterns(&written.names)?,
            not_names: patterns(&written.not_names)?,
            partner_names: patterns(&written.partner_names)?,
            by: patterns(&written.by)?,
            hints: written.hints,
            hints_only: written.hints_only,
            absent_breaks: written.absent_breaks,
            per_function: written.per_function,
            lenient: flags(&written.lenient)?,
            promote: flags(&written.promote)?,
            habit: flags(&written.habit)?,
            speaks_for: flags(&written.speaks_for)?,
            speaks_against: flags(&written.speaks_against)?,
            min_share: written.min_share,
            p0: written.p0,
            min_z: written.min_z,
            min_followed: written.min_followed,
            weight: written.weight,
            rule: written.rule,
            absent: written.absent.unwrap_or_else(|| written.deviation.clone()),
            deviation: written.deviation,
            spurious: written.spurious,
            example: written.example,
            settings: Settings {
                paranoid: written
                    .paranoid
                    .iter()
                    .map(|text| routine(text))
                    .collect::<Result<_, _>>()?,
                ignored: written.ignore,
                backdoors: written.backdoors,
            },
        })
    }

    /// The built-in templates, by folder.
    pub fn builtin() -> Vec<Template> {
        let parse = |builtin: &Builtin| {
            Template::parse(builtin.text, builtin.doc)
                .expect("a test reads every built-in template")
        };
        BUILTIN.iter().map(parse).collect()
    }

    /// A template in a file, or in the folder that holds its `template.toml`.
    pub fn read(path: &Path) -> Result<Self, TemplateError> {
        let file = if path.is_dir() { path.join("template.toml") } else { path.to_owned() };
        let text = std::fs::read_to_string(&file)
            .map_err(|error| TemplateError::Unreadable { path: file.clone(), error })?;
        let doc = std::fs::read_to_string(file.with_file_name("doc.md")).unwrap_or_default();
        Self::parse(&text, &doc).map_err(|message| TemplateError::Wrong { path: file, message })
    }

    /// Whether the template looks at rows with these flags.
    pub fn wants(&self, flags: u32) -> bool {
        flags & self.required == self.required && flags & self.unless == 0
    }

    /// Whether a row that follows the rule makes it one that must hold.
    pub fn promotes(&self, flags: u32) -> bool {
        self.promote != 0 && flags & self.promote == self.promote
    }

    pub fn follows(&self, outcome: Outcome) -> bool {
        self.follows.contains(&outcome)
    }

    pub fn breaks(&self, outcome: Outcome) -> bool {
        self.breaks.contains(&outcome)
    }

    pub fn has_partner(&self) -> bool {
        self.slots.len() == 2 && self.absent_breaks
    }

    pub fn accepts_name(&self, name: &str) -> bool {
        let matches =
            |patterns: &[glob::Pattern]| patterns.iter().any(|p| p.matches_with(name, CASE));
        (self.names.is_empty() || matches(&self.names)) && !matches(&self.not_names)
    }

    pub fn accepts_partner(&self, name: &str) -> bool {
        self.partner_names.is_empty()
            || self.partner_names.iter().any(|p| p.matches_with(name, CASE))
    }

    /// Whether a row about something done by a routine of this name has a say.
    pub fn accepts_routine(&self, name: &str) -> bool {
        name.is_empty() || self.by.is_empty() || self.by.iter().any(|p| p.matches_with(name, CASE))
    }

    /// Whether the names alone tell that the two belong together.
    pub fn hinted(&self, a: &str, b: &str) -> bool {
        let (a, b): (Vec<String>, Vec<String>) =
            (latent::words(a).collect(), latent::words(b).collect());
        self.hints.iter().any(|[first, second]| has_word(&a, first) && has_word(&b, second))
    }

    pub fn accepts_pair(&self, a: &str, b: &str) -> bool {
        !self.hints_only || self.hinted(a, b)
    }
}

/// `copy_from_user:2`: a routine, and which of its arguments counts, from 1.
pub fn routine(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once(':').and_then(|(name, argument)| {
        Some((name.to_owned(), argument.parse::<u32>().ok()?.checked_sub(1)?))
    });
    parsed.ok_or_else(|| format!("`{text}` is no routine with its argument, such as copyin:1"))
}

/// What the templates together tell extraction.
pub fn settings(templates: &[Template]) -> Settings {
    let mut all = Settings::default();
    for template in templates {
        all.extend(template.settings.clone());
    }
    all
}

const CASE: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: false,
    require_literal_separator: false,
    require_literal_leading_dot: false,
};

/// `lock` is a word of `spin_lock` and `rdlock`, not of `unlock`.
fn has_word(words: &[String], hint: &str) -> bool {
    words
        .iter()
        .any(|word| word == hint || (word.ends_with(hint) && !word.ends_with(&format!("un{hint}"))))
}

fn flags(names: &[String]) -> Result<u32, String> {
    let mut bits = 0;
    for name in names {
        bits |= flag(name).ok_or_else(|| {
            format!("no flag is called {name}; there are {}", crate::event::FLAGS.join(", "))
        })?;
    }
    Ok(bits)
}

fn outcomes(names: &[String]) -> Result<Vec<Outcome>, String> {
    let find = |name: &String| {
        Outcome::ALL.into_iter().find(|outcome| outcome.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
            format!("no outcome is called {name}; there are {}", known.join(", "))
        })
    };
    names.iter().map(find).collect()
}

fn patterns(texts: &[String]) -> Result<Vec<glob::Pattern>, String> {
    let parse = |text: &String| {
        glob::Pattern::new(text).map_err(|error| format!("`{text}` is no pattern: {error}"))
    };
    texts.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_template_can_be_read_and_is_documented() {
        for builtin in BUILTIN {
            let template = Template::parse(builtin.text, builtin.doc).unwrap();
            assert!(template.doc.contains("## Example"), "{} has no example", template.id);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let text = BUILTIN[0].text.replacen("event = \"", "event = \"un", 1);
        assert!(Template::parse(&text, "").unwrap_err().contains("no event is called un"));
    }

    #[test]
    fn hints_are_words_of_names() {
        let words = |name| latent::words(name).collect::<Vec<_>>();
        assert!(has_word(&words("pthread_rdlock"), "lock"));
        assert!(!has_word(&words("spin_unlock"), "lock"));
        assert!(has_word(&words("spin_unlock"), "unlock"));
    }
}

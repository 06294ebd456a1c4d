//! What is known of each injection, kept line by line so that a measurement can go on where it
//! stopped.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::draw::Injected;
use super::kind::Kind;
use super::measure::Outcome;

/// What must be the same for rows to belong to one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub commit: String,
    pub seed: u64,
    pub count: usize,
    pub batch: usize,
    pub projects: Vec<String>,
    pub kinds: Vec<Kind>,
    pub options: Vec<String>,
}

impl Header {
    /// Whether the same faults were put in, whoever looked for them.
    fn is_same_draw(&self, other: &Header) -> bool {
        let of = |h: &Header| (h.seed, h.count, h.projects.clone(), h.kinds.clone());
        of(self) == of(other)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub id: String,
    pub project: String,
    pub kind: Kind,
    pub file: String,
    pub line: u32,
    pub function: String,
    /// The rule of the report that shows it.
    pub found: Option<String>,
    pub is_through: bool,
    /// New reports of other rules in or through the function.
    pub other: Vec<String>,
    /// Why questions of a right rule in the function stayed open.
    #[serde(default)]
    pub undecided: Vec<String>,
    pub cpu: f64,
    pub trouble: String,
    /// Whether clang's analyzer shows it, where it was asked.
    pub clang: Option<bool>,
    /// Whether a sanitizer shows it in the package's tests, where there are any.
    pub tests: Option<bool>,
    pub diff: String,
}

impl Row {
    pub fn new(project: &str, file: String, injected: &Injected, outcome: &Outcome) -> Self {
        let other = outcome.score.other.iter();
        let other = other.map(|seen| format!("{}:{} {}", seen.place.1, seen.rule, seen.message));
        Self {
            id: injected.id.clone(),
            project: project.to_owned(),
            kind: injected.kind,
            file,
            line: injected.line,
            function: injected.function.clone(),
            found: outcome.score.found.as_ref().map(|seen| seen.rule.clone()),
            is_through: outcome.score.is_through,
            other: other.collect(),
            undecided: outcome.undecided.clone(),
            cpu: outcome.cpu.as_secs_f64(),
            trouble: outcome.trouble.clone(),
            clang: None,
            tests: None,
            diff: injected.diff.clone(),
        }
    }

    /// The line that is printed as it comes.
    pub fn line(&self) -> String {
        let found = match (&self.found, self.is_through) {
            (Some(rule), false) => format!("found: {rule}"),
            (Some(rule), true) => format!("found: {rule}, through it"),
            (None, _) if !self.trouble.is_empty() => format!("missed: {}", self.trouble),
            (None, _) if !self.other.is_empty() => "missed, other rules report".to_owned(),
            (None, _) => "missed".to_owned(),
        };
        let says = |tool: &str, said: Option<bool>| {
            said.map_or(String::new(), |said| {
                format!("; {tool} {}", if said { "yes" } else { "no" })
            })
        };
        format!(
            "{} {}:{} {} ({}): {found}{}{}",
            self.id,
            self.file,
            self.line,
            self.function,
            self.kind.title(),
            says("clang", self.clang),
            says("tests", self.tests),
        )
    }
}

/// Rows of an earlier run and where new ones are added.
pub struct Store {
    path: Option<PathBuf>,
    pub rows: BTreeMap<String, Row>,
}

impl Store {
    /// Without a path nothing is kept.
    pub fn open(path: Option<&Path>, header: &Header) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { path: None, rows: BTreeMap::new() }) };
        let (old, rows) = match read(path)? {
            Some((old, rows)) => (Some(old), rows),
            None => (None, BTreeMap::new()),
        };
        if let Some(old) = old.as_ref().filter(|old| *old != header) {
            bail!(
                "{} is of another measurement ({} with seed {}); take another file",
                path.display(),
                old.commit,
                old.seed
            );
        }
        let mut store = Self { path: Some(path.to_path_buf()), rows };
        if old.is_none() {
            store.append(&serde_json::to_string(header)?)?;
        }
        Ok(store)
    }

    pub fn add(&mut self, row: Row) -> Result<()> {
        println!("{}", row.line());
        self.append(&serde_json::to_string(&row)?)?;
        self.rows.insert(row.id.clone(), row);
        Ok(())
    }

    fn append(&mut self, line: &str) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
        // A first line break ends what was cut off.
        write!(file, "\n{line}\n").with_context(|| format!("cannot write {}", path.display()))
    }
}

/// What a file has; `None` where it is empty or is not there.
fn read(path: &Path) -> Result<Option<(Header, BTreeMap<String, Row>)>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Ok(None) };
    let header: Header = serde_json::from_str(first)
        .with_context(|| format!("{} has no rows of this benchmark", path.display()))?;
    // A line that was cut off is measured again.
    let rows = lines.filter_map(|line| serde_json::from_str::<Row>(line).ok());
    Ok(Some((header, rows.map(|row| (row.id.clone(), row)).collect())))
}

/// What another commit found of the same faults.
pub struct Before {
    pub commit: String,
    pub rows: BTreeMap<String, Row>,
}

impl Before {
    pub fn load(path: &Path, header: &Header) -> Result<Self> {
        let read = read(path)?;
        let (old, rows) = read.with_context(|| format!("{} has no rows", path.display()))?;
        if !old.is_same_draw(header) {
            bail!("{} is of other faults; they cannot be compared", path.display());
        }
        Ok(Self { commit: old.commit, rows })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn row(id: &str, kind: Kind, found: Option<&str>) -> Row {
        Row {
            id: id.to_owned(),
            project: id.split('-').next().unwrap_or_default().to_owned(),
            kind,
            file: "a.c".to_owned(),
            line: 3,
            function: "f".to_owned(),
            found: found.map(str::to_owned),
            is_through: false,
            other: Vec::new(),
            undecided: Vec::new(),
            cpu: 1.5,
            trouble: String::new(),
            clang: None,
            tests: None,
            diff: "-a\n+b\n".to_owned(),
        }
    }

    fn header(seed: u64) -> Header {
        Header {
            commit: "abc".to_owned(),
            seed,
            count: 3,
            batch: 1,
            projects: vec!["x".to_owned()],
            kinds: Kind::ALL.to_vec(),
            options: Vec::new(),
        }
    }

    #[test]
    fn rows_are_there_again_and_a_cut_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        let mut store = Store::open(Some(&path), &header(1)).unwrap();
        store.add(row("x-001", Kind::Bound, None)).unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"id\": \"x-00";
        std::fs::write(&path, text).unwrap();
        let mut store = Store::open(Some(&path), &header(1)).unwrap();
        assert_eq!(store.rows.len(), 1);
        store.add(row("x-003", Kind::Bound, Some("leak"))).unwrap();
        // What is known later takes the place of the row.
        store.add(Row { clang: Some(true), ..row("x-001", Kind::Bound, None) }).unwrap();
        let rows = Store::open(Some(&path), &header(1)).unwrap().rows;
        assert_eq!((rows.len(), rows["x-001"].clang), (2, Some(true)));
    }

    #[test]
    fn only_the_same_faults_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        assert!(Before::load(&path, &header(1)).is_err());
        let old = Header { commit: "old".to_owned(), ..header(1) };
        let mut store = Store::open(Some(&path), &old).unwrap();
        store.add(row("x-001", Kind::Bound, Some("leak"))).unwrap();
        let before = Before::load(&path, &header(1)).unwrap();
        assert_eq!((before.commit.as_str(), before.rows.len()), ("old", 1));
        assert!(Before::load(&path, &header(2)).is_err());
    }

    #[test]
    fn rows_of_another_measurement_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        Store::open(Some(&path), &header(1)).unwrap();
        assert!(Store::open(Some(&path), &header(2)).is_err());
        std::fs::write(&path, "hello\n").unwrap();
        assert!(Store::open(Some(&path), &header(1)).is_err());
    }
}

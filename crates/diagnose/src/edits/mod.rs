//! Typed source edits: what the annotation library says a statement may have to be instead.
//!
//! An edit replaces some bytes of the user's text. Beside that it names a *site*, the whole
//! expression around them, which can be chosen by a conditional expression, so that one repair
//! program can hold all edits at once.

mod additions;
mod breaks;
mod conditions;
mod constants;
mod context;
mod copies;
mod guards;
mod limits;
mod misfits;
mod omissions;
mod rules;

pub use context::Context;
pub use guards::guards;

use std::collections::BTreeSet;
use std::ops::Range;

use findings::{Change, Place, Repair};
use syntax::{Source, Statement, StatementKind};

use crate::SourceFile;
use crate::library::Library;

/// Longer texts are left to the diff.
const MAX_SHOWN: usize = 24;

/// The condition of what is added without one.
const ALWAYS: &str = "1";

/// One possible change of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Which of the files.
    pub file: usize,
    /// What the user's text has there, and what it becomes.
    pub bytes: Range<usize>,
    pub new: String,
    /// The expression the repair program chooses the value of, its text after the edit, and what
    /// becomes of the value.
    pub site: Range<usize>,
    pub site_text: String,
    pub fate: Fate,
    /// As the library calls it; `operator` for operators.
    pub kind: &'static str,
    pub weight: u32,
    /// The statement it changes, its own bytes.
    pub statement: Range<usize>,
    pub function: String,
    /// The statement that is added at `site`, where it exchanges nothing.
    pub guard: Option<Guard>,
}

/// What becomes of the value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Only the effects count.
    Dropped,
    /// It is zero or not.
    Tested,
    /// It becomes this type, whatever it was.
    Converted(String),
    Kept,
}

/// `if (condition) exit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub condition: String,
    /// A whole statement: `return 0;`.
    pub exit: String,
}

impl Edit {
    /// Whether it makes `<` of `<=` or the like.
    pub fn is_about_equality(&self, source: &Source) -> bool {
        let pair = (source.slice(&self.bytes), self.new.as_str());
        let is_pair = |a: &str, b: &str| pair == (a.to_owned(), b) || pair == (b.to_owned(), a);
        is_pair("<", "<=") || is_pair(">", ">=")
    }

    /// The kind of mistake, and what should stand there.
    pub fn why(&self, source: &Source) -> String {
        let (kind, old) = (self.kind.replace('-', " "), source.slice(&self.bytes));
        match &self.guard {
            Some(guard) if guard.condition == ALWAYS => return format!("{kind}: `{}`", guard.exit),
            Some(guard) => return format!("{kind}: `if ({}) {}`", guard.condition, guard.exit),
            None => {}
        }
        let is_short = |text: &str| text.len() <= MAX_SHOWN && !text.contains('\n');
        match is_short(&old) && is_short(&self.new) {
            true => format!("{kind}: `{}` instead of `{old}`", self.new),
            false => kind,
        }
    }

    /// The same as findings tell it.
    pub fn change(&self, path: &str, source: &Source) -> Change {
        let (line, column) = source.position(self.bytes.start);
        let function = self.function.clone();
        let place = Place { file: path.to_owned(), line, column, function };
        Change { place, old: source.slice(&self.bytes), new: self.new.clone() }
    }
}

/// Every edit the library has for some files, the likeliest first; none is tried.
pub fn list(files: &[SourceFile], library: &Library) -> Vec<Repair> {
    let mut all = Vec::new();
    for (index, file) in files.iter().enumerate().filter(|(_, file)| !file.is_kept) {
        let source = Source::parse(file.text.clone());
        let (last, _) = source.position(file.text.len());
        for edit in enumerate(&source, index, library, &(1..=last).collect()) {
            let why = format!("{}, weight {}", edit.why(&source), edit.weight);
            all.push((edit.weight, edit.change(&file.path, &source), why));
        }
    }
    all.sort_by_key(|(weight, ..)| u32::MAX - weight);
    let listed = all.into_iter().zip(1..).map(|((_, change, why), rank)| Repair {
        rank,
        fault: None,
        changes: vec![change],
        steps: Vec::new(),
        verified: Vec::new(),
        why,
    });
    listed.collect()
}

/// The edits of every statement of a file that stands on one of these lines, the likeliest
/// first.
pub fn enumerate(
    source: &Source,
    file: usize,
    library: &Library,
    lines: &BTreeSet<u32>,
) -> Vec<Edit> {
    let context = Context::new(source);
    let mut found: Vec<Edit> = Vec::new();
    for statement in source.statements() {
        let (first, _) = source.position(statement.bytes.start);
        let (last, _) = source.position(statement.bytes.end.saturating_sub(1));
        let is_wanted = lines.range(first..=last).next().is_some();
        if !is_wanted || !can_be_edited(source, &statement) {
            continue;
        }
        rules::edits_of(&context, file, library, &statement, &mut found);
    }
    found.extend(breaks::breaks(source, file, library, lines));
    found.extend(additions::additions(&context, file, library, lines));
    copies::prefer(&context, library, &mut found);
    // Of two kinds of mistake with one remedy the likelier stays.
    found.sort_by_key(|edit| (u32::MAX - edit.weight, edit.bytes.start));
    let mut known = BTreeSet::new();
    found.retain(|edit| {
        let is_change = source.slice(&edit.bytes) != edit.new;
        // A comment to the end of the line would swallow what follows on the same line.
        let is_whole = !edit.site_text.contains("//") && !edit.site_text.contains('#');
        is_change
            && is_whole
            && edit.weight > 0
            && known.insert((edit.bytes.start, edit.bytes.end, edit.new.clone()))
    });
    found
}

/// Values that must be constant cannot be chosen at run time.
fn can_be_edited(source: &Source, statement: &Statement) -> bool {
    let text = source.slice(&statement.bytes);
    let is_static =
        statement.kind == StatementKind::Declaration && text.trim_start().starts_with("static");
    !is_static
        && !matches!(statement.kind, StatementKind::Case | StatementKind::Other)
        && !source.has_error(&statement.bytes)
}

//! What the user's text says where the program model names a place.
//!
//! Compilers give a comparison the place of its operator, a call or an element of an array its
//! beginning, and a decision that of its condition, of the `&&` it belongs to or of its loop.

use std::collections::BTreeMap;
use std::ops::Range;

use program::{LocId, Program};
use rustc_hash::FxHashMap;
use syntax::{Expression, Source, Statement, StatementKind};

/// Longer texts are not repeated.
const MAX_TEXT: usize = 80;

/// The files of a program, by the path its positions have.
pub struct Texts {
    files: BTreeMap<String, File>,
}

struct File {
    source: Source,
    lines: Vec<usize>,
    expressions: Vec<Expression>,
    statements: Vec<Statement>,
    /// Expressions by where they start, and by where their operator does.
    starting: FxHashMap<usize, Vec<usize>>,
    operators: FxHashMap<usize, usize>,
    by_bytes: FxHashMap<Range<usize>, usize>,
}

/// What is decided, and by which comparison; none where it is just a value.
pub struct Decided {
    pub text: String,
    pub comparison: Option<String>,
}

impl Texts {
    /// From each file's path and text.
    pub fn new<'t>(files: impl IntoIterator<Item = (&'t str, &'t [u8])>) -> Self {
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), File::new(text)));
        Self { files: files.collect() }
    }

    fn at(&self, program: &Program, loc: LocId) -> Option<(&File, usize)> {
        let loc = program.locs.get(loc).filter(|known| loc.is_known() && known.column > 0)?;
        let file = self.files.get(&program.files.get(loc.file)?.path)?;
        let line = file.lines.get(loc.line.checked_sub(1)? as usize)?;
        Some((file, line + loc.column as usize - 1))
    }

    /// What a branch decides by. Of `a && b` each part is decided by itself, and `!a` by `a`.
    pub fn decided(&self, program: &Program, loc: LocId) -> Option<Decided> {
        let (file, at) = self.at(program, loc)?;
        let mut found = match file.operators.get(&at).map(|index| &file.expressions[*index]) {
            Some(joined) if file.joins(joined) => file.find(joined.operands.first()?)?,
            _ => file.condition(at)?,
        };
        loop {
            let inner = match found.kind {
                "parenthesized_expression" | "conditional_expression" => found.operands.first(),
                "unary_expression" if file.operator(found) == "!" => found.operands.first(),
                "binary_expression" if file.joins(found) => found.operands.get(1),
                _ => None,
            };
            match inner.and_then(|bytes| file.find(bytes)) {
                Some(inner) => found = inner,
                None => break,
            }
        }
        let operator = file.operator(found);
        let is_comparison = matches!(operator.as_str(), "<" | "<=" | ">" | ">=" | "==" | "!=");
        let text = file.shown(&found.bytes)?;
        Some(Decided { text, comparison: is_comparison.then_some(operator) })
    }

    /// `return x`.
    pub fn returned(&self, program: &Program, loc: LocId) -> Option<String> {
        let (file, at) = self.at(program, loc)?;
        let mut statements = file.statements.iter();
        let found = statements.find(|s| s.kind == StatementKind::Return && s.bytes.start == at)?;
        let text = file.shown(&found.bytes)?;
        Some(text.trim_end_matches(';').trim_end().to_owned())
    }

    /// What is read or written.
    pub fn accessed(&self, program: &Program, loc: LocId) -> Option<String> {
        let (file, at) = self.at(program, loc)?;
        let by_operator = file.operators.get(&at).map(|index| &file.expressions[*index]);
        if let Some(changed) = by_operator
            && matches!(changed.kind, "assignment_expression" | "update_expression")
        {
            return file.shown(changed.operands.first()?);
        }
        let starting = file.starting.get(&at)?.iter().map(|index| &file.expressions[*index]);
        let places = starting.filter(|e| {
            matches!(e.kind, "subscript_expression" | "field_expression" | "pointer_expression")
        });
        file.shown(&places.max_by_key(|e| e.bytes.len())?.bytes)
    }

    /// What a variable of this name is set to by `=`.
    pub fn assigned(&self, program: &Program, loc: LocId, name: &str) -> Option<String> {
        let (file, at) = self.at(program, loc)?;
        if let Some(index) = file.operators.get(&at) {
            let e = &file.expressions[*index];
            let is_plain = e.kind == "assignment_expression" && file.operator(e) == "=";
            return e.operands.get(1).filter(|_| is_plain).and_then(|right| file.shown(right));
        }
        let text = file.source.text().get(at..)?.strip_prefix(name.as_bytes())?;
        let blanks = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let before = blanks(text);
        let value = text.get(before..)?.strip_prefix(b"=")?;
        let start = at + name.len() + before + 1 + blanks(value);
        let starting = file.starting.get(&start)?.iter().map(|index| &file.expressions[*index]);
        let value = starting.filter(|e| e.parent == ("init_declarator", Some("value")));
        file.shown(&value.max_by_key(|e| e.bytes.len())?.bytes)
    }

    /// A call that begins here.
    pub fn call(&self, program: &Program, loc: LocId) -> Option<String> {
        let (file, at) = self.at(program, loc)?;
        let starting = file.starting.get(&at)?.iter().map(|index| &file.expressions[*index]);
        let calls = starting.filter(|e| e.kind == "call_expression");
        file.shown(&calls.min_by_key(|e| e.bytes.len())?.bytes)
    }

    /// What a `switch` chooses by.
    pub fn switched(&self, program: &Program, loc: LocId) -> Option<String> {
        let (file, at) = self.at(program, loc)?;
        let switch = file.switch(at)?;
        let condition = file
            .expressions
            .iter()
            .filter(|e| switch.bytes.start <= e.bytes.start && e.bytes.end <= switch.bytes.end);
        let text = file.shown(&condition.max_by_key(|e| e.bytes.len())?.bytes)?;
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        Some(inner.map_or(text.as_str(), str::trim).to_owned())
    }

    /// The label of a `switch` for this number, where it is a character.
    pub fn character_case(&self, program: &Program, loc: LocId, value: i128) -> Option<String> {
        let (file, at) = self.at(program, loc)?;
        let switch = file.switch(at)?;
        let cases = file
            .statements
            .iter()
            .filter(|s| s.kind == StatementKind::Case && switch.whole.contains(&s.bytes.start));
        let mut labels = cases.filter_map(|case| {
            let text = file.shown(&case.bytes)?;
            Some(text.strip_prefix("case")?.trim_end_matches(':').trim().to_owned())
        });
        labels.find(|label| character(label).is_some_and(|known| i128::from(known) == value))
    }
}

impl File {
    fn new(text: &[u8]) -> Self {
        let source = Source::parse(text.to_vec());
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        let expressions = source.expressions(&(0..text.len()));
        let statements = source.statements();
        let mut starting: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let (mut operators, mut by_bytes) = (FxHashMap::default(), FxHashMap::default());
        for (index, e) in expressions.iter().enumerate() {
            starting.entry(e.bytes.start).or_default().push(index);
            operators.extend(e.operator.as_ref().map(|operator| (operator.start, index)));
            by_bytes.entry(e.bytes.clone()).or_insert(index);
        }
        Self { source, lines, expressions, statements, starting, operators, by_bytes }
    }

    fn find(&self, bytes: &Range<usize>) -> Option<&Expression> {
        self.by_bytes.get(bytes).map(|index| &self.expressions[*index])
    }

    fn operator(&self, e: &Expression) -> String {
        e.operator.as_ref().map(|bytes| self.source.slice(bytes)).unwrap_or_default()
    }

    fn joins(&self, e: &Expression) -> bool {
        matches!(self.operator(e).as_str(), "&&" | "||")
    }

    /// The condition that begins here, or that of the loop that does.
    fn condition(&self, at: usize) -> Option<&Expression> {
        if let Some(starting) = self.starting.get(&at) {
            let starting = starting.iter().map(|index| &self.expressions[*index]);
            let values = starting.filter(|e| e.kind != "assignment_expression");
            return values.max_by_key(|e| e.bytes.len());
        }
        let is_loop = |s: &&Statement| {
            s.bytes.start == at && matches!(s.kind, StatementKind::For | StatementKind::While)
        };
        let around = self.statements.iter().find(is_loop)?;
        let inside = self
            .expressions
            .iter()
            .filter(|e| around.bytes.start <= e.bytes.start && e.bytes.end <= around.bytes.end);
        let mut conditions = inside.filter(|e| e.parent.1 == Some("condition"));
        conditions.next()
    }

    fn switch(&self, at: usize) -> Option<&Statement> {
        self.statements.iter().find(|s| s.kind == StatementKind::Switch && s.bytes.start == at)
    }

    /// A text of one line that is not too long.
    fn shown(&self, bytes: &Range<usize>) -> Option<String> {
        let text = std::str::from_utf8(self.source.text().get(bytes.clone())?).ok()?;
        let is_short = text.len() <= MAX_TEXT && !text.contains(['\n', '\r', '\t']);
        is_short.then(|| text.to_owned())
    }
}

/// The number of `'x'` or `'\n'`.
fn character(literal: &str) -> Option<u8> {
    let inner = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    match inner.as_bytes() {
        [byte] => Some(*byte),
        b"\\n" => Some(b'\n'),
        b"\\t" => Some(b'\t'),
        b"\\r" => Some(b'\r'),
        b"\\0" => Some(0),
        [b'\\', byte @ (b'\'' | b'"' | b'\\')] => Some(*byte),
        _ => None,
    }
}

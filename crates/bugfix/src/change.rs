//! Which statement a change of a file is about, and how it was fixed.

use syntax::{Source, Statement, StatementKind};

use crate::describe::{Fixes, describe};
use crate::scope::Scope;
use crate::term::{Term, text_of};

/// A fix of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementFix {
    /// The statement of the old text that was faulty; where code was missing, the one that
    /// follows, or else the one before.
    pub statement: Statement,
    pub fixes: Fixes,
}

/// Why a change is no fix of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFix {
    #[error("no statement changes")]
    Nothing,
    #[error("more than one statement changes")]
    Several,
    #[error("code outside of statements changes, too")]
    Elsewhere,
    #[error("the code is not C as the parser knows it")]
    NotC,
    #[error("the files are too large")]
    TooLarge,
}

/// Larger files are not looked at.
pub const MAX_FILE: usize = 2 << 20;

/// Statements between the first and the last difference; more is no fix of one statement.
const MAX_STRETCH: usize = 200;

/// The one statement that differs between two versions of a file.
pub fn statement_fix(old: &[u8], new: &[u8]) -> Result<StatementFix, NoFix> {
    if old.len() > MAX_FILE || new.len() > MAX_FILE {
        return Err(NoFix::TooLarge);
    }
    let old = Version::new(old);
    let new = Version::new(new);
    let (gone, come) = differences(&old.texts, &new.texts)?;
    match (gone.as_slice(), come.as_slice()) {
        ([], []) => Err(NoFix::Nothing),
        ([before], [after]) => modified(&old, *before, &new, *after),
        ([], [first, rest @ ..]) if new.are_inside(*first, rest) => added(&old, &new, *first),
        ([first, rest @ ..], []) if old.are_inside(*first, rest) => removed(&old, *first),
        _ => Err(NoFix::Several),
    }
}

struct Version {
    source: Source,
    statements: Vec<Statement>,
    /// What each says, with the function it is in.
    texts: Vec<(String, String)>,
}

impl Version {
    fn new(text: &[u8]) -> Self {
        let source = Source::parse(text);
        let statements = source.statements();
        let texts =
            statements.iter().map(|s| (s.function.clone(), text_of(&source, &s.bytes))).collect();
        Self { source, statements, texts }
    }

    /// Whether statements are nested in another.
    fn are_inside(&self, outer: usize, inner: &[usize]) -> bool {
        let outer = &self.statements[outer].whole;
        inner.iter().all(|inner| {
            let inner = &self.statements[*inner].bytes;
            outer.start <= inner.start && inner.end <= outer.end
        })
    }

    fn term(&self, number: usize) -> Term {
        Term::of_statement(&self.source, &self.statements[number])
    }
}

/// Statements of the old version that are gone, and of the new that have come.
fn differences<T: PartialEq>(old: &[T], new: &[T]) -> Result<(Vec<usize>, Vec<usize>), NoFix> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b);
    let back = back.count();
    let old_rest = &old_rest[..old_rest.len() - back];
    let new_rest = &new_rest[..new_rest.len() - back];
    if old_rest.len() > MAX_STRETCH || new_rest.len() > MAX_STRETCH {
        return Err(NoFix::Several);
    }
    let (mut gone, mut come) = unmatched(old_rest, new_rest);
    gone.iter_mut().chain(&mut come).for_each(|number| *number += front);
    Ok((gone, come))
}

/// What is not part of the longest common subsequence.
fn unmatched<T: PartialEq>(old: &[T], new: &[T]) -> (Vec<usize>, Vec<usize>) {
    let mut lengths = vec![vec![0u16; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i][j] = if old[i] == new[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && lengths[i + 1][j] >= lengths[i][j + 1]) {
            gone.push(i);
            i += 1;
        } else {
            come.push(j);
            j += 1;
        }
    }
    (gone, come)
}

fn modified(
    old: &Version,
    before: usize,
    new: &Version,
    after: usize,
) -> Result<StatementFix, NoFix> {
    let (statement, changed) = (&old.statements[before], &new.statements[after]);
    if old.source.has_error(&statement.bytes) || new.source.has_error(&changed.bytes) {
        return Err(NoFix::NotC);
    }
    // Nothing else may differ: what stands before and behind it is the same.
    let rest = |source: &Source, statement: &Statement| {
        let end = source.text().len();
        let front = text_of(source, &(0..statement.bytes.start));
        (front, text_of(source, &(statement.bytes.end..end)))
    };
    if rest(&old.source, statement) != rest(&new.source, changed) {
        return Err(NoFix::Elsewhere);
    }
    let scope = Scope::new(&old.source);
    let fixes = describe(&old.term(before), &new.term(after), &scope);
    if fixes.is_empty() {
        Err(NoFix::Nothing)
    } else {
        Ok(StatementFix { statement: statement.clone(), fixes })
    }
}

fn added(old: &Version, new: &Version, first: usize) -> Result<StatementFix, NoFix> {
    let statement = &new.statements[first];
    if new.source.has_error(&statement.bytes) {
        return Err(NoFix::NotC);
    }
    // Up to the added one both versions have the same statements.
    let following = old.statements.get(first);
    let preceding = first.checked_sub(1).and_then(|before| old.statements.get(before));
    let near = [following, preceding].into_iter().flatten();
    let near = near.into_iter().find(|near| near.function == statement.function);
    let near = near.ok_or(NoFix::Nothing)?;
    let mut fixes = whole_statement("add", statement.kind, &new.term(first));
    if statement.kind == StatementKind::If {
        let condition = new.term(first);
        fixes.extend(kind_of_check(&condition).map(|kind| format!("add a {kind} check")));
    }
    Ok(StatementFix { statement: near.clone(), fixes })
}

fn removed(old: &Version, first: usize) -> Result<StatementFix, NoFix> {
    let statement = old.statements[first].clone();
    if old.source.has_error(&statement.bytes) {
        return Err(NoFix::NotC);
    }
    let fixes = whole_statement("remove", statement.kind, &old.term(first));
    Ok(StatementFix { statement, fixes })
}

/// A statement that has come or gone as a whole.
pub(crate) fn whole_statement(verb: &str, kind: StatementKind, term: &Term) -> Fixes {
    let mut fixes = Fixes::from([format!("{verb} a statement")]);
    let all = term.all();
    let has = |kind: &str| all.iter().any(|term| term.kind == kind);
    let call = all.iter().find(|term| term.kind == "call_expression");
    let assigns = has("assignment_expression") || has("update_expression");
    let what = match kind {
        StatementKind::If => "a check",
        StatementKind::For | StatementKind::While | StatementKind::DoWhile => "a loop",
        StatementKind::Case | StatementKind::Switch => "a case",
        StatementKind::Return | StatementKind::Jump => "a jump",
        StatementKind::Declaration => "a declaration",
        StatementKind::Expression if assigns => "an assignment",
        StatementKind::Expression if call.is_some() => "a call",
        _ => return fixes,
    };
    fixes.insert(format!("{verb} {what}"));
    if what == "a call"
        && let Some(name) = call.and_then(|call| call.child("function")).filter(|f| f.is_name())
    {
        fixes.insert(format!("{verb} a call of `{}`", name.text));
    }
    fixes
}

/// What a condition tests.
fn kind_of_check(condition: &Term) -> Option<&'static str> {
    let all = condition.all();
    let compares = |operators: &[&str]| {
        all.iter().any(|term| {
            term.operands().is_some() && operators.contains(&term.operator().unwrap_or(""))
        })
    };
    let names_null = all.iter().any(|term| term.kind == "null");
    let negates_name = all.iter().any(|term| {
        term.kind == "unary_expression"
            && term.operator() == Some("!")
            && term.child("argument").is_some_and(|a| a.inner().is_name())
    });
    if names_null || negates_name {
        Some("null")
    } else if compares(&["<", "<=", ">", ">="]) {
        Some("bound")
    } else if compares(&["==", "!="]) {
        Some("value")
    } else {
        None
    }
}

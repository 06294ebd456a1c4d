//! The steps of a path made readable: each thing said once, calls only where something
//! happens in them.

use findings::Step;

use crate::machine::trail::What;

/// A step that may still be merged or dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub step: Step,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Call,
    Return,
    /// A call whose result matters.
    Result,
    /// A variable gets a value.
    Bound,
    Other,
}

impl Kind {
    pub fn of(what: &What) -> Self {
        match what {
            What::Entered { .. } => Kind::Call,
            What::Returned { .. } => Kind::Return,
            What::Modelled { .. } => Kind::Result,
            What::Bound { .. } | What::Filled { .. } | What::Stored { .. } => Kind::Bound,
            What::Branch { .. } | What::Allocated(_) | What::Effect(..) | What::Skipped { .. } => {
                Kind::Other
            }
        }
    }
}

/// The steps worth reading. A return shows by the nesting of what follows it.
pub fn readable(mut drafts: Vec<Draft>) -> Vec<Step> {
    merge_results(&mut drafts);
    drop_repeated(&mut drafts);
    drop_idle_calls(&mut drafts);
    let kept = drafts.into_iter().filter(|draft| draft.kind != Kind::Return);
    kept.map(|draft| draft.step).collect()
}

/// `p = malloc(n)` is one step: the variable that gets the result says all.
fn merge_results(drafts: &mut Vec<Draft>) {
    let mut index = 0;
    while index + 1 < drafts.len() {
        let (call, bound) = (&drafts[index], &drafts[index + 1]);
        let (at, to) = (&call.step.place, &bound.step.place);
        let is_merged = call.kind == Kind::Result
            && bound.kind == Kind::Bound
            && (&at.file, at.line, call.step.depth) == (&to.file, to.line, bound.step.depth);
        if is_merged {
            let place = at.clone();
            drafts[index + 1].step.place = place;
            drafts.remove(index);
        } else {
            index += 1;
        }
    }
}

/// What was said once still holds: a sentence about a variable or branch needs no repeating.
fn drop_repeated(drafts: &mut Vec<Draft>) {
    let mut said = std::collections::BTreeSet::new();
    drafts.retain(|draft| {
        let is_call = matches!(draft.kind, Kind::Call | Kind::Return);
        is_call || said.insert(draft.step.note.clone())
    });
}

/// A call in which nothing happened but that parameters got their values says nothing.
fn drop_idle_calls(drafts: &mut Vec<Draft>) {
    let mut index = 0;
    while index < drafts.len() {
        let depth = drafts[index].step.depth;
        let inside = drafts[index + 1..]
            .iter()
            .take_while(|draft| draft.kind == Kind::Bound && draft.step.depth > depth)
            .count();
        let end = index + 1 + inside;
        let is_idle = drafts[index].kind == Kind::Call
            && drafts
                .get(end)
                .is_some_and(|next| next.kind == Kind::Return && next.step.depth == depth);
        if is_idle {
            drafts.drain(index..=end);
            // The call around it may be idle now.
            index = 0;
        } else {
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Place;

    fn draft(kind: Kind, line: u32, depth: u32, note: &str) -> Draft {
        let place = Place { file: "a.c".to_owned(), line, ..Place::default() };
        Draft { step: Step { place, note: note.to_owned(), impact: true, depth }, kind }
    }

    fn notes(drafts: Vec<Draft>) -> Vec<String> {
        readable(drafts).into_iter().map(|step| step.note).collect()
    }

    #[test]
    fn the_variable_that_gets_a_result_says_it() {
        let steps = notes(vec![
            draft(Kind::Result, 3, 0, "what malloc() returns matters"),
            draft(Kind::Bound, 3, 0, "p is what malloc() returned"),
            draft(Kind::Result, 4, 0, "what fgets() returns matters"),
            draft(Kind::Other, 5, 0, "p is not null here"),
            draft(Kind::Other, 9, 0, "p is not null here"),
        ]);
        let expected =
            ["p is what malloc() returned", "what fgets() returns matters", "p is not null here"];
        assert_eq!(steps, expected);
    }

    #[test]
    fn calls_are_told_where_something_happens_in_them() {
        let steps = notes(vec![
            draft(Kind::Call, 1, 0, "calls outer()"),
            draft(Kind::Call, 2, 1, "calls inner()"),
            draft(Kind::Bound, 3, 2, "q is what malloc() returned"),
            draft(Kind::Return, 2, 1, "returns from inner()"),
            draft(Kind::Return, 1, 0, "returns from outer()"),
            draft(Kind::Call, 6, 0, "calls drop()"),
            draft(Kind::Other, 8, 1, "p is freed by free()"),
            draft(Kind::Return, 6, 0, "returns from drop()"),
            draft(Kind::Call, 7, 0, "calls use()"),
        ]);
        assert_eq!(steps, ["calls drop()", "p is freed by free()", "calls use()"]);
    }
}

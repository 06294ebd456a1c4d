//! A violation, told as what is reported: the rule, the place, one line, and related places.

use findings::Step;
use interpret::{FaultKind, Note};
use program::{Callee, Op, Program};
use spec::ast::{Piece, Template};
use spec::lower::{Argument, Bindings};

use crate::ending::{Property, loc_of};
use crate::judge::Given;
use crate::options::Found;
use crate::search::Violation;
use crate::told::{Told, Wanted, tell_watched};
use crate::trace::{Texts, place};
use crate::watching::{Watching, code_point};

/// Runs what violates once more, and tells it.
pub fn found_of(
    (program, texts): (&Program, &Texts),
    entry: &str,
    violation: &Violation,
    watching: Option<&Watching>,
    max_steps: u64,
) -> Found {
    let given = Given::Found(violation.inputs.clone(), violation.limits);
    let wanted = watching.map(|watching| Wanted {
        watch: &watching.watch,
        property: violation.property,
        at: violation.at,
    });
    let told = tell_watched((program, texts), entry, &given, max_steps, wanted);
    let (rule, headline) = match &told.trace.headline {
        Some((rule, line)) => ((*rule).to_owned(), line.clone()),
        None => (told.property.rule().to_owned(), told.trace.message.clone()),
    };
    let kind = match violation.property {
        Property::Fault(kind) => Some(kind),
        Property::Assertion => None,
    };
    let own_rule = kind.and_then(|kind| watching?.rule(kind)).map(str::to_owned);
    let message = match (&told.note, kind) {
        (Some(note), Some(FaultKind::Leak)) => leak(program, note),
        (Some(note), Some(kind @ FaultKind::Rule(_))) => {
            let at = (note.at.0, code_point(note.at.1));
            let message = watching.and_then(|watching| watching.message(at, kind));
            message.and_then(|(template, bindings)| filled(program, note, template, bindings))
        }
        _ => None,
    };
    let related = related(program, &told);
    Found {
        rule: own_rule.unwrap_or(rule),
        place: told.place,
        message: message.unwrap_or(headline),
        input: told.input,
        steps: told.trace.steps,
        related,
        is_proved: told.made_up.is_empty(),
        is_behind: false,
    }
}

/// What is lost, and where it came from.
fn leak(program: &Program, note: &Note) -> Option<String> {
    let allocated = note.allocated?;
    let line = program.locs.get(loc_of(program, allocated))?.line;
    let function = program.functions[allocated.0].body.as_ref()?;
    let name = match &function.insts.get(allocated.1.inst()?)?.op {
        Op::Call(call) => match &call.callee {
            Callee::Function(id) => &*program.functions[*id].name,
            _ => return None,
        },
        _ => return None,
    };
    let opens = ["fopen", "fdopen", "freopen", "tmpfile", "popen", "opendir", "fmemopen"];
    let what = if opens.iter().any(|open| name.starts_with(open)) {
        "the stream opened by"
    } else {
        "the memory allocated by"
    };
    Some(format!("{what} {name}() at line {line} is never released: nothing leads to it any more"))
}

/// A message of a specification; `None` where it asks for more than names.
fn filled(
    program: &Program,
    note: &Note,
    template: &Template,
    bindings: &Bindings,
) -> Option<String> {
    let renderer = program::render::Renderer::new(program, note.at.0);
    let mut text = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Var(var) => match bindings.get(*var)? {
                Argument::Operand(operand) => {
                    text.push_str(&format!("'{}'", renderer.expr(*operand)))
                }
                Argument::Number(number) => text.push_str(&number.to_string()),
                _ => return None,
            },
            Piece::Expr(_) => return None,
        }
    }
    Some(text)
}

/// Other places of the same fault.
fn related(program: &Program, told: &Told) -> Vec<Step> {
    let Some(note) = &told.note else { return told.trace.related.clone() };
    let step = |at: Option<interpret::Place>, text: &str| {
        let (function, point) = at?;
        let place = place(program, loc_of(program, (function, point)), function);
        Some(Step { place, note: text.to_owned(), impact: false, depth: 0 })
    };
    let allocated = step(note.allocated, "allocated here");
    let released = step(note.released, "its state was set here");
    allocated.into_iter().chain(released).collect()
}

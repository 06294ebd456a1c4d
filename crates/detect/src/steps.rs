//! The segment of a fault: what happened on its path from the first impact on.

use findings::{Place, Segment, Step};
use logic::{FormulaId, SymbolId, TermId};
use program::{FunctionId, LocId};

use crate::describe;
use crate::draft::{self, Draft, Kind};
use crate::machine::memory::ObjectId;
use crate::machine::trail::{Event, What};
use crate::machine::{Context, State, SymbolKind, Value};

/// Steps shown at most; a longer path keeps its beginning and end.
const MAX_STEPS: usize = 40;

/// What the violation is made of.
pub struct Relevant {
    pub symbols: Vec<SymbolId>,
    pub objects: Vec<ObjectId>,
}

/// The path's steps that decide, oldest first, ended by the observable point.
pub fn segment(
    context: &mut Context,
    state: &State,
    relevant: &Relevant,
    at: (FunctionId, LocId),
    message: &str,
) -> Segment {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut events: Vec<&Event> = state.trail.iter().collect();
    events.reverse();
    for event in events {
        let (note, impact) = describe_event(context, state, relevant, event);
        let kind = Kind::of(&event.what);
        let is_call = matches!(kind, Kind::Call | Kind::Return);
        if note.is_empty() || !(impact || is_call && !drafts.is_empty()) {
            continue;
        }
        let place = place(context, event.function, event.loc);
        drafts.push(Draft { step: Step { place, note, impact, depth: event.depth }, kind });
    }
    let mut steps = draft::readable(drafts);
    if steps.len() > MAX_STEPS {
        steps.drain(MAX_STEPS / 2..steps.len() - MAX_STEPS / 2);
    }
    let place = place(context, at.0, at.1);
    steps.push(Step { place, note: message.to_owned(), impact: true, depth: state.depth() });
    Segment { steps }
}

fn describe_event(
    context: &mut Context,
    state: &State,
    relevant: &Relevant,
    event: &Event,
) -> (String, bool) {
    match &event.what {
        What::Branch(formula) => {
            if !mentions(context, relevant, *formula) {
                return (String::new(), false);
            }
            match describe::condition(context, *formula) {
                Some(text) => (format!("{text} here"), true),
                None => ("this branch is taken".to_owned(), true),
            }
        }
        What::Bound(variable, value) => {
            let body = context.program.functions[event.function].body.as_ref();
            let name = body.map_or("", |body| &body.variables[*variable].name).to_owned();
            describe_value(context, state, relevant, &name, *value)
        }
        What::Stored { object, value, .. } => {
            let name = state.memory.get(*object).name.to_string();
            let written = relevant.objects.contains(object);
            let (note, impact) = describe_value(context, state, relevant, &name, *value);
            if note.is_empty() && written {
                return (String::new(), false);
            }
            (note, impact)
        }
        What::Allocated(object) => {
            if !relevant.objects.contains(object) {
                return (String::new(), false);
            }
            (format!("{} comes into being here", state.memory.get(*object).name), true)
        }
        What::Modelled { callee, result } => {
            if concerns(context, state, relevant, *result) {
                let name = callee.map(|callee| &*context.program.functions[callee].name);
                let name = name.map_or("the call".to_owned(), |name| format!("{name}()"));
                (format!("what {name} returns matters"), true)
            } else {
                (String::new(), false)
            }
        }
        What::Effect(note, object) => match object {
            Some(object) if !relevant.objects.contains(object) => (String::new(), false),
            _ => (note.to_string(), true),
        },
        What::Skipped { .. } => (String::new(), false),
        What::Entered(function) => {
            (format!("calls {}()", context.program.functions[*function].name), false)
        }
        What::Returned { from, .. } => {
            (format!("returns from {}()", context.program.functions[*from].name), false)
        }
    }
}

fn describe_value(
    context: &mut Context,
    state: &State,
    relevant: &Relevant,
    name: &str,
    value: Value,
) -> (String, bool) {
    if name.is_empty() {
        return (String::new(), false);
    }
    let note = match value {
        Value::Int(term) => match context.terms.as_constant(term) {
            Some(constant) => format!("{name} is {constant} here"),
            None if mentions_term(context, relevant, term) => match describe::term(context, term) {
                Some(text) if text == name => format!("{name} gets its value here"),
                Some(text) if is_call(&text) => format!("{name} is what {text} returned"),
                Some(text) => format!("{name} is {text} here"),
                None => format!("{name} gets its value here"),
            },
            None => return (String::new(), false),
        },
        Value::Pointer { object, .. } if relevant.objects.contains(&object) => {
            let target = &state.memory.get(object).name;
            if **target == *name || target.starts_with('*') {
                return (String::new(), false);
            }
            match target.ends_with("()") {
                true => format!("{name} is what {target} returned"),
                false => format!("{name} points to {target} here"),
            }
        }
        Value::Float(float) if float.known == Some(0.0) => format!("{name} is 0 here"),
        Value::Uninit(_) => format!("{name} has no value yet"),
        _ => return (String::new(), false),
    };
    // Where nothing symbolic decides, constants do.
    let is_constant = match value {
        Value::Int(term) => context.terms.as_constant(term).is_some(),
        _ => matches!(value, Value::Uninit(_)),
    };
    let impact = !is_constant || relevant.symbols.is_empty();
    (note, impact)
}

/// Whether a term is nothing but the result of a call.
fn is_call(term: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    term.strip_suffix("()").is_some_and(|name| !name.is_empty() && name.chars().all(is_name))
}

/// Whether a formula speaks of what the violation is made of, other than iteration counts.
fn mentions(context: &mut Context, relevant: &Relevant, formula: FormulaId) -> bool {
    context.symbols_in(formula).iter().any(|symbol| {
        context.symbols.get(*symbol).kind != SymbolKind::Iterations
            && relevant.symbols.binary_search(symbol).is_ok()
    })
}

fn mentions_term(context: &mut Context, relevant: &Relevant, term: TermId) -> bool {
    let zero = context.constant(0);
    let formula = context.terms.compare(logic::Comparison::Eq, term, zero);
    mentions(context, relevant, formula)
}

fn concerns(context: &mut Context, state: &State, relevant: &Relevant, value: Value) -> bool {
    match value {
        Value::Int(term) => mentions_term(context, relevant, term),
        Value::Bool(formula) => mentions(context, relevant, formula),
        Value::Pointer { object, .. } => {
            relevant.objects.contains(&object) || {
                let null = state.memory.get(object).null;
                mentions(context, relevant, null)
            }
        }
        Value::Float(float) => mentions(context, relevant, float.is_zero),
        _ => false,
    }
}

pub fn place(context: &Context, function: FunctionId, loc: LocId) -> Place {
    crate::report::place_of(context.program, function, loc)
}

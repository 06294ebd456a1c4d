//! The segment of a fault: what happened on its path from the first impact on.

use findings::{Place, Segment, Step};
use logic::{FormulaId, SymbolId, TermId};
use program::render::Renderer;
use program::{BlockId, FunctionId, LocId, Operand, Terminator};

use crate::describe;
use crate::draft::{self, Draft, Kind};
use crate::machine::memory::ObjectId;
use crate::machine::trail::{Event, What};
use crate::machine::{Context, State, SymbolKind, Value};
use crate::query::At;
use crate::slice::Slice;

/// Steps shown at most; a longer path keeps its beginning and end.
const MAX_STEPS: usize = 40;

/// Branches shown before a point that is not decided by them but reached through them.
const MAX_LAST_BRANCHES: usize = 3;

/// Bytes of a condition that a reader still takes in.
const MAX_CONDITION: usize = 80;

/// What the violation is made of.
pub struct Relevant {
    pub symbols: Vec<SymbolId>,
    pub objects: Vec<ObjectId>,
}

/// Where a violation is observed.
pub struct Point {
    pub function: FunctionId,
    pub at: At,
    pub loc: LocId,
    /// The values it is about, where they are known.
    pub subjects: Vec<Operand>,
}

/// The path's steps that decide, oldest first, ended by the observable point.
pub fn segment(
    context: &mut Context,
    state: &State,
    relevant: &Relevant,
    point: &Point,
    message: &str,
) -> Segment {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut has_impact = false;
    for (event, role) in events(context, state, relevant, point).into_iter().rev() {
        let (note, mut impact) = describe_event(context, state, relevant, event, role);
        // How a path got away with it is told of what began before.
        impact &= role != Role::Last || has_impact;
        let kind = Kind::of(&event.what);
        let is_call = matches!(kind, Kind::Call | Kind::Return);
        let leads_on = role == Role::Leads || is_call && has_impact;
        if note.is_empty() || !(impact || leads_on) {
            continue;
        }
        if impact && !std::mem::replace(&mut has_impact, true) {
            // What was called before the first impact is no part of the segment.
            drafts.clear();
        }
        let place = place(context, event.function, event.loc);
        drafts.push(Draft { step: Step { place, note, impact, depth: event.depth }, kind });
    }
    let mut steps = draft::readable(drafts);
    if steps.len() > MAX_STEPS {
        steps.drain(MAX_STEPS / 2..steps.len() - MAX_STEPS / 2);
    }
    let place = place(context, point.function, point.loc);
    steps.push(Step { place, note: message.to_owned(), impact: true, depth: state.depth() });
    Segment { steps }
}

/// What the point has to do with an event, besides sharing symbols and objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    None,
    /// It gave the point a value that is constant.
    Source,
    /// It wrote to an object whose contents may matter there.
    Writer,
    /// One of the last branches before it.
    Last,
    /// A call that is not over there.
    Leads,
}

/// The events of a path with their roles, newest first.
fn events<'s>(
    context: &Context,
    state: &'s State,
    relevant: &Relevant,
    point: &Point,
) -> Vec<(&'s Event, Role)> {
    // Where nothing symbolic decides, constants do.
    let constants_decide = relevant.symbols.is_empty();
    let mut slice = Slice::new(context.program, state, point);
    let mut n_branches = match point.at {
        At::Exit => MAX_LAST_BRANCHES,
        _ => usize::from(constants_decide),
    };
    let here = state.depth();
    let mut depth = here;
    let role = |event: &Event| match event.what {
        What::Entered { .. } if event.depth + 1 == depth => {
            depth -= 1;
            slice.takes(event);
            Role::Leads
        }
        What::Branch { .. } if (event.depth, depth) == (here, here) && n_branches > 0 => {
            n_branches -= 1;
            Role::Last
        }
        What::Modelled { result: Value::Pointer { object, .. }, .. }
            if point.at != At::Exit && state.memory.get(object).was_written_at(event.loc) =>
        {
            Role::Writer
        }
        _ if slice.takes(event) && constants_decide => Role::Source,
        _ => Role::None,
    };
    let roles: Vec<Role> = state.trail.iter().map(role).collect();
    state.trail.iter().zip(roles).collect()
}

fn describe_event(
    context: &mut Context,
    state: &State,
    relevant: &Relevant,
    event: &Event,
    role: Role,
) -> (String, bool) {
    match &event.what {
        What::Branch { formula, from, to } => {
            if role != Role::Last && !mentions(context, relevant, *formula) {
                return (String::new(), false);
            }
            let text = describe::condition(context, *formula)
                .filter(|text| text.len() <= MAX_CONDITION)
                .or_else(|| written_condition(context, event.function, *from, *to));
            (text.map_or("this branch is taken".to_owned(), |text| format!("{text} here")), true)
        }
        What::Bound { variable, value, .. } => {
            let body = context.program.functions[event.function].body.as_ref();
            let name = body.map_or("", |body| &body.variables[*variable].name).to_owned();
            describe_value(context, state, relevant, &name, *value, role)
        }
        What::Stored { at, value, .. } => {
            let renderer = Renderer::new(context.program, event.function);
            let name = renderer.accessed_by(*at).unwrap_or_default();
            describe_value(context, state, relevant, &name, *value, role)
        }
        What::Filled { object, byte } => {
            let name = &state.memory.get(*object).name;
            let byte = describe::value(context, *byte);
            let note =
                byte.map_or_else(String::new, |byte| format!("{name} is filled with {byte} here"));
            (note, role == Role::Source)
        }
        What::Allocated(object) => {
            if !relevant.objects.contains(object) {
                return (String::new(), false);
            }
            (format!("{} comes into being here", state.memory.get(*object).name), true)
        }
        What::Modelled { callee, result } => {
            let name = callee.map(|callee| &*context.program.functions[callee].name);
            let name = name.map_or("the call".to_owned(), |name| format!("{name}()"));
            match result {
                _ if !concerns(context, state, relevant, *result) => (String::new(), false),
                // What hands back its argument made nothing.
                Value::Pointer { object, .. } if state.memory.get(*object).loc != event.loc => {
                    let note = format!("{name} writes to {}", state.memory.get(*object).name);
                    (note, role == Role::Writer)
                }
                _ => (format!("what {name} returns matters"), true),
            }
        }
        What::Effect(note, object) => match object {
            Some(object) if !relevant.objects.contains(object) => (String::new(), false),
            _ => (note.to_string(), true),
        },
        What::Skipped { .. } => (String::new(), false),
        What::Entered { function, .. } => {
            (format!("calls {}()", context.program.functions[*function].name), false)
        }
        What::Returned { from, .. } => {
            (format!("returns from {}()", context.program.functions[*from].name), false)
        }
    }
}

/// The condition as the source has it.
fn written_condition(
    context: &Context,
    function: FunctionId,
    from: BlockId,
    to: BlockId,
) -> Option<String> {
    let body = context.program.functions[function].body.as_ref()?;
    let Terminator::Branch { condition, then, .. } = body.blocks[from].terminator else {
        return None;
    };
    let text = Renderer::new(context.program, function).expr(condition);
    let verb = if to == then { "holds" } else { "does not hold" };
    (text.len() <= MAX_CONDITION).then(|| format!("{text} {verb}"))
}

fn describe_value(
    context: &mut Context,
    state: &State,
    relevant: &Relevant,
    name: &str,
    value: Value,
    role: Role,
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
    let is_constant = match value {
        Value::Int(term) => context.terms.as_constant(term).is_some(),
        Value::Float(_) | Value::Uninit(_) => true,
        _ => false,
    };
    (note, !is_constant || role == Role::Source)
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

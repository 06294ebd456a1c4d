//! What a path and a violation say together.

use logic::{Evidence, FormulaId, Interval, SymbolId, Terms};

use crate::machine::context::Feasible;
use crate::machine::memory::{Data, ObjectId};
use crate::machine::path::Condition;
use crate::machine::state::Answered;
use crate::machine::symbols::Symbols;
use crate::machine::{Context, State, SymbolKind, Value};

/// The outcome of one question on one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The path cannot be taken with the violation.
    Refuted,
    /// Some choice from outside violates, whatever the unknown values are.
    Unsafe { input_dependent: bool },
    /// Callers decide.
    NeedsCallers,
    /// Unknown values decide; the symbol is one of them.
    DependsOn(SymbolId),
    /// The prover could not tell.
    Undecided(String),
}

/// What a violation is about.
pub struct About<'a> {
    pub objects: &'a [ObjectId],
    /// Whether it hangs on the path alone that nothing was done to them.
    pub hangs_on_path: bool,
    /// Whether it is that they are lost: what happened before is another matter then.
    pub is_loss: bool,
}

/// Judges `violation` at the end of the state's path.
pub fn judge(
    context: &mut Context,
    state: &State,
    violation: FormulaId,
    about: &About,
    has_callers: bool,
) -> Verdict {
    if violation == Terms::FALSE || context.feasible(&state.path, &[violation]) == Feasible::No {
        return Verdict::Refuted;
    }
    let formulas = evidence(context, state, violation);
    let Context { solver, terms, symbols, .. } = context;
    let is_chosen = |symbol| is_chosen(symbols, state, symbol);
    let answer = solver.check_evidence(terms, &formulas, violation, &is_chosen);
    match answer {
        Evidence::Impossible => Verdict::Refuted,
        Evidence::Violated(_) => {
            let guess = guessed_answer(context, state, violation, about)
                .or_else(|| lost_track(context, state))
                .or_else(|| without_evidence(context, state, violation, about));
            if let Some(symbol) = guess {
                return Verdict::DependsOn(symbol);
            }
            if !needs_no_coincidence(context, state, &formulas, violation) {
                return depends(context, state, violation);
            }
            let doubt = implausible(context, state, violation)
                .or_else(|| tested_apart(context, state, violation));
            if let Some(symbol) = doubt {
                return Verdict::DependsOn(symbol);
            }
            // Branches were taken that nobody could rule out; now somebody has to allow them.
            match context.confirm(&state.path, violation) {
                Feasible::Yes => {}
                Feasible::No => return Verdict::Refuted,
                Feasible::Undecided => {
                    return Verdict::Undecided("whether the path can be taken".to_owned());
                }
            }
            let involved = involved_symbols(context, state, violation);
            let kind_is = |kind| involved.iter().any(|s| context.symbols.get(*s).kind == kind);
            if has_callers && kind_is(SymbolKind::Entry) {
                return Verdict::NeedsCallers;
            }
            Verdict::Unsafe { input_dependent: kind_is(SymbolKind::Chosen) }
        }
        Evidence::DependsOnUnknown => depends(context, state, violation),
        Evidence::Unknown(reason) => Verdict::Undecided(reason.to_string()),
    }
}

/// The path's conditions that say something about what can happen: not those a callee
/// tested on values of its callers, nor those a macro tests whatever its argument. Nor those
/// that share no symbol with the violation: the path is feasible, so they can be met apart.
fn evidence(context: &mut Context, state: &State, violation: FormulaId) -> Vec<FormulaId> {
    let connected = context.connected(&state.path, &[violation]);
    let mut formulas = Vec::new();
    for condition in state.path.iter() {
        if connected.binary_search(&condition.formula).is_err() {
            continue;
        }
        let origin = context.program.locs[condition.loc].origin;
        let is_evidence = condition.is_evidence && !condition.is_callers;
        let counts =
            lives(state, condition) && is_evidence && !matches!(origin, program::Origin::Body(_));
        let symbols = context.symbols_in(condition.formula);
        let is_unknown = |symbol: &SymbolId| context.symbols.get(*symbol).kind.is_unknown();
        if counts || !symbols.iter().any(is_unknown) {
            formulas.push(condition.formula);
        }
    }
    formulas
}

/// Whether the call a condition was tested in is still in progress.
fn lives(state: &State, condition: &Condition) -> bool {
    let is_on_stack = |number| state.frames.iter().any(|frame| frame.number == number);
    condition.frame.is_none_or(is_on_stack)
}

/// A value that decided what a call did, where that matters to the violation. A function has
/// answers for every caller: that it has this one does not say that this caller ever gets it,
/// unless the caller tests for it. One to something from
/// outside can be had by handing over the right thing. What a call left in memory goes with
/// its answer.
fn guessed_answer(
    context: &mut Context,
    state: &State,
    violation: FormulaId,
    about: &About,
) -> Option<SymbolId> {
    if state.answered.is_empty() {
        return None;
    }
    let involved = involved_symbols(context, state, violation);
    let is_chosen = |symbol: &SymbolId| context.symbols.get(*symbol).kind == SymbolKind::Chosen;
    let hangs_on_path = about.hangs_on_path || !involved.iter().any(is_chosen);
    let matters = |context: &mut Context, answer: &Answered| {
        let is_given = |value: &Value| {
            value.as_pointer().is_some_and(|(object, _)| about.objects.contains(&object))
        };
        let untested = answer.value.filter(|_| !answer.is_trusted);
        let gives = untested.is_some_and(|value| match shared(context, &value) {
            Some(symbols) => symbols.iter().any(|symbol| involved.binary_search(symbol).is_ok()),
            None => true,
        });
        // A test for null says that null happens, not how large the object is.
        let makes = !about.hangs_on_path
            && answer.value.and_then(Value::as_pointer).is_some_and(|(object, _)| {
                let bit = state.memory.get(object).null_bit;
                about.objects.contains(&object)
                    && bit.is_none_or(|bit| involved.binary_search(&bit).is_err())
            });
        let is_handed_over = |value: &Value| is_given(value) || holds(state, value, about.objects);
        // Nobody asks what became of what was handed over: all of it is in other hands.
        let is_given = match answer.is_ignored || answer.value.is_none() {
            true => answer.params.iter().any(is_handed_over),
            false => answer.params.iter().any(is_given),
        };
        gives || makes || (hangs_on_path && is_given)
    };
    let answers: Vec<&Answered> =
        state.answered.iter().filter(|answer| matters(context, answer)).collect();
    state.path.iter().filter(|condition| condition.is_choice).find_map(|condition| {
        let frame = condition.frame?;
        if !answers.iter().any(|answer| (answer.from..=answer.to).contains(&frame)) {
            return None;
        }
        let symbols = context.symbols_in(condition.formula);
        let is_unknown = |symbol: &&SymbolId| {
            context.symbols.get(**symbol).kind.is_unknown() && !context.answers.contains(*symbol)
        };
        symbols.iter().find(is_unknown).copied()
    })
}

/// Whether what a pointer leads to holds a pointer to one of the objects.
fn holds(state: &State, value: &Value, objects: &[ObjectId]) -> bool {
    value.as_pointer().is_some_and(|(holder, _)| {
        state.memory.get(holder).writes().any(|write| match write.data {
            Data::Value(Value::Pointer { object, .. }) => objects.contains(&object),
            _ => false,
        })
    })
}

/// The symbols of a number; `None` where a value has none to tell it by.
fn shared(context: &mut Context, value: &Value) -> Option<Vec<SymbolId>> {
    let symbols = match value {
        Value::Int(term) => {
            let zero = context.constant(0);
            let formula = context.terms.compare(logic::Comparison::Eq, *term, zero);
            context.symbols_in(formula).to_vec()
        }
        Value::Bool(formula) => context.symbols_in(*formula).to_vec(),
        _ => Vec::new(),
    };
    (!symbols.is_empty()).then_some(symbols)
}

/// A value that would have to be such that a loop runs no iteration, or the like, where the
/// violation hangs on the path alone and nothing the program says makes it so.
fn without_evidence(
    context: &mut Context,
    state: &State,
    violation: FormulaId,
    about: &About,
) -> Option<SymbolId> {
    if about.is_loss || (!about.hangs_on_path && !context.symbols_in(violation).is_empty()) {
        return None;
    }
    // Of calls that are over, those who made them tell what they came back with.
    let mut said = Vec::new();
    let mut unsaid = Vec::new();
    for condition in state.path.iter() {
        let is_callers = condition.is_callers || is_of_entry(context, condition);
        match !condition.is_evidence || (is_callers && lives(state, condition)) {
            true => unsaid.push(condition),
            false => said.push(condition.formula),
        }
    }
    for condition in unsaid {
        let symbols = context.symbols_in(condition.formula);
        let is_unknown = |symbol: &&SymbolId| context.symbols.get(**symbol).kind.is_unknown();
        let Some(symbol) = symbols.iter().find(is_unknown).copied() else { continue };
        let mut otherwise = said.clone();
        otherwise.push(context.terms.not(condition.formula));
        if !context.solver.check_here(&context.terms, &otherwise).is_unsat() {
            return Some(symbol);
        }
    }
    None
}

/// Whether a call decided by what its caller had found, which only those who called that know.
fn is_of_entry(context: &mut Context, condition: &Condition) -> bool {
    let symbols = context.symbols_in(condition.formula);
    let is_entry = |symbol: &SymbolId| context.symbols.get(*symbol).kind == SymbolKind::Entry;
    condition.is_choice
        && condition.frame.is_some_and(|frame| frame > 0)
        && symbols.iter().any(is_entry)
}

/// A value that decided on the way here and that was not followed all the way.
fn lost_track(context: &mut Context, state: &State) -> Option<SymbolId> {
    state.path.iter().filter(|condition| condition.is_choice).find_map(|condition| {
        let symbols = context.symbols_in(condition.formula);
        let is_lost = |symbol: &&SymbolId| context.symbols.get(**symbol).kind == SymbolKind::Lost;
        symbols.iter().find(is_lost).copied()
    })
}

/// A test on an unknown number is evidence that its outcome occurs, but not with values close
/// to the end of 64 bits, nor that what is made of it goes past that end: no object is larger
/// than the address space, nothing lasts that long. The unknown that would have to be, where the
/// violation needs one.
fn implausible(context: &mut Context, state: &State, violation: FormulaId) -> Option<SymbolId> {
    const FAR: i128 = 1 << 47;
    const STEPS: u64 = 1_000;
    let mut near = state.path.formulas();
    near.push(violation);
    let mut far: Vec<SymbolId> =
        near.iter().flat_map(|formula| context.symbols_in(*formula).to_vec()).collect();
    far.sort_unstable();
    far.dedup();
    far.retain(|symbol| {
        let domain = context.terms.domain(*symbol);
        let reaches = domain.high.is_none_or(|high| high > FAR);
        context.symbols.get(*symbol).kind.is_unknown() && reaches
    });
    for symbol in &far {
        let term = context.terms.symbol(*symbol);
        let (low, high) = (context.constant(-FAR), context.constant(FAR));
        near.push(context.terms.within(term, low, high));
    }
    let first = far.first().copied()?;
    for condition in state.path.iter().filter(|condition| condition.frame.is_some()) {
        let symbols = context.symbols_in(condition.formula);
        if !symbols.iter().any(|symbol| far.binary_search(symbol).is_ok()) {
            continue;
        }
        for (term, range) in context.terms.wraps_in(condition.formula, 64) {
            let (Some(low), Some(high)) = (range.low, range.high) else { continue };
            let (low, high) = (context.constant(low), context.constant(high));
            near.push(context.terms.within(term, low, high));
        }
    }
    let usual = std::mem::replace(&mut context.solver.limits.steps, STEPS);
    let outcome = context.solver.check_here(&context.terms, &near);
    context.solver.limits.steps = usual;
    outcome.is_unsat().then_some(first)
}

/// A test is evidence that its outcome occurs, given what was tested before. What is tested after
/// it may rule that out where one call gave both: a pointer that may be null, and how many it
/// leads to.
fn tested_apart(context: &mut Context, state: &State, violation: FormulaId) -> Option<SymbolId> {
    let concerned = context.symbols_in(violation);
    let is_concerned = |symbol: &SymbolId| concerned.contains(symbol);
    let of_unknown = |context: &Context, symbol: SymbolId| {
        context.symbols.get(symbol).kind == SymbolKind::Unknown
    };
    let mut sources = Vec::new();
    for symbol in concerned.iter().filter(|symbol| of_unknown(context, **symbol)) {
        let is_bit = context.terms.domain(*symbol).is_within(Interval::new(0, 1));
        sources.push(if is_bit { context.source(*symbol) } else { return None });
    }
    sources.retain(|loc| loc.is_known());
    // Newest first, down to the test that speaks of what the violation is about.
    for condition in state.path.iter().filter(|condition| condition.frame.is_some()) {
        let symbols = context.symbols_in(condition.formula);
        if symbols.iter().any(is_concerned) {
            return None;
        }
        let is_related = |symbol: &&SymbolId| {
            of_unknown(context, **symbol) && sources.contains(&context.source(**symbol))
        };
        if let Some(symbol) = symbols.iter().find(is_related) {
            return Some(*symbol);
        }
    }
    None
}

/// A test on an unknown value is evidence that its outcome occurs, but two of them are none
/// that both occur at once: one of them has to be enough for the violation.
fn needs_no_coincidence(
    context: &mut Context,
    state: &State,
    formulas: &[FormulaId],
    violation: FormulaId,
) -> bool {
    let mut tests = Vec::new();
    for condition in state.path.iter().filter(|condition| condition.frame.is_some()) {
        let symbols = context.symbols_in(condition.formula);
        let is_unknown = |symbol: &SymbolId| context.symbols.get(*symbol).kind.is_unknown();
        if formulas.contains(&condition.formula) && symbols.iter().any(is_unknown) {
            tests.push(condition.formula);
        }
    }
    tests.sort_unstable();
    tests.dedup();
    if tests.len() < 2 {
        return true;
    }
    let given = |formula: &&FormulaId| tests.binary_search(formula).is_err();
    let given: Vec<FormulaId> = formulas.iter().filter(given).copied().collect();
    let Context { solver, terms, symbols, .. } = context;
    let is_chosen = |symbol| is_chosen(symbols, state, symbol);
    tests.iter().any(|test| {
        let mut alone = given.clone();
        alone.push(*test);
        let answer = solver.check_evidence(terms, &alone, violation, &is_chosen);
        matches!(answer, Evidence::Violated(_))
    })
}

fn is_chosen(symbols: &Symbols, state: &State, symbol: SymbolId) -> bool {
    match symbols.get(symbol).kind {
        SymbolKind::Chosen => true,
        SymbolKind::Iterations => !state.unsure.contains(&symbol),
        SymbolKind::Entry | SymbolKind::Unknown | SymbolKind::Lost => false,
    }
}

/// Unknown values decide: callers may know them, or nobody does.
fn depends(context: &mut Context, state: &State, violation: FormulaId) -> Verdict {
    let involved = involved_symbols(context, state, violation);
    let of_kind =
        |kind| involved.iter().find(|symbol| context.symbols.get(**symbol).kind == kind).copied();
    if of_kind(SymbolKind::Entry).is_some() {
        return Verdict::NeedsCallers;
    }
    let undescribed = of_kind(SymbolKind::Unknown).or_else(|| of_kind(SymbolKind::Lost));
    match undescribed.or_else(|| involved.first().copied()) {
        Some(symbol) => Verdict::DependsOn(symbol),
        None => Verdict::Undecided("no value decides".to_owned()),
    }
}

/// Symbols of the violation and of the conditions connected with it, ascending.
pub fn involved_symbols(
    context: &mut Context,
    state: &State,
    violation: FormulaId,
) -> Vec<SymbolId> {
    let formulas = context.connected(&state.path, &[violation]);
    let mut symbols: Vec<SymbolId> =
        formulas.iter().flat_map(|formula| context.symbols_in(*formula).to_vec()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

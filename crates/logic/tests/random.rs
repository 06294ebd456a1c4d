//! Our procedure against brute force over small ranges and against z3, on random formulas.
//! A wrong `Sat` or `Unsat` is a bug; `Unknown` is only counted.

use std::cell::{Cell, RefCell};

use logic::{
    Comparison, Evidence, FormulaId, Interval, Limits, Model, Outcome, Prover, Rounding, Solver,
    SymbolId, TermId, Terms, Theory, Z3Prover, decide,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const STEPS: u64 = 20_000;

/// A term to build; symbols by index.
#[derive(Clone, Debug)]
enum T {
    Const(i8),
    Symbol(u8),
    Add(Box<T>, Box<T>),
    Sub(Box<T>, Box<T>),
    Scale(i8, Box<T>),
    Mul(Box<T>, Box<T>),
    Min(Box<T>, Box<T>),
    Wrap(Box<T>, u8, bool),
    Div(Box<T>, Box<T>, bool),
    And(Box<T>, Box<T>),
    Shl(Box<T>, Box<T>),
    Choice(Box<F>, Box<T>, Box<T>),
}

#[derive(Clone, Debug)]
enum F {
    Compare(u8, T, T),
    And(Vec<F>),
    Or(Vec<F>),
    Not(Box<F>),
}

fn linear() -> impl Strategy<Value = T> {
    let leaf = prop_oneof![(-6i8..7).prop_map(T::Const), (0u8..4).prop_map(T::Symbol)];
    leaf.prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| T::Add(a.into(), b.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| T::Sub(a.into(), b.into())),
            (-4i8..5, inner).prop_map(|(k, a)| T::Scale(k, a.into())),
        ]
    })
}

fn any_term() -> impl Strategy<Value = T> {
    linear().prop_recursive(3, 8, 3, |inner| {
        let pair = || (inner.clone(), inner.clone());
        prop_oneof![
            pair().prop_map(|(a, b)| T::Add(a.into(), b.into())),
            pair().prop_map(|(a, b)| T::Mul(a.into(), b.into())),
            pair().prop_map(|(a, b)| T::Min(a.into(), b.into())),
            (inner.clone(), 1u8..5, any::<bool>()).prop_map(|(a, w, s)| T::Wrap(a.into(), w, s)),
            (pair(), any::<bool>()).prop_map(|((a, b), f)| T::Div(a.into(), b.into(), f)),
            pair().prop_map(|(a, b)| T::And(a.into(), b.into())),
            pair().prop_map(|(a, b)| T::Shl(a.into(), b.into())),
            (0u8..6, pair(), pair()).prop_map(|(c, (a, b), (x, y))| T::Choice(
                F::Compare(c, a, b).into(),
                x.into(),
                y.into()
            )),
        ]
    })
}

fn conjunction<S: Strategy<Value = T> + Clone + 'static>(
    term: S,
    most: usize,
) -> impl Strategy<Value = Vec<F>> {
    let atom = (0u8..6, term.clone(), term).prop_map(|(c, a, b)| F::Compare(c, a, b));
    let formula = atom.prop_recursive(2, 5, 3, |inner| {
        prop_oneof![
            3 => inner.clone(),
            1 => prop::collection::vec(inner.clone(), 2..4).prop_map(F::Or),
            1 => prop::collection::vec(inner.clone(), 2..3).prop_map(F::And),
            1 => inner.prop_map(|f| F::Not(f.into())),
        ]
    });
    prop::collection::vec(formula, 1..most)
}

fn build_term(terms: &mut Terms, symbols: &[SymbolId], term: &T) -> TermId {
    let mut go = |t: &T| build_term(terms, symbols, t);
    match term {
        T::Const(value) => terms.constant((*value).into()),
        T::Symbol(index) => terms.symbol(symbols[*index as usize % symbols.len()]),
        T::Add(a, b) => {
            let (a, b) = (go(a), go(b));
            terms.add(a, b)
        }
        T::Sub(a, b) => {
            let (a, b) = (go(a), go(b));
            terms.sub(a, b)
        }
        T::Scale(k, a) => {
            let a = go(a);
            terms.scale((*k).into(), a)
        }
        T::Mul(a, b) => {
            let (a, b) = (go(a), go(b));
            terms.mul(a, b)
        }
        T::Min(a, b) => {
            let (a, b) = (go(a), go(b));
            terms.min(a, b)
        }
        T::Wrap(a, bits, signed) => {
            let a = go(a);
            terms.wrap(a, (*bits).into(), *signed)
        }
        T::Div(a, b, floor) => {
            let (a, b) = (go(a), go(b));
            terms.divide(if *floor { Rounding::Floor } else { Rounding::Zero }, a, b)
        }
        T::And(a, b) => {
            let (a, b) = (go(a), go(b));
            terms.bit_and(a, b)
        }
        T::Shl(a, b) => {
            let (a, b) = (go(a), go(b));
            terms.shift_left(a, b)
        }
        T::Choice(condition, a, b) => {
            let (a, b) = (go(a), go(b));
            let condition = build(terms, symbols, condition);
            terms.choice(condition, a, b)
        }
    }
}

fn build(terms: &mut Terms, symbols: &[SymbolId], formula: &F) -> FormulaId {
    match formula {
        F::Compare(kind, a, b) => {
            let (a, b) = (build_term(terms, symbols, a), build_term(terms, symbols, b));
            let kinds = [
                Comparison::Eq,
                Comparison::Ne,
                Comparison::Lt,
                Comparison::Le,
                Comparison::Gt,
                Comparison::Ge,
            ];
            terms.compare(kinds[*kind as usize], a, b)
        }
        F::And(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| build(terms, symbols, part)).collect();
            terms.and(&parts)
        }
        F::Or(parts) => {
            let parts: Vec<_> = parts.iter().map(|part| build(terms, symbols, part)).collect();
            terms.or(&parts)
        }
        F::Not(inner) => {
            let inner = build(terms, symbols, inner);
            terms.not(inner)
        }
    }
}

/// Symbols with a domain of seven values each, so that brute force sees everything.
fn small_symbols(terms: &mut Terms, n: usize) -> Vec<SymbolId> {
    (0..n).map(|_| terms.fresh_symbol(Interval::new(-3, 3))).collect()
}

fn assignments(symbols: &[SymbolId]) -> impl Iterator<Item = Model> + '_ {
    let total = 7usize.pow(symbols.len() as u32);
    (0..total).map(move |mut code| {
        let mut model = Model::default();
        for symbol in symbols {
            model.set(*symbol, (code % 7) as i128 - 3);
            code /= 7;
        }
        model
    })
}

fn satisfies_all(terms: &Terms, formulas: &[FormulaId], model: &Model) -> bool {
    formulas.iter().all(|f| model.satisfies(terms, *f) == Some(true))
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
}

fn against_brute_force(formulas: &[F]) -> Outcome {
    let mut terms = Terms::new();
    let symbols = small_symbols(&mut terms, 3);
    let built: Vec<_> = formulas.iter().map(|f| build(&mut terms, &symbols, f)).collect();
    let outcome = decide(&terms, &built, STEPS);
    let witness = assignments(&symbols).find(|model| satisfies_all(&terms, &built, model));
    match &outcome {
        Outcome::Sat(model) => {
            assert!(satisfies_all(&terms, &built, model), "the model does not satisfy");
            assert!(witness.is_some(), "sat, but no assignment of the domains satisfies");
        }
        Outcome::Unsat => assert_eq!(witness, None, "unsat, but there is a solution"),
        Outcome::Unknown(_) => {}
    }
    outcome
}

#[test]
fn linear_conjunctions_agree_with_brute_force_and_are_always_decided() {
    let undecided = Cell::new(0);
    let strategy = conjunction(linear().boxed(), 7);
    runner(3000)
        .run(&strategy, |formulas| {
            let outcome = against_brute_force(&formulas);
            undecided.set(undecided.get() + u32::from(matches!(outcome, Outcome::Unknown(_))));
            Ok(())
        })
        .unwrap();
    let undecided = undecided.get();
    assert!(undecided <= 15, "{undecided} of 3000 linear conjunctions undecided");
}

#[test]
fn all_operations_agree_with_brute_force() {
    let undecided = Cell::new(0);
    let strategy = conjunction(any_term().boxed(), 5);
    runner(2000)
        .run(&strategy, |formulas| {
            let outcome = against_brute_force(&formulas);
            undecided.set(undecided.get() + u32::from(matches!(outcome, Outcome::Unknown(_))));
            Ok(())
        })
        .unwrap();
    let undecided = undecided.get();
    assert!(undecided <= 1000, "{undecided} of 2000 conjunctions undecided");
}

#[test]
fn unbounded_linear_conjunctions_agree_with_z3() {
    let undecided = Cell::new(0);
    let strategy = conjunction(linear().boxed(), 9);
    runner(1000)
        .run(&strategy, |formulas| {
            let mut terms = Terms::new();
            let symbols: Vec<_> = (0..5).map(|_| terms.fresh_symbol(Interval::ALL)).collect();
            let built: Vec<_> = formulas.iter().map(|f| build(&mut terms, &symbols, f)).collect();
            let mut prover = Z3Prover { resources: 200_000 };
            let proved = prover.check(&terms, &built, Theory::Integers);
            match (decide(&terms, &built, STEPS), proved) {
                (Outcome::Sat(_), Outcome::Unsat) => panic!("sat here, unsat in z3"),
                (Outcome::Unsat, Outcome::Sat(_)) => panic!("unsat here, sat in z3"),
                (Outcome::Unknown(_), _) => undecided.set(undecided.get() + 1),
                _ => {}
            }
            Ok(())
        })
        .unwrap();
    let undecided = undecided.get();
    assert!(undecided <= 20, "{undecided} of 1000 undecided");
}

#[test]
fn z3_agrees_with_brute_force_in_both_theories() {
    let strategy = conjunction(any_term().boxed(), 4);
    runner(250)
        .run(&strategy, |formulas| {
            let mut terms = Terms::new();
            let symbols = small_symbols(&mut terms, 3);
            let built: Vec<_> = formulas.iter().map(|f| build(&mut terms, &symbols, f)).collect();
            let witness = assignments(&symbols).find(|m| satisfies_all(&terms, &built, m));
            for theory in [Theory::Integers, Theory::BitVectors] {
                let mut prover = Z3Prover { resources: 200_000 };
                let outcome = prover.check(&terms, &built, theory);
                match outcome {
                    Outcome::Sat(_) => assert!(witness.is_some(), "{theory:?}: wrong sat"),
                    Outcome::Unsat => assert_eq!(witness, None, "{theory:?}: wrong unsat"),
                    Outcome::Unknown(_) => {}
                }
            }
            Ok(())
        })
        .unwrap();
}

/// The definition of evidence, by enumeration.
fn evidence_by_brute_force(
    terms: &Terms,
    symbols: &[SymbolId],
    n_chosen: usize,
    path: &[FormulaId],
    violation: FormulaId,
) -> Evidence {
    let (chosen, unknown) = symbols.split_at(n_chosen);
    let mut possible = false;
    for choice in assignments(chosen) {
        let (mut taken, mut always) = (false, true);
        for rest in assignments(unknown) {
            let mut model = choice.clone();
            rest.iter().for_each(|(symbol, value)| model.set(symbol, value));
            if satisfies_all(terms, path, &model) {
                taken = true;
                let violated = model.satisfies(terms, violation) == Some(true);
                possible |= violated;
                always &= violated;
            }
        }
        if taken && always {
            return Evidence::Violated(choice);
        }
    }
    if possible { Evidence::DependsOnUnknown } else { Evidence::Impossible }
}

fn evidence_agrees(solver: Solver, cases: u32, most_undecided: u32) {
    let solver = RefCell::new(solver);
    let undecided = Cell::new(0);
    let linear = linear().boxed();
    let strategy = (conjunction(linear.clone(), 4), conjunction(linear, 2), 0usize..5);
    runner(cases)
        .run(&strategy, |(path, violation, n_chosen)| {
            let mut terms = Terms::new();
            let symbols = small_symbols(&mut terms, 4);
            let path: Vec<_> = path.iter().map(|f| build(&mut terms, &symbols, f)).collect();
            let violation = build(&mut terms, &symbols, &violation[0]);
            let chosen = |symbol: SymbolId| symbols[..n_chosen].contains(&symbol);
            let expected = evidence_by_brute_force(&terms, &symbols, n_chosen, &path, violation);
            let found = solver.borrow_mut().check_evidence(&mut terms, &path, violation, &chosen);
            match (&found, &expected) {
                (Evidence::Unknown(_), _) => undecided.set(undecided.get() + 1),
                (Evidence::Violated(_), Evidence::Violated(_)) => {}
                _ => assert_eq!(found, expected),
            }
            Ok(())
        })
        .unwrap();
    let undecided = undecided.get();
    assert!(undecided <= most_undecided, "{undecided} of {cases} undecided");
}

#[test]
fn evidence_agrees_with_its_definition_without_a_prover() {
    evidence_agrees(Solver::without_prover(Limits::default()), 2000, 200);
}

#[test]
fn evidence_agrees_with_its_definition_with_z3() {
    evidence_agrees(Solver::new(Limits::default()), 300, 3);
}

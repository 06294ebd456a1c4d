//! Microseconds per check on the shapes a detection run is made of: `cargo bench -p
//! firstfault-logic`. Prints one line per shape, ours and z3's.

use std::hint::black_box;
use std::time::Instant;

use logic::{Comparison, FormulaId, Interval, Prover, TermId, Terms, Theory, Z3Prover, decide};

type Build = fn(&mut Terms) -> Vec<FormulaId>;

fn main() {
    let shapes: [(&str, Build); 6] = [
        ("bounds of one value, unsat", bounds),
        ("index against size, sat", index),
        ("chain of eight differences, unsat", chain),
        ("wrapped product, sat", wrapped),
        ("flag bit and length, unsat", flag),
        ("twelve atoms over eight values, sat", dense),
    ];
    println!("{:<40} {:>10} {:>10}", "shape", "ours us", "z3 us");
    for (name, build) in shapes {
        let mut terms = Terms::new();
        let formulas = build(&mut terms);
        let ours = time(20_000, || {
            black_box(decide(&terms, &formulas, 20_000));
        });
        let mut prover = Z3Prover { resources: 400_000 };
        let z3 = time(500, || {
            black_box(prover.check(&terms, &formulas, Theory::Integers));
        });
        println!("{name:<40} {ours:>10.2} {z3:>10.1}");
    }
}

fn time(rounds: u32, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..rounds {
        work();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

fn int(terms: &mut Terms) -> TermId {
    let symbol = terms.fresh_symbol(Interval::of_width(32, true));
    terms.symbol(symbol)
}

fn constant(terms: &mut Terms, value: i128) -> TermId {
    terms.constant(value)
}

fn bounds(terms: &mut Terms) -> Vec<FormulaId> {
    let (x, five, three) = (int(terms), constant(terms, 5), constant(terms, 3));
    vec![terms.compare(Comparison::Gt, x, five), terms.compare(Comparison::Lt, x, three)]
}

fn index(terms: &mut Terms) -> Vec<FormulaId> {
    let (i, n, size) = (int(terms), int(terms), constant(terms, 16));
    let zero = constant(terms, 0);
    vec![
        terms.compare(Comparison::Ge, i, zero),
        terms.compare(Comparison::Lt, i, n),
        terms.compare(Comparison::Ge, i, size),
    ]
}

fn chain(terms: &mut Terms) -> Vec<FormulaId> {
    let values: Vec<TermId> = (0..8).map(|_| int(terms)).collect();
    let mut formulas: Vec<FormulaId> =
        values.windows(2).map(|w| terms.compare(Comparison::Lt, w[0], w[1])).collect();
    formulas.push(terms.compare(Comparison::Le, values[7], values[0]));
    formulas
}

fn wrapped(terms: &mut Terms) -> Vec<FormulaId> {
    let n = int(terms);
    let product = terms.scale(8, n);
    let bytes = terms.wrap(product, 32, true);
    let (zero, limit) = (constant(terms, 0), constant(terms, 1000));
    vec![
        terms.compare(Comparison::Gt, n, limit),
        terms.compare(Comparison::Ge, bytes, zero),
        terms.compare(Comparison::Lt, bytes, n),
    ]
}

fn flag(terms: &mut Terms) -> Vec<FormulaId> {
    let (flags, n) = (int(terms), int(terms));
    let (mask, zero) = (constant(terms, 4), constant(terms, 0));
    let bit = terms.bit_and(flags, mask);
    vec![
        terms.compare(Comparison::Ne, bit, zero),
        terms.compare(Comparison::Le, n, bit),
        terms.compare(Comparison::Gt, n, mask),
    ]
}

fn dense(terms: &mut Terms) -> Vec<FormulaId> {
    let values: Vec<TermId> = (0..8).map(|_| int(terms)).collect();
    let mut formulas = Vec::new();
    for (index, pair) in values.windows(2).enumerate() {
        let sum = terms.add(pair[0], pair[1]);
        let limit = constant(terms, 10 + index as i128);
        formulas.push(terms.compare(Comparison::Ge, sum, limit));
    }
    for pair in values.chunks(2) {
        formulas.push(terms.compare(Comparison::Ne, pair[0], pair[1]));
    }
    formulas.push(terms.compare(Comparison::Lt, values[0], values[7]));
    formulas
}

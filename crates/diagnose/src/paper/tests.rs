//! Trying sets finds what a solver finds that is asked about the whole repair program, once for
//! each set of selectors and each place to leave the trace.

use std::collections::{BTreeMap, BTreeSet};

use interpret::{Chosen, Input, Shared};
use logic::words::{Answer, UnknownId, Values, WordId, WordOp, WordProver, Words};

use super::cone::Cone;
use super::formula::{Formula, Projection, unknown};
use super::sites::{Site, SiteKind};
use super::solve::search;
use super::{Config, Settings};

const N_VARIABLES: u64 = 3;
const N_SITES: u64 = 5;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A run of statements `x = y op z` and decisions about them, some statements more than once.
struct Program {
    words: Words,
    variables: Vec<WordId>,
    made: Vec<Chosen>,
    conditions: Vec<WordId>,
    is_consistent: bool,
}

impl Program {
    fn random(random: &mut Random, is_consistent: bool) -> Self {
        let mut words = Words::new();
        let variables = (0..N_VARIABLES).map(|at| words.constant(64, (at + 1).into())).collect();
        let (made, conditions) = (Vec::new(), Vec::new());
        let mut program = Self { words, variables, made, conditions, is_consistent };
        for _ in 0..4 + random.below(3) {
            program.assign(random);
            program.decide(random);
        }
        program
    }

    fn assign(&mut self, random: &mut Random) {
        let site = random.below(N_SITES) as u32;
        let instance = self.made.iter().filter(|chosen| chosen.site == site).count() as u32 + 1;
        let instance = if self.is_consistent { 0 } else { instance };
        let selector = Input::Choice { site, instance };
        let known = self.made.iter().find(|chosen| chosen.selector == selector);
        let selector_word = match known {
            Some(chosen) => chosen.selector_word,
            None => self.words.unknown(8).1,
        };
        let target = random.below(N_VARIABLES) as usize;
        // Often of constants alone, as what is computed from a change is not changed.
        let [a, b] = [0, 1].map(|_| match random.below(3) {
            0 => self.variables[random.below(N_VARIABLES) as usize],
            other => self.words.constant(64, (other * 2).into()),
        });
        let op = [WordOp::Add, WordOp::Sub, WordOp::And][random.below(3) as usize];
        let original = self.words.binary(op, a, b);
        let (_, result) = self.words.unknown(64);
        let one = self.words.constant(8, 1);
        let is_changed = self.words.eq(selector_word, one);
        let value = Values::default().eval(&self.words, original) as u64 as i64;
        self.variables[target] = self.words.choice(is_changed, result, original);
        self.made.push(Chosen {
            site,
            selector,
            selector_word,
            result: Some(result),
            original: Some(original),
            value: value.into(),
            at: self.conditions.len(),
        });
    }

    /// Whether one thing holds or another: leaving may take a change of both.
    fn decide(&mut self, random: &mut Random) {
        let [first, second] = [0, 1].map(|_| self.comparison(random));
        let either = self.words.or(first, second);
        let bit = if random.below(3) == 0 { first } else { either };
        let is_new = self.words.as_const(bit).is_none() && !self.conditions.contains(&bit);
        self.conditions.extend(is_new.then_some(bit));
    }

    /// One that holds on the run.
    fn comparison(&mut self, random: &mut Random) -> WordId {
        let variable = self.variables[random.below(N_VARIABLES) as usize];
        let low = self.words.extract(variable, 0, 32);
        let limit = self.words.constant(32, random.below(12).into());
        let op = [WordOp::Eq, WordOp::SignedLt, WordOp::UnsignedLt][random.below(3) as usize];
        let bit = self.words.binary(op, low, limit);
        match Values::default().eval(&self.words, bit) {
            0 => self.words.not(bit),
            _ => bit,
        }
    }

    /// Small ranges for some results.
    fn projections(&mut self, random: &mut Random) -> BTreeMap<UnknownId, Projection> {
        let mut projections = BTreeMap::new();
        for result in self.made.iter().filter_map(|chosen| chosen.result) {
            if random.below(2) == 0 {
                continue;
            }
            let low = random.below(6) as i64 - 3;
            let high = low + random.below(6) as i64;
            let [least, most] = [low, high].map(|end| self.words.constant(64, end as u64 as u128));
            let above = self.words.binary(WordOp::SignedLe, least, result);
            let below = self.words.binary(WordOp::SignedLe, result, most);
            let id = unknown(&self.words, result).expect("a result is unknown");
            projections.insert(id, Projection { low, high, conditions: [above, below] });
        }
        projections
    }
}

/// Asks about sets of selectors one by one.
struct Plain<'f> {
    formula: &'f Formula<'f>,
    words: Words,
    prover: WordProver,
    hard: Vec<WordId>,
    known: BTreeMap<(Vec<usize>, usize), bool>,
}

impl Plain<'_> {
    fn leaves(&mut self, set: &[usize], step: usize) -> bool {
        if let Some(known) = self.known.get(&(set.to_vec(), step)) {
            return *known;
        }
        let mut bits = self.hard.clone();
        bits.extend_from_slice(&self.formula.conditions[..step]);
        bits.push(self.words.not(self.formula.conditions[step]));
        for (number, selector) in self.formula.selectors.iter().enumerate() {
            let value = self.words.constant(8, set.contains(&number).into());
            bits.push(self.words.eq(selector.word, value));
        }
        let leaves = match self.prover.check(&self.words, &bits) {
            Answer::Sat(_) => true,
            Answer::Unsat => false,
            Answer::Unknown(why) => panic!("{why}"),
        };
        self.known.insert((set.to_vec(), step), leaves);
        leaves
    }

    /// The last step at which a set leaves the trace, and nothing that is blocked by does.
    fn last(&mut self, set: &[usize], is_blocked: bool) -> Option<usize> {
        (0..self.formula.conditions.len()).rev().find(|step| {
            let blocked = is_blocked && subsets(set).iter().any(|part| self.leaves(part, *step));
            !blocked && self.leaves(set, *step)
        })
    }
}

/// All parts of a set but nothing and itself.
fn subsets(set: &[usize]) -> Vec<Vec<usize>> {
    let part = |bits: usize| set.iter().enumerate().filter(move |(at, _)| bits >> at & 1 == 1);
    (1..(1 << set.len()) - 1).map(|bits| part(bits).map(|(_, number)| *number).collect()).collect()
}

fn site(number: u32) -> Site {
    Site {
        file: 0,
        bytes: 0..0,
        kind: SiteKind::Value,
        update: None,
        line: number,
        function: String::new(),
        alternatives: Vec::new(),
        is_known: false,
        is_plain: false,
        variable: String::new(),
    }
}

/// The sites of each solution and where it leaves the trace; how many have several sites.
fn compare(random: &mut Random, config: Config) -> (usize, usize) {
    let mut program = Program::random(random, config > Config::Basic);
    let projections = match config {
        Config::Projection => program.projections(random),
        _ => BTreeMap::new(),
    };
    let sites: Vec<Site> = (0..N_SITES as u32).map(site).collect();
    let formula = Formula::new(&sites, program.made, program.conditions, false);
    let settings =
        Settings { max_solutions: 10_000, max_work: u64::MAX, ..Settings::new(config, false, 3) };
    let n = formula.selectors.len();
    let mut plain = Plain {
        formula: &formula,
        words: program.words.clone(),
        prover: WordProver::new(50_000_000),
        hard: projections.values().flat_map(|projection| projection.conditions).collect(),
        known: BTreeMap::new(),
    };
    let apart = match config {
        Config::Basic => BTreeSet::new(),
        _ => Cone::new(&formula, &mut program.words.clone()).use_def(&formula),
    };
    let all: Vec<usize> = (0..n).collect();
    let mut sets = subsets(&all);
    sets.push(all);
    sets.retain(|set| config == Config::Basic || set.len() <= 3);
    sets.retain(|set| !apart.iter().any(|(a, b)| set.contains(a) && set.contains(b)));
    let mut expected: Vec<(BTreeSet<u32>, usize)> = Vec::new();
    for set in sets {
        let sites = set.iter().map(|number| formula.selectors[*number].site).collect();
        let last = plain.last(&set, config > Config::Basic);
        expected.extend(last.map(|step| (sites, step)));
    }
    let mut shared = Shared::default();
    shared.words = program.words;
    let solved = search(&formula, shared, projections, settings);
    let mut found: Vec<_> = solved.solutions.into_iter().map(|s| (s.sites, s.steps)).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{config:?} {:?}", solved.notes);
    let n_several = found.iter().filter(|(sites, _)| sites.len() > 1).count();
    (found.len(), n_several)
}

#[test]
fn trying_sets_finds_what_the_solver_finds_of_all_selectors() {
    let mut random = Random(7);
    for (config, n_programs) in
        [(Config::Basic, 6), (Config::Constraints, 30), (Config::Projection, 30)]
    {
        let counts: Vec<_> = (0..n_programs).map(|_| compare(&mut random, config)).collect();
        let n_found: usize = counts.iter().map(|(n, _)| n).sum();
        let n_several: usize = counts.iter().map(|(_, n)| n).sum();
        assert!(n_found > n_programs && n_several > 3, "{config:?} {counts:?}");
    }
}

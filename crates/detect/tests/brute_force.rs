//! Verdicts on generated programs agree with what these do on every input.

mod compiled;

use findings::Findings;
use fixture::small_c::{RULES, Tally, Text, Unit, failures};

/// Programs in a file, and files: many functions for one run of the compiler.
const N_EACH: u32 = 130;
const SEEDS: std::ops::Range<u64> = 0..4;

/// `cargo xtask bench brute-force` asks for others: the first seed and how many.
fn seeds() -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("FIRSTFAULT_BRUTE_FORCE") else { return SEEDS };
    let (first, n) = asked.split_once('+').expect("FIRSTFAULT_BRUTE_FORCE is FIRST+N");
    let (first, n): (u64, u64) = (first.parse().unwrap(), n.parse().unwrap());
    first..first + n
}

#[test]
fn verdicts_agree_with_all_executions() {
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let mut tally = Tally::default();
    for seed in seeds() {
        let folder = tempfile::tempdir().unwrap();
        let unit = Unit::new(seed, N_EACH);
        let path = folder.path().join("plain.c");
        std::fs::write(&path, unit.text(Text::Plain)).unwrap();
        let program = program::link::link(vec![compiled::unit(&path).unwrap()]).program;
        let settings = detect::Settings {
            rules: RULES.map(str::to_owned).to_vec(),
            entries: unit
                .entries
                .iter()
                .map(|entry| format!("{entry}:a,b").parse().expect("an entry"))
                .collect(),
            ..detect::Settings::default()
        };
        let mut findings = Findings::new();
        let facts = settings.facts(&program);
        detect::check((&program, &facts), &rules, &settings, &mut findings);
        tally.add(&unit, &failures(&unit, folder.path()).unwrap(), &findings);
    }
    println!("{tally}");
    assert!(tally.wrong.is_empty(), "{tally}:\n{}", tally.wrong.join("\n"));
    // An analysis that leaves everything open would agree as well.
    assert!(tally.n_confirmed > 9 * tally.n_open_failing, "too few are reported: {tally}");
    assert!(tally.n_safe > 9 * tally.n_open, "too few are shown safe: {tally}");
}

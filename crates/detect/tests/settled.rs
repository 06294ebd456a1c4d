//! What facts settle without a search, and what they must leave to it.

mod compiled;

use detect::query::Resolution;
use detect::search::Limits;

const TEXT: &str = "
#include <stdlib.h>

static int table[8];

int in_bounds(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += table[i];
    return sum;
}

int past_the_end(void) {
    int sum = 0;
    for (int i = 0; i <= 8; i++) sum += table[i];
    return sum;
}

int checked(int *p) {
    if (!p) return 0;
    return *p;
}

int unchecked(void) {
    int *p = malloc(sizeof *p);
    *p = 1;
    int kept = *p;
    free(p);
    return kept;
}

int used_before(int *p) {
    int seen = p[0];
    free(p);
    return seen;
}

int used_after(int *p) {
    free(p);
    return p[0];
}

int set_on_all_paths(int way) {
    int x;
    if (way) x = 1; else x = 2;
    return x + 1;
}

int set_on_one_path(int way) {
    int x;
    if (way) x = 1;
    return x + 1;
}
";

/// The rules of each function that are still open when no path may be followed.
fn open() -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settled.c");
    std::fs::write(&path, TEXT).unwrap();
    let program = program::link::link(vec![compiled::unit(&path).unwrap()]).program;
    let rules = spec::discover::rules(&[]).unwrap();
    let limits = Limits { instructions: 0, ..Limits::default() };
    let settings = detect::Settings { limits, ..detect::Settings::default() };
    let facts = settings.facts(&program);
    detect::with_engine((&program, &facts), &rules, &settings, |engine, infos| {
        let outcome = engine.run();
        let mut open: Vec<(String, String)> = engine
            .queries
            .iter()
            .zip(&outcome.resolutions)
            .filter(|(_, resolution)| !matches!(resolution, Resolution::Safe))
            .map(|(query, _)| {
                let function = program.functions[query.function].name.to_string();
                (function, infos[query.rule as usize].id.to_string())
            })
            .collect();
        open.sort();
        open.dedup();
        open
    })
}

#[test]
fn facts_settle_what_no_path_can_change_and_nothing_else() {
    let open = open();
    let is_open = |function: &str, rule: &str| open.contains(&(function.into(), rule.into()));
    for (function, rule) in [
        ("in_bounds", "buffer-overread"),
        ("in_bounds", "buffer-underflow"),
        ("in_bounds", "uninitialized-read"),
        ("past_the_end", "buffer-underflow"),
        ("checked", "null-dereference"),
        ("checked", "use-after-free"),
        ("used_before", "use-after-free"),
        ("set_on_all_paths", "uninitialized-read"),
    ] {
        assert!(!is_open(function, rule), "{rule} in {function} should be settled: {open:?}");
    }
    for (function, rule) in [
        ("past_the_end", "buffer-overread"),
        ("unchecked", "null-dereference"),
        ("used_after", "use-after-free"),
        ("set_on_one_path", "uninitialized-read"),
    ] {
        assert!(is_open(function, rule), "{rule} in {function} must stay open: {open:?}");
    }
}

//! The search itself: nothing is lost by what it skips, every engine finds the same, and
//! what a run from the start does not confirm is dropped.

mod common;

use base::Cancel;
use common::{Project, lines_with_ivmps, search, session, test};
use locate::{Search, Searcher};
use run::{Expected, Oracle};

/// Reads numbers, sums those in a range, and classifies the sum: comparisons, a switch,
/// arithmetic, a division, floats and an index.
const MIXED: &str = r#"
#include <stdio.h>
#include <string.h>
static int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static double scale(double x) { return x * 1.5 + 0.25; }
static int kind(int n) {
  switch (n % 4) {
  case 0: return 1;
  case 1: return 2;
  default: return n > 9 ? 3 : 4;
  }
}
int main(void) {
  int n, sum = 0, count = 0;
  char word[32];
  while (scanf("%d", &n) == 1) {
    if (n >= 0 && n < 8)
      sum += table[n];
    else
      count++;
  }
  if (scanf("%31s", word) == 1 && strcmp(word, "end") != 0)
    puts("no end");
  printf("%d %d %.2f %d\n", sum, kind(sum), scale(sum), count ? sum / count : 0);
  return 0;
}
"#;

fn mixed() -> Project {
    // Test c expects what `count--` would give, test d what `sum + 1` would.
    Project::new(MIXED)
        .test("a", &[], "1 2 3", "6 4 9.25 0\n")
        .test("b", &[], "0 9 9", "3 4 4.75 1\n")
        .test("c", &[], "4 9 2", "9 2 13.75 0\n")
        .test("d", &[], "5 1 end", "11 3 16.75 0\n")
        .test("e", &[], "7 7 7 x", "no end\n18 3 27.25 0\n")
}

#[test]
fn skipping_equivalent_alternates_loses_nothing() {
    let project = mixed();
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let fast = search(&session, Search::Every);
    let mut searcher = Searcher::new(&session, Search::Every);
    searcher.brute_force = true;
    let brute = searcher.run().unwrap();
    assert!(fast.stats.n_hits > 0, "the example has IVMPs");
    assert_eq!(fast.stats.n_hits, brute.stats.n_hits);
    assert_eq!(lines_with_ivmps(&session, &fast), lines_with_ivmps(&session, &brute));
    assert!(
        fast.stats.n_replacements < brute.stats.n_replacements,
        "{} runs instead of {}",
        fast.stats.n_replacements,
        brute.stats.n_replacements
    );
}

#[test]
fn stopping_at_the_first_ivmp_of_a_statement_keeps_the_statements() {
    let project = mixed();
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let first = search(&session, Search::Full);
    let every = search(&session, Search::Every);
    assert_eq!(lines_with_ivmps(&session, &first), lines_with_ivmps(&session, &every));
    assert!(first.stats.n_replacements <= every.stats.n_replacements);
}

#[test]
fn forks_find_what_snapshots_find() {
    let project = mixed();
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    assert!(project.program.instrumented.can_snapshot);
    let by_snapshot = search(&session, Search::Every);
    let mut searcher = Searcher::new(&session, Search::Every);
    searcher.force_fork = true;
    let by_fork = searcher.run().unwrap();
    assert_eq!(by_snapshot.stats.n_forked, 0);
    assert!(by_fork.stats.n_forked > 0);
    assert_eq!(by_snapshot.stats.n_hits, by_fork.stats.n_hits);
    assert_eq!(lines_with_ivmps(&session, &by_snapshot), lines_with_ivmps(&session, &by_fork));
}

#[test]
fn a_script_decides_as_an_expected_output_would() {
    let project = mixed();
    let script = project.path("judge.sh");
    let text = "#!/bin/sh\n[ \"$(printf '4 9 2' | \"$PROGRAM\")\" = '9 2 13.75 0' ]\n";
    common::write(&script, text);
    let mut permissions = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&script, permissions).unwrap();
    let judged = mixed().add(test("s", &[], "", Oracle::Script(script)));
    let cancel = Cancel::new();
    let session = session(&judged, &cancel).unwrap();
    let found = lines_with_ivmps(&session, &search(&session, Search::Full));
    let of = |name: &str| &found.iter().find(|(test, _)| test == name).unwrap().1;
    assert!(!of("c").is_empty());
    assert_eq!(of("s"), of("c"));
}

/// A replaced run that reads memory it never wrote passes by accident: what earlier
/// replaced runs left there is not what a run from the start finds.
#[test]
fn an_unstable_hit_is_dropped_and_counted() {
    let project = Project::new(
        r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* Far below the snapshot's reach: what runs leave here is not put back. */
static __attribute__((noinline)) int deep(int write, int value) {
  volatile int *cell = (volatile int *)((char *)__builtin_frame_address(0) - 300000);
  if (write)
    *cell = value;
  return *cell;
}
int main(int argc, char **argv) {
  int mode = argv[1][0] - '0';
  int n = mode;
  if (n == 2) deep(1, 42); int x = n == 3 ? deep(0, 0) : 7;
  printf("%d\n", x);
  return 0;
}
"#,
    )
    .test("1", &["1"], "", "42\n")
    .test("2", &["2"], "", "7\n")
    .test("4", &["4"], "", "7\n");
    // The third mode only has to be in the profile.
    let project = project.add(test(
        "3",
        &["3"],
        "",
        Oracle::Output(Expected { exit: Some(0), ..Expected::default() }),
    ));
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Every);
    assert!(ivmps.stats.n_unstable > 0, "{:?}", ivmps.stats);
    let found = lines_with_ivmps(&session, &ivmps);
    let lucky = project.line("int x = n == 3");
    assert!(found.iter().all(|(_, lines)| !lines.contains(&lucky)), "{found:?}");
}

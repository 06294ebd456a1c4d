//! The paper's figures, written anew, with the paper's outcomes.

use crate::common::{changes, diagnose, diagnose_lines};
use diagnose::{Config, Diagnosis, PaperSettings};

/// Fig 2.
const SUM: &str = "\
int sum(int *a, int n) {
  int i, s = 0;
  for (i = 0; i <= n; ++i) {
    s = s + a[i];
  }
  return s;
}
int main(void) {
  int a[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  sum(a, 10);
  return 0;
}
";

/// 4.4: N1 is line 3, N2 line 5, N3 line 7.
const TWO_TRACES: &str = "\
#include <assert.h>
int main(int argc, char **argv) {
  int x = 0;
  if (argc > 1) {
    x = x + 2;
  } else {
    x = x + 3;
  }
  assert(x <= 1);
  return 0;
}
";

fn paper(config: Config) -> Option<PaperSettings> {
    Some(PaperSettings { max_solutions: 40, ..PaperSettings::new(config, false, 2) })
}

/// The lines each solution changes.
fn lines(diagnosis: &Diagnosis) -> Vec<Vec<u32>> {
    let lines = |repair: &findings::Repair| repair.changes.iter().map(|c| c.place.line).collect();
    diagnosis.repairs.iter().map(lines).collect()
}

#[test]
fn fig_3_the_trace_has_23_steps_and_no_assignment_of_s() {
    let diagnosis = diagnose(SUM, None, Vec::new());
    let found = diagnosis.violation.expect("the bound is violated");
    assert_eq!((found.rule, found.place.line), ("buffer-overflow", 4));
    // The figure does not have what the call passes; nobody understands `n` without.
    let (passed, steps) = found.trace.steps.split_first().expect("it has steps");
    assert_eq!(passed.note, "sum(a, 10): n is 10");
    assert_eq!(steps.len(), 23);
    assert_eq!(steps[0].note, "i = 0");
    assert_eq!(steps[1].note, "condition (i <= n) is true");
    assert_eq!(steps[2].note, "i = i + 1: i is 1");
    assert_eq!(steps[20].note, "i = i + 1: i is 10");
    let failing = "check fails: an access outside the bounds of its object: \
                   a[i] reads element 10 of a, which has 10 elements";
    assert_eq!(steps[22].note, failing);
    assert!(steps.iter().all(|step| !step.note.starts_with("s =")));
}

#[test]
fn the_loop_condition_is_mended_first() {
    let diagnosis = diagnose(SUM, None, Vec::new());
    assert_eq!(changes(&diagnosis)[0], [(3, "<=", "<")]);
    assert!(diagnosis.repairs[0].verified.iter().any(|v| v.contains("free of violations")));
}

#[test]
fn fig_5_basic_solutions_hold_the_condition_and_the_initialisation() {
    let diagnosis = diagnose(SUM, paper(Config::Basic), Vec::new());
    let all = changes(&diagnosis);
    let alone = |text: &str| all.iter().any(|s| s.len() == 1 && s[0].1 == text);
    assert!(alone("i <= n"), "{all:?}");
    assert!(alone("0"), "{all:?}");
}

#[test]
fn each_configuration_has_fewer_solutions() {
    let counts: Vec<usize> =
        [Config::Basic, Config::Constraints, Config::Projection, Config::Trusted]
            .into_iter()
            .map(|config| diagnose(SUM, paper(config), Vec::new()).repairs.len())
            .collect();
    assert!(counts.windows(2).all(|pair| pair[0] >= pair[1]), "{counts:?}");
    assert!(counts[0] > counts[3], "{counts:?}");
}

#[test]
fn safety_projections_keep_results_inside_the_array() {
    let diagnosis = diagnose(SUM, paper(Config::Projection), Vec::new());
    let all = changes(&diagnosis);
    let results = all.iter().flatten().filter(|(_, old, _)| *old == "0");
    for (_, _, new) in results {
        assert!(new.parse::<i64>().is_ok_and(|value| value >= 0), "{all:?}");
    }
}

#[test]
fn the_proof_of_the_lower_bound_makes_the_initialisation_trusted() {
    let diagnosis = diagnose(SUM, paper(Config::Trusted), Vec::new());
    let all = changes(&diagnosis);
    assert!(!all.is_empty());
    assert!(all.iter().flatten().all(|(_, old, _)| *old != "0"), "{all:?}");
    assert!(all.iter().any(|s| s.len() == 1 && s[0].1 == "i <= n"), "{all:?}");
}

#[test]
fn maxsat_prefers_the_weightiest_alternative() {
    // Optimising is slow: the first solutions will do.
    let settings =
        PaperSettings { max_solutions: 8, ..PaperSettings::new(Config::Constraints, true, 2) };
    let diagnosis = diagnose(SUM, Some(settings), Vec::new());
    let all = changes(&diagnosis);
    let is_right = |solution: &Vec<_>| solution == &[(3, "i <= n", "i < n")];
    assert!(all.first().is_some_and(is_right), "{all:?} {:?}", diagnosis.notes);
    // What the library has alternatives for gets nothing else.
    let updates = all.iter().flatten().filter(|(_, old, _)| *old == "++i");
    assert!(updates.clone().all(|(_, _, new)| new.starts_with("i = i")), "{all:?}");
    assert!(all.iter().flatten().all(|(_, old, _)| *old != "s + a[i]"), "{all:?}");
}

#[test]
fn two_traces_leave_only_what_mends_both() {
    let alone = lines(&diagnose(TWO_TRACES, paper(Config::Basic), Vec::new()));
    assert!(alone.contains(&vec![3]), "{alone:?}");
    assert!(alone.contains(&vec![5]) || alone.contains(&vec![7]), "{alone:?}");
    let both = lines(&diagnose(TWO_TRACES, paper(Config::Constraints), Vec::new()));
    assert_eq!(both.first(), Some(&vec![3]), "{both:?}");
    assert!(both.iter().all(|lines| !lines.contains(&5) && !lines.contains(&7)), "{both:?}");
}

/// The branch before N2 and N3 goes one way in each trace: turned around it leads from the one to
/// the other, so that N1 is alone. That holds where the program tests for the error itself, too.
#[test]
fn a_branch_that_leads_to_another_error_trace_mends_nothing() {
    let text = "\
#include <assert.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  int x;
  x = 0;
  if (argc > 2)
    x = x + 2;
  else
    x = x + 3;
  CHECK
  return 0;
}
";
    for check in ["assert(!(x > 1));", "if (x > 1)\n    abort();"] {
        let text = text.replace("CHECK", check);
        for config in [Config::Constraints, Config::Projection, Config::Trusted] {
            let both = lines(&diagnose(&text, paper(config), Vec::new()));
            assert_eq!(both, [[6]], "{check} {config:?}");
        }
    }
}

/// What is solved is what the changes say: an update is assigned its value, and no address is
/// written into the source.
#[test]
fn solutions_are_told_as_statements_of_c() {
    let settings = paper(Config::Constraints);
    let all = diagnose(SUM, settings, Vec::new());
    let all = changes(&all);
    let updates: Vec<_> = all.iter().flatten().filter(|(_, old, _)| *old == "++i").collect();
    assert!(!updates.is_empty() && updates.iter().all(|u| u.2.starts_with("i = ")), "{all:?}");
    let text = "\
#include <stdlib.h>
int main(int argc, char **argv) {
  int x = 1;
  int *p = &x;
  if (argc > 1)
    p = NULL;
  return *p;
}
";
    let diagnosis = diagnose(text, settings, Vec::new());
    let all = changes(&diagnosis);
    let pointers: Vec<_> = all.iter().flatten().filter(|(line, ..)| *line == 6).collect();
    assert!(pointers.iter().any(|(_, old, new)| old == new), "{all:?}");
    assert!(all.iter().flatten().all(|(_, _, new)| !new.contains("10")), "{all:?}");
    let said = diagnosis.repairs.iter().any(|r| r.why.contains("points to another object"));
    assert!(said, "{:?}", diagnosis.repairs);
}

#[test]
fn no_solution_is_shown_twice() {
    let diagnosis = diagnose(SUM, paper(Config::Basic), Vec::new());
    let changed = |repair: &findings::Repair| {
        let changes = repair.changes.iter().filter(|change| change.old != change.new);
        changes.cloned().collect::<Vec<_>>()
    };
    let all: Vec<_> = diagnosis.repairs.iter().map(changed).collect();
    for (index, solution) in all.iter().enumerate() {
        assert!(!all[..index].contains(solution), "{solution:?}");
    }
}

#[test]
fn what_is_left_of_the_repair_program_is_said() {
    let all = paper(Config::Basic).expect("a configuration");
    let few = Some(PaperSettings { max_solutions: 3, ..all });
    let solutions = diagnose(SUM, few, Vec::new());
    // Two of them say the same.
    assert_eq!(solutions.repairs.len(), 2);
    let said = solutions.notes.join("\n");
    assert!(said.contains("more solutions than the first 3"), "{said}");
    let full = diagnose(SUM, Some(all), Vec::new());
    let few = Some(PaperSettings { max_work: 300, ..all });
    let work = diagnose(SUM, few, Vec::new());
    assert!(!work.repairs.is_empty() && work.repairs.len() < full.repairs.len());
    let said = work.notes.join("\n");
    assert!(said.contains("the work for one trace is used up"), "{said}");
    assert!(said.contains("sets of 1 change and all of more were not tried"), "{said}");
}

/// The loop follows `next` of the last node, in line 19. Pointers that are read through pointers
/// make long words.
const CHAIN: &str = "\
#include <stdio.h>
#include <stdlib.h>
struct node {
  int value;
  struct node *next;
};
static struct node nodes[24];
static struct node *link_all(int step)
{
  int i;
  for (i = 0; i < 24; i++) {
    nodes[i].value = i * step;
    nodes[i].next = i + 1 < 24 ? &nodes[i + 1] : NULL;
  }
  return nodes;
}
static int last_below(struct node *node, int limit)
{
  while (node->next->value < limit)
    node = node->next;
  return node->value;
}
int main(int argc, char **argv)
{
  int limit = argc > 1 ? atoi(argv[1]) : 10;
  printf(\"%d\\n\", last_below(link_all(2), limit));
  return 0;
}
";

#[test]
fn a_long_trace_through_pointers_leads_to_the_condition() {
    let settings = PaperSettings::new(Config::Trusted, false, 2);
    let diagnosis = diagnose(CHAIN, Some(settings), Vec::new());
    let steps = diagnosis.violation.as_ref().map_or(0, |found| found.trace.steps.len());
    assert!(steps > 100, "{steps}");
    let all = changes(&diagnosis);
    let condition = (19, "node->next->value < limit", "0");
    assert!(
        all.iter().any(|solution| solution[..] == [condition]),
        "{all:?} {:?}",
        diagnosis.notes
    );
}

/// Two faults, in lines 7 and 9, of one cause in line 2.
const ONE_CAUSE: &str = "\
int main(int argc, char **argv) {
  int n = 5;
  int i = 0;
  int a[4] = {0};
  int b[4] = {0};
  if (argc > 1) {
    for (i = 0; i < n; i++) a[i] = 1;
  } else {
    for (i = 0; i < n; i++) b[i] = 2;
  }
  return a[0] + b[0];
}
";

#[test]
fn faults_of_one_cause_are_diagnosed_together() {
    let alone = diagnose_lines(ONE_CAUSE, &[7], None);
    assert!(changes(&alone).iter().any(|change| change[0].0 == 7), "{:?}", changes(&alone));
    let both = diagnose_lines(ONE_CAUSE, &[7, 9], None);
    let all = changes(&both);
    assert_eq!(all[0], [(2, "5", "4")]);
    assert!(all.iter().flatten().all(|(line, ..)| ![7, 9].contains(line)), "{all:?}");
}

#[test]
fn solutions_of_faults_of_one_cause_are_intersected() {
    let settings = paper(Config::Constraints);
    let alone = lines(&diagnose_lines(ONE_CAUSE, &[7], settings));
    assert!(alone.contains(&vec![2]) && alone.contains(&vec![7]), "{alone:?}");
    let both = lines(&diagnose_lines(ONE_CAUSE, &[7, 9], settings));
    assert_eq!(both.first(), Some(&vec![2]), "{both:?}");
    assert!(both.iter().flatten().all(|line| ![7, 9].contains(line)), "{both:?}");
}

#[test]
fn pointers_and_joined_conditions_are_told_as_they_are_written() {
    let text = "\
int main(void) {
  char text[4] = \"abc\";
  char *p = text;
  int n = 0;
  while (n < 9 && *p != 'x') {
    p++;
    n++;
  }
  return n;
}
";
    let diagnosis = diagnose(text, None, Vec::new());
    let found = diagnosis.violation.expect("the text is left");
    let notes: Vec<&str> = found.trace.steps.iter().map(|step| step.note.as_str()).collect();
    assert!(notes.contains(&"p = p + 1"), "{notes:?}");
    assert!(notes.contains(&"condition (*p != 'x') is true"), "{notes:?}");
    assert!(notes.iter().all(|note| !note.contains('%')), "{notes:?}");
}

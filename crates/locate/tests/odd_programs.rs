//! Programs that misbehave under replacement, and inputs nobody can do much with.

mod common;

use base::Cancel;
use common::{Project, lines_with_ivmps, search, session, test};
use locate::{LocateError, Search, Searcher};
use run::{Expected, Oracle, Suite};

/// Under replacement this divides by zero, writes through a wild index, loops for ever with
/// and without events, recurses without end, calls abort and prints without end.
#[test]
fn crashes_hangs_and_floods_are_survived() {
    let project = Project::new(
        r#"
#include <stdio.h>
#include <stdlib.h>
static int cells[4];
static int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  int k = 100 / n;
  if (n == 9) abort();
  if (n == 8) for (;;) ;
  if (n == 7) for (;;) puts("again and again and again");
  if (n == 6) cells[n * 100000000] = 1;
  if (n == 5) down(-1);
  printf("%d\n", k + 1); // wrong
  return 0;
}
"#,
    )
    .test("1", &["1"], "", "100\n")
    .test("2", &["2"], "", "101\n")
    .test("3", &["100"], "", "2\n")
    .test("4", &["50"], "", "3\n")
    .add(crashing("9"))
    .add(crashing("6"))
    .add(crashing("0"));
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    for force_fork in [false, true] {
        let mut searcher = Searcher::new(&session, Search::Every);
        searcher.force_fork = force_fork;
        let ivmps = searcher.run().unwrap();
        assert!(ivmps.stats.n_replacements > 10, "{:?}", ivmps.stats);
        assert_eq!(ivmps.stats.n_unstable, 0);
        let found = lines_with_ivmps(&session, &ivmps);
        let wrong = project.line("// wrong");
        let of = |name: &str| &found.iter().find(|(test, _)| test == name).unwrap().1;
        assert!(of("2").contains(&wrong), "{found:?}");
    }
}

/// A test that fails by a crash and so brings odd values into the profile.
fn crashing(n: &str) -> run::Test {
    let expected = Expected { exit: Some(0), ..Expected::default() };
    test(&format!("crash {n}"), &[n], "", Oracle::Output(expected))
}

#[test]
fn input_files_the_environment_and_characters_are_read_again_after_each_run() {
    let project = Project::new(
        r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  FILE *file = fopen("numbers", "r");
  int c, n = 0, sum = 0, letters = 0;
  while ((c = getc(stdin)) != EOF)
    if (c >= 'a' && c < 'z') // should be <=
      letters++;
  while (fscanf(file, "%d", &n) == 1)
    sum += n;
  fclose(file);
  printf("%d %d %s\n", letters, sum, getenv("MODE"));
  return 0;
}
"#,
    );
    let numbers = project.path("numbers");
    common::write(&numbers, "1 2 3\n");
    let reading = |name: &str, stdin: &str, stdout: &str| {
        let expected = Expected { stdout: Some(stdout.into()), ..Expected::default() };
        let mut test = test(name, &[], stdin, Oracle::Output(expected));
        test.environment.push(("MODE".to_string(), "slow".to_string()));
        test.inputs.push(("numbers".to_string(), numbers.clone()));
        test
    };
    let project = project
        .add(reading("1", "abc!", "3 6 slow\n"))
        .add(reading("2", "xyz-", "3 6 slow\n"))
        .add(reading("3", "q", "1 6 slow\n"));
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    assert_eq!(ivmps.stats.n_forked, 0, "reading files needs no fork");
    let found = lines_with_ivmps(&session, &ivmps);
    assert!(found[0].1.contains(&project.line("// should")), "{found:?}");
}

/// A run in which `n > 3` is made true leaves a line in the log that later runs must not find.
#[test]
fn output_files_are_compared_and_put_back() {
    let project = Project::new(
        r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  FILE *log = fopen("log", "a");
  FILE *result = fopen("result", "w");
  if (n > 3) {
    fprintf(log, "many\n");
    fflush(log);
  }
  for (int i = 0; i < n; i++) { // should be <=
    fprintf(log, "step\n");
    fflush(log);
  }
  fprintf(result, "%d\n", n);
  puts("done");
  return 0;
}
"#,
    );
    let writing = |n: usize| {
        let steps = "step\n".repeat(n + 1);
        let expected = Expected {
            stdout: Some("done\n".into()),
            exit: Some(0),
            files: vec![
                ("log".to_string(), steps.into_bytes()),
                ("result".to_string(), format!("{n}\n").into_bytes()),
            ],
            ..Expected::default()
        };
        test(&n.to_string(), &[&n.to_string()], "", Oracle::Output(expected))
    };
    let mut passing = writing(4);
    if let Oracle::Output(expected) = &mut passing.oracle {
        expected.files[0].1 = format!("many\n{}", "step\n".repeat(4)).into_bytes();
    }
    let project = project.add(writing(1)).add(writing(2)).add(passing);
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    assert!(ivmps.stats.n_forked > 0, "written files need a fork");
    assert_eq!(ivmps.stats.n_unstable, 0, "{:?}", ivmps.stats);
    let found = lines_with_ivmps(&session, &ivmps);
    let fault = project.line("// should");
    assert!(found.iter().all(|(_, lines)| lines.contains(&fault)), "{found:?}");
}

const ECHO: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/random.h>\n\
     int main(int argc, char **argv) {\n\
       if (argv[1][0] == 'l') for (volatile int i = 0; ; i++) ;\n\
       int r = 0;\n\
       if (argv[1][0] == 'r') { getrandom(&r, sizeof r, 0); printf(\"%d\\n\", r); }\n\
       puts(argv[1]);\n\
       return 0;\n}\n";

#[test]
fn no_failing_test_is_said() {
    let project = Project::new(ECHO).test("1", &["x"], "", "x\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let error = Searcher::new(&session, Search::Full).run().unwrap_err();
    assert!(matches!(error, LocateError::NoFailingTest));
}

#[test]
fn no_passing_test_still_gives_a_list() {
    let project = Project::new(ECHO).test("1", &["x"], "", "y\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    assert!(!locate::rank_as_paper(&session, &ivmps).is_empty());
}

#[test]
fn flaky_and_endless_tests_are_set_aside_by_name() {
    let project = Project::new(ECHO)
        .test("flaky", &["r"], "", "r\n")
        .test("endless", &["l"], "", "l\n")
        .test("good", &["x"], "", "x\n");
    let cancel = Cancel::new();
    let mut options = locate::Options::default();
    options.limits.steps = 1_000_000;
    let session =
        locate::Session::start(&project.program, &project.suite, options, &cancel).unwrap();
    let aside: Vec<(&str, &str)> =
        session.set_aside.iter().map(|a| (a.name.as_str(), a.reason.as_str())).collect();
    assert_eq!(aside.len(), 2, "{aside:?}");
    assert_eq!(aside[0].0, "endless");
    assert_eq!(aside[0].1, "exceeds its limit of steps (1 million): --step-limit sets another",);
    assert!(aside[1].0 == "flaky" && aside[1].1.contains("flaky"), "{aside:?}");
    assert_eq!(session.tests.len(), 1);
}

#[test]
fn a_cancelled_search_ends_at_once() {
    let project = Project::new(ECHO).test("1", &["x"], "", "y\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    cancel.cancel();
    let error = Searcher::new(&session, Search::Full).run().unwrap_err();
    assert!(matches!(error, LocateError::Interrupted), "{error:?}");
}

#[test]
fn no_usable_test_is_said() {
    let project = Project::new(ECHO);
    let suite = Suite {
        tests: Vec::new(),
        unusable: vec![("1".to_string(), "1.out is missing".to_string())],
    };
    let cancel = Cancel::new();
    let options = locate::Options::default();
    let result = locate::Session::start(&project.program, &suite, options, &cancel);
    let error = result.err().expect("nothing to run").to_string();
    assert_eq!(error, "no test can be used: 1 (1.out is missing)");
}

/// A program that asks at the terminal does not wait there: it has none.
#[test]
fn programs_have_a_session_and_folders_of_their_own() {
    let project = Project::new(
        r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
  FILE *table = fopen("data/table", "r");
  int c = table ? getc(table) : '-';
  printf("%c %s\n", c, getsid(0) == getpid() ? "alone" : "watched");
  return 0;
}
"#,
    );
    let table = project.path("table");
    common::write(&table, "x");
    let with_table = |name: &str, stdout: &str| {
        let expected = Expected { stdout: Some(stdout.into()), ..Expected::default() };
        let mut test = test(name, &[], "", Oracle::Output(expected));
        test.inputs.push(("data/table".to_string(), table.clone()));
        test
    };
    let project = project.add(with_table("1", "x alone\n")).add(with_table("2", "y alone\n"));
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let verdicts: Vec<bool> = session.tests.iter().map(|test| test.passed).collect();
    assert_eq!(verdicts, [true, false], "{:?}", session.set_aside);
}

/// Files in the working folder are put back after each replacement, but not any number.
#[test]
fn a_search_that_has_to_be_given_up_is_said() {
    let project = Project::new(
        r#"
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *result = fopen("result", "w");
  int n = argc + 1; // wrong
  fprintf(result, "%d\n", n);
  return 0;
}
"#,
    );
    let file = project.path("file");
    common::write(&file, "");
    let with_files = |name: &str, args: &[&str], n_files: usize, result: &str| {
        let files = vec![("result".to_string(), result.into())];
        let mut test =
            test(name, args, "", Oracle::Output(Expected { files, ..Expected::default() }));
        test.inputs = (0..n_files).map(|n| (format!("f{n}"), file.clone())).collect();
        test
    };
    let project = project
        .add(with_files("few", &[], 3, "1\n"))
        .add(with_files("many", &[], 300, "1\n"))
        .add(with_files("passes", &["x", "y"], 0, "4\n"));
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let unfinished = ivmps.unfinished.iter().map(|test| session.tests[*test].test.name.as_str());
    assert_eq!(unfinished.collect::<Vec<_>>(), ["many"]);
    let findings = locate::to_findings(&session, Some(&ivmps), &[]);
    assert_eq!(findings.incomplete[0].what, "search of test many");
}

/// What the runtime asks of the system between two statements leaves no trace in `errno`.
#[test]
fn errno_is_the_programs_own() {
    let project = Project::new(
        r#"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  FILE *result = fopen("result", "w");
  errno = 0;
  int n = atoi(argv[1]);
  if (n > 5) // should be >=
    fputs("many ", result);
  fprintf(result, "%d\n", errno);
  return 0;
}
"#,
    );
    let writing = |n: &str, result: &str| {
        let files = vec![("result".to_string(), result.into())];
        test(n, &[n], "", Oracle::Output(Expected { files, ..Expected::default() }))
    };
    let project = project
        .add(writing("5", "many 0\n"))
        .add(writing("4", "0\n"))
        .add(writing("6", "many 0\n"));
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    assert!(ivmps.stats.n_forked > 0, "written files need a fork");
    let found = lines_with_ivmps(&session, &ivmps);
    assert!(found[0].1.contains(&project.line("// should")), "{found:?}");
}

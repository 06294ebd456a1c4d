//! What speaks for a statement beyond single IVMPs: changes of it that hold in whole runs.

mod common;

use base::Cancel;
use common::{Project, lines_with_ivmps, rank_of, search, session};
use locate::{Search, Searcher, Support, consistency, rank};

/// Lines end a comment, and so do blanks, which is wrong; the failing tests have several.
const COMMENTS: &str = "#include <stdio.h>\n\
    static int ends(int c) {\n\
      if (c == '\\n' || c == ' ') // should be the end of a line alone\n\
        return 1;\n\
      return 0;\n\
    }\n\
    int main(void) {\n\
      int c, words = 0;\n\
      while ((c = getchar()) != EOF) {\n\
        if (c == ';')\n\
          while (c != EOF && !ends(c))\n\
            c = getchar();\n\
        else if (c != ' ' && c != '\\n')\n\
          words++;\n\
      }\n\
      printf(\"%d\\n\", words);\n\
      return 0;\n}\n";

fn comments() -> Project {
    Project::new(COMMENTS)
        .test("two blanks", &[], "a ;x y z\nb\n", "2\n")
        .test("three blanks", &[], ";x y z w\na\n", "1\n")
        .test("no comment", &[], "a b c\n", "3\n")
        .test("no blanks", &[], "a ;xyz\nb\n", "2\n")
}

fn support_of(session: &locate::Session<'_>, ivmps: &locate::Ivmps, line: u32) -> Support {
    let found = consistency(session, ivmps, false).unwrap();
    let statement =
        found.support().into_iter().find(|(s, _)| session.statements.place(*s).line == line);
    statement.map_or(Support::default(), |(_, support)| support)
}

#[test]
fn a_condition_wrong_several_times_in_a_run_is_found() {
    let project = comments();
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let fault = project.line("// should");
    let found = lines_with_ivmps(&session, &ivmps);
    assert!(found.iter().all(|(_, lines)| !lines.contains(&fault)), "no single replacement helps");
    let support = support_of(&session, &ivmps, fault);
    assert_eq!(support, Support { n_consistent: 2, n_explained: 2 });
    let list = rank(&session, &ivmps, &consistency(&session, &ivmps, false).unwrap());
    let best = list.iter().map(|ranked| ranked.suspiciousness).max().unwrap();
    assert_eq!(best, 8, "nothing is more suspicious than the fault");
    assert!(rank_of(&session, &list, fault) <= 2);
}

#[test]
fn a_value_off_by_one_in_every_execution_is_found() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
           int i, n;\n\
           for (i = 1; i < argc; i++) {\n\
             n = atoi(argv[i]) + 2; // should be + 1\n\
             printf(\"%d\\n\", n < 0 ? 0 : n);\n\
           }\n\
           return 0;\n}\n",
    )
    .test("A", &["1", "5"], "", "2\n6\n")
    .test("B", &["11", "30"], "", "12\n31\n")
    .test("C", &["-9", "-8"], "", "0\n0\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let support = support_of(&session, &ivmps, project.line("// should"));
    assert_eq!(support, Support { n_consistent: 2, n_explained: 2 });
}

/// A change that breaks a passing test does not count; one that no passing test has met does.
#[test]
fn passing_tests_contradict() {
    let project = Project::new(
        "#include <stdio.h>\n\
         int main(int argc, char **argv) {\n\
           const char *word = \"few\";\n\
           if (argc > 2) // right\n\
             word = \"many\";\n\
           if (argv[1][0] == 'z') // should be 'x'\n\
             word = \"many\";\n\
           puts(word);\n\
           return 0;\n}\n",
    )
    .test("A", &["x"], "", "many\n")
    .test("B", &["y"], "", "few\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let found = lines_with_ivmps(&session, &ivmps);
    let (right, wrong) = (project.line("// right"), project.line("// should"));
    assert!(found[0].1.contains(&right) && found[0].1.contains(&wrong), "{found:?}");
    assert_eq!(support_of(&session, &ivmps, right), Support::default());
    let support = Support { n_consistent: 1, n_explained: 1 };
    assert_eq!(support_of(&session, &ivmps, wrong), support);
}

/// A replaced run that writes far beyond its array does not end the search: what is found
/// afterwards is what processes of their own find.
#[test]
fn a_replaced_run_that_overwrites_everything_is_put_back() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static char line[256];\n\
         int main(int argc, char **argv) {\n\
           int i, n = atoi(argv[1]), last = atoi(argv[2]);\n\
           for (i = 0; i != n; i++)\n\
             memset(line + 16 * i, 'a' + i, 16);\n\
           if (last > 3) // should be >= 3\n\
             puts(\"late\");\n\
           puts(line);\n\
           return 0;\n}\n",
    )
    .test("A", &["4", "3"], "", "late\naaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd\n")
    .test("B", &["5", "9"], "", "late\naaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccddddddddddddddddeeeeeeeeeeeeeeee\n")
    .test("C", &["6", "1"], "", "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccddddddddddddddddeeeeeeeeeeeeeeeeffffffffffffffff\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let fault = project.line("// should");
    let snapshots = search(&session, Search::Every);
    assert_eq!(snapshots.stats.n_forked, 0, "the snapshots were not given up");
    assert!(snapshots.stats.n_crashes > 0, "some replaced run writes beyond its memory");
    let mut searcher = Searcher::new(&session, Search::Every);
    searcher.force_fork = true;
    let forks = searcher.run().unwrap();
    let found = lines_with_ivmps(&session, &snapshots);
    assert!(found[0].1.contains(&fault), "{found:?}");
    assert_eq!(found, lines_with_ivmps(&session, &forks));
}

#[test]
fn a_closing_brace_is_no_statement() {
    let project = comments();
    let braces: Vec<_> =
        COMMENTS.lines().enumerate().filter(|(_, text)| text.trim() == "}").collect();
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    for place in &session.statements.places {
        assert!(braces.iter().all(|(index, _)| *index as u32 + 1 != place.line), "{place:?}");
    }
}

//! The examples of chapter 2, written anew.

mod common;

use base::Cancel;
use common::{Project, lines_with_ivmps, rank_of, search, session};
use locate::{Search, rank_as_paper, to_findings};

fn lines(names: &[(&str, &[u32])]) -> Vec<(String, std::collections::BTreeSet<u32>)> {
    names.iter().map(|(name, lines)| (name.to_string(), lines.iter().copied().collect())).collect()
}

/// Figure 2.1: `<` instead of `<=`. Equal operands take the wrong branch, and operands that
/// differ, from another run, the right one.
#[test]
fn a_wrong_comparison_has_ivmps_with_other_operands() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
           int x = atoi(argv[1]);\n\
           int y = atoi(argv[2]);\n\
           if (x < y) // wrong\n\
             puts(\"in order\");\n\
           else\n\
             puts(\"not in order\");\n\
           return 0;\n}\n",
    )
    .test("1", &["1", "1"], "", "in order\n")
    .test("2", &["8", "8"], "", "in order\n")
    .test("3", &["3", "5"], "", "in order\n")
    .test("4", &["9", "2"], "", "not in order\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let list = rank_as_paper(&session, &ivmps);
    let wrong = project.line("// wrong");
    let findings = to_findings(&session, Some(&ivmps), &list);
    let statement = findings.statements.iter().find(|s| s.place.line == wrong).unwrap();
    assert_eq!(
        statement.evidence[0],
        "with (x < y) = true instead of false at the 1st execution, tests 1 and 2 pass"
    );
    assert_eq!(ivmps.n_tests(list[0].statement, &session.failing()), 2);
}

/// Figure 2.3: a condition off by one; the IVMP is at the faulty statement.
#[test]
fn a_constant_off_by_one_in_a_condition() {
    let project = Project::new(
        "#include <stdio.h>\n\
         int main(int argc, char **argv) {\n\
           if (argc < 3) // should be 4\n\
             puts(\"too few\");\n\
           else\n\
             puts(\"okay\");\n\
           return 0;\n}\n",
    )
    .test("A", &["1"], "", "too few\n")
    .test("B", &["1", "2"], "", "too few\n")
    .test("C", &["1", "2", "3"], "", "okay\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    assert_eq!(lines_with_ivmps(&session, &ivmps), lines(&[("B", &[project.line("// should")])]));
    assert_eq!(rank_of(&session, &rank_as_paper(&session, &ivmps), project.line("// should")), 1);
}

/// Figure 2.4: a wrong constant is found where it is used. Beyond the paper, it is found where
/// it is assigned as well, by the other values that are stored in the same array.
#[test]
fn a_constant_assignment_is_found_at_its_use_and_by_its_neighbours() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int threshold[4];\n\
         int main(int argc, char **argv) {\n\
           int layer = atoi(argv[1]);\n\
           threshold[0] = 400;\n\
           threshold[1] = 550; // should be 500\n\
           threshold[2] = 640;\n\
           threshold[3] = 740;\n\
           if (threshold[layer] < 525) // use\n\
             puts(\"0\");\n\
           else\n\
             puts(\"1\");\n\
           return 0;\n}\n",
    )
    .test("A", &["0"], "", "0\n")
    .test("B", &["1"], "", "0\n")
    .test("C", &["2"], "", "1\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let (fault, usage) = (project.line("// should"), project.line("// use"));
    let found = lines_with_ivmps(&session, &ivmps);
    assert!(found[0].1.contains(&usage) && found[0].1.contains(&fault), "{found:?}");
}

/// Section 2.2.2: where nothing else is ever assigned to the variable, a constant has no
/// alternate, and the report says where to look.
#[test]
fn a_constant_without_alternates_leads_to_its_use() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
           int limit;\n\
           limit = 550; // should be 500\n\
           puts(atoi(argv[1]) < limit ? \"low\" : \"high\"); // use\n\
           return 0;\n}\n",
    )
    .test("A", &["400"], "", "low\n")
    .test("B", &["520"], "", "high\n")
    .test("C", &["600"], "", "high\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let (fault, usage) = (project.line("// should"), project.line("// use"));
    assert_eq!(lines_with_ivmps(&session, &ivmps), lines(&[("B", &[usage])]));
    let findings = to_findings(&session, Some(&ivmps), &rank_as_paper(&session, &ivmps));
    let statement = findings.statements.iter().find(|s| s.place.line == fault).unwrap();
    assert!(statement.evidence.iter().any(|text| text.contains("constants")), "{statement:?}");
}

/// Figure 2.5: a missing statement shows at a neighbour.
#[test]
fn an_omitted_statement_is_found_at_its_neighbour() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         static int next(int x, int y) {\n\
           if (y == 0) return 0;\n\
           return x + 1; // neighbour\n\
         }\n\
         int main(int argc, char **argv) {\n\
           printf(\"%d\\n\", next(atoi(argv[1]), atoi(argv[2])));\n\
           return 0;\n}\n",
    )
    .test("A", &["1", "-1"], "", "1\n")
    .test("B", &["2", "2"], "", "3\n")
    .test("C", &["0", "1"], "", "1\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let found = lines_with_ivmps(&session, &ivmps);
    assert!(found[0].1.contains(&project.line("// neighbour")), "{found:?}");
}

/// Section 2.2.4: an extraneous statement is cancelled out by its IVMP.
#[test]
fn an_extraneous_statement_is_cancelled_out() {
    let project = Project::new(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) {\n\
           int x = atoi(argv[1]);\n\
           if (x > 5) // extraneous\n\
             x = x + 1;\n\
           printf(\"%d\\n\", x);\n\
           return 0;\n}\n",
    )
    .test("A", &["7"], "", "7\n")
    .test("B", &["3"], "", "3\n")
    .test("C", &["4"], "", "4\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let ivmps = search(&session, Search::Full);
    let found = lines_with_ivmps(&session, &ivmps);
    assert!(found[0].1.contains(&project.line("// extraneous")), "{found:?}");
}

const FIGURE_2_6: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
     int main(int argc, char **argv) {\n\
       int x = atoi(argv[1]);\n\
       int y = atoi(argv[2]);\n\
       int a;\n\
       a = x + y; // should be x - y\n\
       if (x < y)\n\
         printf(\"%d\\n\", a); // then\n\
       else\n\
         printf(\"%d\\n\", a + 1); // else\n\
       return 0;\n}\n";

/// Figure 2.6: with one failing run two statements have IVMPs, with two only the faulty one
/// has them in both.
#[test]
fn several_failing_runs_single_out_the_fault() {
    let project = Project::new(FIGURE_2_6)
        .test("A", &["0", "0"], "", "1\n")
        .test("B", &["-1", "0"], "", "-1\n")
        .test("C", &["1", "1"], "", "1\n")
        .test("D", &["0", "1"], "", "-1\n");
    let cancel = Cancel::new();
    let session = session(&project, &cancel).unwrap();
    let fault = project.line("// should");
    for kind in [Search::Full, Search::Every, Search::Reduced] {
        let ivmps = search(&session, kind);
        let found = lines_with_ivmps(&session, &ivmps);
        assert!(found.iter().all(|(_, lines)| lines.contains(&fault)), "{kind:?} {found:?}");
        assert_eq!(rank_of(&session, &rank_as_paper(&session, &ivmps), fault), 1);
    }
    let found = lines_with_ivmps(&session, &search(&session, Search::Full));
    let of = |name: &str| &found.iter().find(|(test, _)| test == name).unwrap().1;
    assert!(of("C").contains(&project.line("// else")), "the dependence cause");
    assert!(of("D").contains(&project.line("// then")), "the dependence cause");
}

//! Which fault causes which: chains in small programs, each by another mechanism.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use capture::provenance;
use explore::trace::Texts;
use explore::{Options, Outcome};
use program::Program;

const NAME: &str = "program.c";

fn import(text: &str) -> Program {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join(NAME), text).expect("a file can be written");
    let preprocessed = Command::new("clang-19")
        .args(["-E", "-dD", "-w", "-D_GNU_SOURCE", NAME])
        .current_dir(&folder)
        .output()
        .expect("clang-19 starts");
    let read = &mut |path: &Path| std::fs::read(folder.path().join(path)).ok();
    let prepared = provenance::prepare(&preprocessed.stdout, provenance::Extent::Needed, read);
    let (limits, cancel) = (base::child::Limits::default(), base::Cancel::new());
    let flags: [&str; 0] = [];
    let bitcode = llvm::compile(&prepared.text, &flags, &prepared.map, &limits, &cancel)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let unit = llvm::import(&bitcode, &prepared.map, NAME).expect("what compiles is imported");
    program::link::link(vec![unit]).program
}

fn explored(text: &str) -> Outcome {
    let program = import(text);
    let entry = Options::entry_named(&program, "main").expect("there is a main");
    let texts = Texts::new([(NAME, text.as_bytes())]);
    explore::explore(&program, &texts, &Options::new(entry), &base::Cancel::new())
}

/// The lines of the faults, and the edges between them: by lines, and whether they are unique.
type Shown = (BTreeSet<u32>, BTreeSet<(u32, u32, bool)>);

fn shown(text: &str) -> Shown {
    let outcome = explored(text);
    let edge = |link: &explore::FaultLink| (link.from.line, link.to.line, link.is_unique);
    let faults = outcome.found.iter().map(|found| found.place.line).collect();
    (faults, outcome.links.iter().map(edge).collect())
}

#[track_caller]
fn check(text: &str, faults: &[u32], edges: &[(u32, u32, bool)]) {
    let expected = (faults.iter().copied().collect(), edges.iter().copied().collect());
    assert_eq!(shown(text), expected, "{text}");
}

#[test]
fn a_member_that_is_written_over_opens_a_path() {
    check(
        "#include <stdio.h>\nstruct s { char name[4]; int has; int *p; };\n\
int main(void) {\n    struct s s = {\"\", 0, 0};\n    char line[8];\n    int i;\n\
    if (!fgets(line, 8, stdin)) return 1;\n\
    for (i = 0; line[i] != '\\n' && line[i]; i++)\n        s.name[i] = line[i];\n\
    if (s.has)\n        return *s.p;\n    return 0;\n}\n",
        &[9, 11],
        &[(9, 11, true)],
    );
}

#[test]
fn a_sum_that_overflows_makes_a_block_too_small() {
    check(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
int main(void) {\n    int c = getchar();\n    if (c < 0) return 1;\n\
    unsigned char room = c + 10;\n    char *p = malloc(room);\n    if (!p) return 1;\n\
    memset(p, 'x', c);\n    free(p);\n    return 0;\n}\n",
        &[7, 10],
        &[(7, 10, true)],
    );
}

#[test]
fn a_second_cause_makes_an_edge_not_unique() {
    check(
        "#include <stdio.h>\nstruct s { char name[4]; signed char by; };\n\
int main(void) {\n    struct s s = {\"\", 1};\n    char line[8];\n    int i;\n\
    if (!fgets(line, 8, stdin)) return 1;\n    if (line[0] == '0') s.by = 0;\n\
    for (i = 0; line[i] != '\\n' && line[i]; i++)\n        s.name[i] = line[i];\n\
    s.name[i] = 0;\n    return 100 / s.by;\n}\n",
        &[10, 11, 12],
        &[(11, 12, false)],
    );
}

#[test]
fn what_happens_with_the_first_put_right_has_no_edge() {
    check(
        "#include <stdio.h>\n#include <string.h>\n\
struct s { char a[4]; char b[4]; int *p; };\n\
int main(void) {\n    struct s s;\n    char line[7];\n    memset(&s, 0, sizeof s);\n\
    if (!fgets(line, 7, stdin)) return 1;\n    if (strlen(line) < 5) return 0;\n\
    strcpy(s.a, line);\n    return *s.p;\n}\n",
        &[10, 11],
        &[],
    );
}

#[test]
fn a_chain_has_no_edge_from_its_first_to_its_last() {
    check(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
struct s { char text[8]; char rest[16]; };\nint main(void) {\n    struct s s;\n\
    char line[20];\n    int i;\n    memset(&s, 0, sizeof s);\n\
    if (!fgets(line, 20, stdin)) return 1;\n\
    for (i = 0; (s.text[i] = line[i]) != 0; i++) {}\n\
    size_t left = 8 - strlen(s.text);\n    char *p = malloc(8);\n    if (!p) return 1;\n\
    memset(p, '.', left);\n    putchar(left ? p[0] : 0);\n    free(p);\n    return 0;\n}\n",
        &[11, 12, 15],
        &[(11, 12, true), (12, 15, true)],
    );
}

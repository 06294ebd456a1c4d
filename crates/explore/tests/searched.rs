//! What a search finds within its work: programs whose faults take a mechanism of their own to
//! reach, each with a corrected one in which nothing is found. A comment `//~ rule` marks the line
//! of a fault.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use capture::provenance;
use explore::trace::Texts;
use explore::{Options, explore};
use program::Program;

const NAME: &str = "program.c";
const HEAD: &str = "#include <limits.h>\n#include <stdint.h>\n#include <stdio.h>\n\
                    #include <stdlib.h>\n#include <string.h>\n";

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

fn found(text: &str) -> BTreeSet<(u32, String)> {
    let program = import(text);
    let entry = Options::entry_named(&program, "main").expect("there is a main");
    let texts = Texts::new([(NAME, text.as_bytes())]);
    let outcome = explore(&program, &texts, &Options::new(entry), &base::Cancel::new());
    outcome.found.into_iter().map(|found| (found.place.line, found.rule)).collect()
}

/// The marked faults are found in a program, and none once a part of it is replaced.
#[track_caller]
fn check(body: &str, (flawed, corrected): (&str, &str)) {
    let text = format!("{HEAD}{body}");
    let marked = |(line, text): (usize, &str)| {
        let rule = text.split("//~ ").nth(1)?.trim().to_owned();
        Some((line as u32 + 1, rule))
    };
    let expected: BTreeSet<_> = text.lines().enumerate().filter_map(marked).collect();
    let found_here = found(&text);
    assert!(expected.is_subset(&found_here), "{found_here:?} in {text}");
    assert!(text.contains(flawed), "what is corrected is there");
    let corrected = found(&text.replacen(flawed, corrected, 1));
    assert_eq!(corrected, BTreeSet::new(), "{text}");
}

#[test]
fn numbers_of_a_text_grow_beyond_the_digits_a_run_had() {
    check(
        "static int number(const char *s, int *out, char **end) {
    long v = strtol(s, end, 10);
    if (*end == s || v < 0 || v > INT_MAX) return -1;
    *out = (int)v;
    return 0;
}
int main(void) {
    char line[64], *end;
    int from, length;
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] != 'r' || line[1] != ' ') continue;
        if (number(line + 2, &from, &end) < 0 || *end != '+') continue;
        if (number(end + 1, &length, &end) < 0 || length < from / 2) continue;
        printf(\"to %d\\n\", from + length); //~ integer-overflow
    }
    return 0;
}",
        ("length < from / 2", "length > INT_MAX - from"),
    );
}

#[test]
fn the_least_number_is_read_with_its_sign() {
    check(
        "int main(void) {
    char line[40], *end;
    while (fgets(line, sizeof line, stdin)) {
        long top = strtol(line, &end, 10), below;
        if (*end != '/' || top > INT_MAX || top < INT_MIN) continue;
        below = strtol(end + 1, &end, 10);
        if (below > INT_MAX || below < INT_MIN || below == 0) continue;
        printf(\"%d\\n\", (int)top / (int)below); //~ integer-overflow
    }
    return 0;
}",
        ("below == 0)", "below == 0 || below == -1)"),
    );
}

#[test]
fn what_is_decided_by_one_line_matters_with_a_later_one() {
    check(
        "struct pad { int wide; int n; char cell[8]; };
static void put(struct pad *p, const char *s) {
    long at = strtol(s, NULL, 10);
    if (at < 0 || at > 7) return;
    p->cell[at] = '#';
    p->cell[at + p->wide] = '#'; //~ buffer-overflow
}
int main(void) {
    char line[32];
    struct pad p;
    memset(&p, 0, sizeof p);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, \"width \", 6) == 0)
            p.wide = strncmp(line + 6, \"double\", 6) == 0;
        else if (strncmp(line, \"put \", 4) == 0)
            put(&p, line + 4);
    }
    return 0;
}",
        ("at > 7)", "at + p->wide > 7)"),
    );
}

#[test]
fn many_different_names_fill_what_counts_them() {
    check(
        "static char names[400][8];
static struct { uint8_t n; } seen;
int main(void) {
    char word[8];
    while (scanf(\"%7s\", word) == 1) {
        int at = 0;
        while (at < seen.n && strcmp(names[at], word) != 0) at++;
        if (at < seen.n) continue;
        if (seen.n == 300) break;
        strcpy(names[seen.n], word);
        seen.n = seen.n + 1; //~ integer-truncation
    }
    printf(\"%d\\n\", seen.n);
    return 0;
}",
        ("seen.n == 300", "seen.n == 255"),
    );
}

#[test]
fn commands_come_in_the_order_that_does_harm() {
    check(
        "struct room { char name[8]; struct room *up, *in; };
static struct room top;
int main(void) {
    char line[32];
    struct room *at = &top;
    int depth = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, \"\\n\")] = 0;
        if (strncmp(line, \"dig \", 4) == 0 && !at->in) {
            if (!(at->in = calloc(1, sizeof top))) return 1;
            at->in->up = at;
            snprintf(at->in->name, 8, \"%s\", line + 4);
        } else if (strcmp(line, \"down\") == 0 && at->in) {
            at = at->in;
            depth++;
        } else if (strcmp(line, \"home\") == 0) {
            at = &top;
        } else if (strcmp(line, \"up\") == 0 && depth > 0) {
            at = at->up;
            depth--;
            printf(\"%s\\n\", at->name); //~ null-dereference
        }
    }
    while (top.in) {
        struct room *gone = top.in;
        top.in = gone->in;
        free(gone);
    }
    return 0;
}",
        ("at = &top;\n        }", "at = &top;\n            depth = 0;\n        }"),
    );
}

//! A fault's path tells what led to it, and nothing else.

mod compiled;

/// The steps of the one fault of `rule` in a C file, as `line: note`.
fn steps(rule: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("a.c");
    std::fs::write(&path, text).expect("a file can be written");
    let program = program::link::link(vec![compiled::unit(&path).expect("it compiles")]).program;
    let rules = spec::discover::rules(&[]).expect("the built-in specifications are right");
    let settings = detect::Settings { rules: vec![rule.to_owned()], ..Default::default() };
    let mut findings = findings::Findings::new();
    let facts = settings.facts(&program);
    detect::check((&program, &facts), &rules, &settings, &mut findings);
    let [fault] = findings.faults.as_slice() else { panic!("{:?}", findings.faults) };
    let steps = fault.segments.iter().flat_map(|segment| &segment.steps);
    steps.map(|step| format!("{}: {}", step.place.line, step.note)).collect()
}

/// Variables that only happen to have a known value are not part of it.
#[test]
fn constants_are_told_where_the_point_is_computed_from_them() {
    let divided = steps(
        "divide-by-zero",
        "int share(int total, int n) {\n  return total / n;\n}\n\
         int main(int argc, char **argv) {\n  int unused = 0, other = 7, people = 3;\n\
         if (argc > 2)\n    people = 0;\n  int x = other;\n  return share(x, people);\n}\n",
    );
    let expected =
        ["7: people is 0 here", "9: calls share()", "1: n is 0 here", "2: n can be zero here"];
    assert_eq!(divided, expected);
}

#[test]
fn what_is_freed_needs_no_constants() {
    let freed = steps(
        "use-after-free",
        "#include <stdlib.h>\nint main(int argc, char **argv) {\n  int a = 0, b;\n\
         char *p = malloc(4);\n  if (!p)\n    return 1;\n  b = 2;\n  free(p);\n  if (argc > b)\n\
         return p[a];\n  return 0;\n}\n",
    );
    let expected = [
        "3: a is 0 here",
        "4: p is what malloc() returned",
        "8: p is freed by free()",
        "9: argc >= 3 here",
        "10: p was freed before",
    ];
    assert_eq!(freed, expected);
}

#[test]
fn a_leak_tells_by_which_way_the_function_was_left() {
    let leaked = steps(
        "leak",
        "#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n\
         int status = 0;\n  char *p = malloc(8);\n  if (!p)\n    return 1;\n  memset(p, 0, 8);\n\
         if (argc > 3)\n    return status;\n  free(p);\n  return 0;\n}\n",
    );
    let expected = [
        "5: p is what malloc() returned",
        "6: malloc() did not return null here",
        "9: argc >= 4 here",
        "10: p is never released on this path",
    ];
    assert_eq!(leaked, expected);
}

#[test]
fn an_initialiser_is_a_write_and_calls_lead_on() {
    let divided = steps(
        "divide-by-zero",
        "struct s { int a, n; };\nstatic int f(struct s *s) {\n  return 5 / s->n;\n}\n\
         int main(void) {\n  struct s s = { 0 };\n  s.a = 3;\n  return f(&s);\n}\n",
    );
    assert_eq!(divided, ["6: s is filled with 0 here", "8: calls f()", "3: s->n can be zero here"]);
}

/// A write through a pointer, to a member, by a call that is over by then.
#[test]
fn writes_by_others_are_followed() {
    let divided = steps(
        "divide-by-zero",
        "struct s { int a, n; };\nstatic void clear(struct s *s) {\n  s->a = 0;\n  s->n = 0;\n}\n\
         int main(void) {\n  struct s s;\n  clear(&s);\n  return 5 / s.n;\n}\n",
    );
    assert_eq!(divided, ["4: s->n is 0 here", "9: n can be zero here"]);
}

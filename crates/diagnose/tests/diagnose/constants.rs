//! What must not be written.

use crate::common::diagnose;

/// The rule that is violated in the main function of a program.
fn rule_of(globals: &str, statements: &str) -> Option<&'static str> {
    let text = format!(
        "#include <string.h>
{globals}
int main(int argc, char **argv) {{
  {statements}
  return 0;
}}
"
    );
    diagnose(&text, None, Vec::new()).violation.map(|found| found.rule)
}

#[test]
fn constants_are_not_written() {
    let written = Some("write-to-constant");
    assert_eq!(rule_of("", "char *p = \"hello\"; if (argc > 1) p[0] = 'H';"), written);
    assert_eq!(rule_of("", "char *p = \"hello\"; if (argc > 1) strcpy(p, \"bye\");"), written);
    assert_eq!(rule_of("", "char *p = \"hello\"; p[strlen(argv[argc - 1]) % 5] = 'H';"), written);
    let table = "static const int table[2] = { 1, 2 };";
    assert_eq!(rule_of(table, "int *p = (int *)table; if (argc > 1) *p = 4;"), written);
}

#[test]
fn copies_of_constants_are_written() {
    assert_eq!(rule_of("", "char text[] = \"hello\"; text[0] = 'H';"), None);
    assert_eq!(rule_of("", "const int table[] = { 1, argc, 3 }; return table[2];"), None);
    assert_eq!(rule_of("", "const char text[8] = \"hello\"; return text[argc & 3];"), None);
    let table = "static const char *names[2] = { \"a\", \"b\" };";
    assert_eq!(rule_of(table, "names[0] = names[1];"), None);
}

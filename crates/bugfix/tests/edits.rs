//! Concrete edits are what their descriptions say.

use std::collections::BTreeSet;

use bugfix::{Scope, candidates, statement_fix};
use syntax::Source;

const PROGRAM: &str = "struct pair { int from, to; };\n\
    int f(int a, int b, const int *v, struct pair *p) {\n\
      int n = 3;\n\
      if (a <= b && !g(a, n))\n\
        n = v[a] - p->from + 0x10;\n\
      while (n > 0) n--;\n\
      return n * 2;\n\
    }\n";

fn edits(line: u32) -> Vec<(String, String, BTreeSet<String>)> {
    let source = Source::parse(PROGRAM);
    let scope = Scope::new(&source);
    let statement = source.statements_at(line).remove(0);
    let hints = BTreeSet::from([77]);
    let made = candidates(&source, &scope, &statement, &hints);
    made.into_iter().map(|c| (source.slice(&c.bytes), c.new, c.fixes)).collect()
}

fn has(line: u32, old: &str, new: &str, fix: &str) {
    let edits = edits(line);
    let found = edits.iter().find(|(a, b, _)| a == old && b == new);
    let (_, _, fixes) = found.unwrap_or_else(|| panic!("no `{old}` -> `{new}` in {edits:#?}"));
    assert!(fixes.contains(fix), "{fixes:?}");
}

#[test]
fn every_kind_of_small_change_is_made() {
    has(4, "<=", "<", "change `<=` into `<`");
    has(4, "&&", "||", "logical operator mutation");
    has(4, "a <= b && !g(a, n)", "a <= b", "remove a condition");
    has(4, "!g(a, n)", "g(a, n)", "negate the condition");
    has(4, "a, n", "n, a", "swap arguments");
    has(4, "a", "n", "use another variable");
    has(4, "a", "a + 1", "add +1 term to expression");
    has(5, "a", "a - 1", "decrease variable value");
    has(5, "from", "to", "use another member");
    has(5, "0x10", "0x11", "increase constant value by 1");
    has(5, "0x10", "0x4d", "increase constant value");
    has(5, "-", "+", "arithmetic operator mutation");
    has(6, ">", ">=", "include equality in the comparison");
    has(6, "n > 0", "!(n > 0)", "negate the condition");
    has(7, "2", "1", "decrease constant value by 1");
    has(7, "*", "/", "operator mutation");
}

/// A candidate applied to the file is described as it says it is.
#[test]
fn candidates_are_fixes_of_their_kind() {
    let source = Source::parse(PROGRAM);
    let scope = Scope::new(&source);
    let mut n_made = 0;
    for statement in source.statements() {
        for candidate in candidates(&source, &scope, &statement, &BTreeSet::new()) {
            let mut changed = PROGRAM.to_owned();
            changed.replace_range(candidate.bytes.clone(), &candidate.new);
            let Ok(fix) = statement_fix(PROGRAM.as_bytes(), changed.as_bytes()) else { continue };
            if candidate.new != ";" {
                assert_eq!(fix.fixes, candidate.fixes, "{changed}");
            }
            n_made += 1;
        }
    }
    assert!(n_made > 90, "only {n_made} candidates");
}

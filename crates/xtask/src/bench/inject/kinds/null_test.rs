//! A test for null is removed: the `if` that leaves, the `if` around what uses the pointer, or
//! the operand of `&&` before the use.
//!
//! The pointer must be able to be null as the text shows (`Facts::may_be_null`), and must be
//! accessed where the test held it back, before it is given another value.

use syntax::Tree;

use crate::bench::inject::code::{
    self, Function, Unit, bare, child, is_dereferenced_after, is_place, leaves, operator, plain_if,
    walk,
};
use crate::bench::inject::facts::Facts;
use crate::bench::inject::kind::{Edit, Injection, Kind};

pub fn find(unit: &Unit, function: &Function, facts: &Facts) -> Vec<Injection> {
    let mut found = Vec::new();
    let mut add = |edits| {
        found.push(Injection { kind: Kind::NullTest, function: function.name.clone(), edits });
    };
    walk(&function.tree, &mut |_, node| {
        if let Some((condition, guarded)) = plain_if(node)
            && let Some(test) = test(unit, condition, facts)
            && is_able(unit, function, facts, &test)
        {
            if test.holds_for_null && leaves(unit, guarded) {
                let used =
                    is_dereferenced_after(unit, &function.tree, &test.pointer, node.bytes.end);
                if used {
                    add(vec![Edit::new(node.bytes.clone(), format!("{};", test.kept))]);
                }
            } else if !test.holds_for_null
                && test.kept.is_empty()
                && is_dereferenced_after(unit, guarded, &test.pointer, guarded.bytes.start)
            {
                add(vec![Edit::new(node.bytes.start..condition.bytes.end, "")]);
            }
        }
        if let Some((left, right)) = conjunction(node)
            && let Some(test) = test(unit, left, facts)
            && !test.holds_for_null
            && test.kept.is_empty()
            && is_able(unit, function, facts, &test)
            && is_dereferenced_after(unit, right, &test.pointer, right.bytes.start)
        {
            add(vec![Edit::new(left.bytes.start..right.bytes.start, "")]);
        }
    });
    found
}

fn is_able(unit: &Unit, function: &Function, facts: &Facts, test: &Test) -> bool {
    facts.may_be_null(unit, function, &test.pointer, test.at)
}

struct Test {
    pointer: String,
    holds_for_null: bool,
    /// The assignment in the test, which stays.
    kept: String,
    /// Where the pointer has its value.
    at: usize,
}

fn test(unit: &Unit, condition: &Tree, facts: &Facts) -> Option<Test> {
    let node = bare(condition);
    let of = |tested: &Tree, holds_for_null| {
        let tested = bare(tested);
        let (place, kept) = match tested.kind {
            "assignment_expression" if operator(tested) == "=" => {
                (child(tested, "left")?, unit.at(&tested.bytes).to_owned())
            }
            _ => (tested, String::new()),
        };
        let at = node.bytes.end;
        let is_usable = is_place(place) && !kept.contains('\n');
        is_usable.then(|| Test { pointer: unit.flat(place), holds_for_null, kept, at })
    };
    match (node.kind, operator(node)) {
        ("unary_expression", "!") => of(child(node, "argument")?, true),
        ("binary_expression", operator @ ("==" | "!=")) => {
            let (left, right) = (child(node, "left")?, child(node, "right")?);
            let is_null = |node| facts.is_null(unit, node) || unit.flat(node) == "0";
            let tested = match (is_null(left), is_null(right)) {
                (false, true) => left,
                (true, false) => right,
                _ => return None,
            };
            of(tested, operator == "==")
        }
        _ => of(node, false),
    }
}

/// The last operand before a `&&`, with what follows it.
fn conjunction(node: &Tree) -> Option<(&Tree, &Tree)> {
    let is_and = node.kind == "binary_expression" && code::operator(node) == "&&";
    let (left, right) = is_and.then(|| Some((child(node, "left")?, child(node, "right")?)))??;
    match conjunction(left) {
        Some((_, last)) => Some((last, right)),
        None => Some((left, right)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;
    use super::find;

    #[test]
    fn the_test_before_a_use_is_removed() {
        let found = changed(
            "int f(void) {\n  struct s *p = malloc(8);\n  if (p == NULL)\n    return 1;\n  \
             p->x = 2;\n  return 0;\n}\n",
            find,
        );
        assert_eq!(found, [";"]);
        let kept = "int f(struct s *p) {\n  if (!(p = malloc(8))) return 1;\n  p->x = 2;\n}\n";
        assert_eq!(changed(kept, find), ["p = malloc(8);"]);
        let guard = "void f(int n) {\n  char *p = strchr(s, n);\n  if (p) *p = 0;\n}\n";
        assert_eq!(changed(guard, find), ["*p = 0;"]);
        let operand =
            "void f(int n) {\n  char *p = strchr(s, n);\n  while (n && p && *p) n--;\n}\n";
        assert_eq!(changed(operand, find), ["while (n && *p) n--;"]);
    }

    #[test]
    fn what_cannot_be_null_or_is_not_used_stays() {
        let none = |text| assert_eq!(changed(text, find), [] as [&str; 0]);
        none("int f(struct s *p) {\n  if (!p) return 1;\n  p->x = 2;\n}\n");
        none(
            "int f(void) {\n  char *p = malloc(8);\n  if (!p) return 1;\n  p = q;\n  *p = 1;\n}\n",
        );
        none("int f(void) {\n  char *p = malloc(8);\n  if (!p) n = 1;\n  return 2;\n}\n");
        none("void f(void) {\n  char *p = malloc(8);\n  if (p) free(p);\n}\n");
        none("void f(void) {\n  char *p = malloc(8);\n  if (p) *p = 1; else g();\n}\n");
    }

    #[test]
    fn macros_are_left_alone() {
        let text = "#define CHECK(p) if ((p) == NULL) return\nvoid f(void) {\n  char *p = malloc(8);\
                    \n#define HERE if (!p) return\n  CHECK(p);\n  *p = 1;\n}\n";
        assert_eq!(changed(text, find), [] as [&str; 0]);
    }
}

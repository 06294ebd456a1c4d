//! A release on an error path is dropped, a second release is added, and a use is moved behind
//! a release.

use syntax::Tree;

use crate::bench::inject::code::{
    Function, Unit, assignments, bare, call, call_statement, child, dereferences, is_place, leaves,
    mentions, nodes, statements, walk,
};
use crate::bench::inject::facts::{Facts, is_allocator, released};
use crate::bench::inject::kind::{Edit, Injection, Kind};

/// What a statement releases: the place, as text without blanks.
fn release(unit: &Unit, statement: &Tree) -> Option<String> {
    let (name, arguments) = call_statement(unit, statement)?;
    let texts: Vec<String> = arguments.iter().map(|argument| unit.flat(argument)).collect();
    let argument = bare(arguments.get(released(&name, &texts)?)?);
    is_place(argument).then(|| unit.flat(argument))
}

/// The name of the function or macro that a statement calls.
fn called(unit: &Unit, statement: &Tree) -> String {
    call_statement(unit, statement).map(|(name, _)| name).unwrap_or_default()
}

fn is_opener(name: &str) -> bool {
    is_allocator(name) || matches!(name, "fopen" | "fdopen" | "tmpfile")
}

/// A release on an error path is dropped.
///
/// The block must leave the function by `return` and be guarded by an `if` or follow a label. What
/// is released must be a local variable that this function gave memory or a stream before, and
/// that is not kept before the release: stored in or returned to something else; and nothing else
/// in the block may release it.
pub fn dropped(unit: &Unit, function: &Function) -> Vec<Injection> {
    let parameters = unit.parameters(function);
    each_release(unit, function, |block, around, index, place| {
        let after = &block[index + 1..];
        let returns = after.iter().any(|s| s.kind == "return_statement" && leaves(unit, s));
        let is_guarded = around.iter().any(|outer| outer.kind == "if_statement")
            || block[..index].iter().any(|s| s.kind == "labeled_statement");
        let declared = unit.declaration(place, block[index].bytes.start);
        let is_local = declared.is_some_and(|d| {
            d.scope.end <= function.bytes.end && d.bytes.start > function.bytes.start
        }) && !parameters.iter().any(|p| p.name == place);
        let at = block[index].bytes.start;
        let before = assignments(unit, &function.tree, place);
        let given = before.iter().rev().find(|(end, value)| *end < at && value.is_some());
        let is_owned = given
            .and_then(|(_, value)| *value)
            .is_some_and(|value| call(unit, bare(value)).is_some_and(|(name, _)| is_opener(&name)));
        let again = after.iter().any(|s| release(unit, s).as_deref() == Some(place));
        let fits = returns && is_guarded && is_local && is_owned && !again;
        (fits && !is_kept(unit, function, place, at))
            .then(|| vec![Edit::new(block[index].bytes.clone(), ";")])
    })
    .into_iter()
    .map(|edits| Injection { kind: Kind::ReleaseDropped, function: function.name.clone(), edits })
    .collect()
}

/// Whether a pointer is stored elsewhere before a place.
fn is_kept(unit: &Unit, function: &Function, place: &str, until: usize) -> bool {
    let parts = nodes(&function.tree).into_iter().filter(|node| node.bytes.end <= until);
    parts
        .filter(|node| node.kind == "assignment_expression")
        .any(|node| child(node, "right").is_some_and(|value| unit.flat(bare(value)) == place))
}

/// What is released is released again: at the end of the block, before what leaves it, or right
/// behind the release where only declarations and calls follow.
///
/// In between it must not be given another value, and the release must not be a macro that sets it.
pub fn twice(unit: &Unit, function: &Function, facts: &Facts) -> Vec<Injection> {
    each_release(unit, function, |block, _, index, place| {
        if facts.is_setting(&called(unit, block[index])) {
            return None;
        }
        let mut last = index;
        for (offset, statement) in block.iter().enumerate().skip(index + 1) {
            let is_plain = statement.kind == "expression_statement";
            if !is_plain || !assignments(unit, statement, place).is_empty() {
                let again = release(unit, statement).as_deref() == Some(place);
                let is_set = !assignments(unit, statement, place).is_empty();
                return (!again && !is_set || last > index)
                    .then(|| again_at(unit, block, index, last));
            }
            last = offset;
        }
        Some(again_at(unit, block, index, last))
    })
    .into_iter()
    .map(|edits| Injection { kind: Kind::ReleaseTwice, function: function.name.clone(), edits })
    .collect()
}

fn again_at(unit: &Unit, block: &[&Tree], index: usize, last: usize) -> Vec<Edit> {
    let release = unit.at(&block[index].bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    let end = block[last].bytes.end;
    vec![Edit::new(end..end, format!(" {release}"))]
}

/// A use is moved behind the release: the nearest statement before it in the block that accesses
/// what is released, or releases something it holds.
///
/// The statement must not give the released place itself another value, and must be an expression:
/// nothing that leaves or declares.
pub fn use_after(unit: &Unit, function: &Function, facts: &Facts) -> Vec<Injection> {
    each_release(unit, function, |block, _, index, place| {
        if facts.is_setting(&called(unit, block[index])) {
            return None;
        }
        let used = block[..index].iter().rev().take(4).find(|s| mentions(unit, s, place))?;
        let is_use = used.kind == "expression_statement"
            && !dereferences(unit, used, place).is_empty()
            && assignments(unit, used, place).is_empty();
        let text = unit.at(&used.bytes);
        let end = block[index].bytes.end;
        (is_use && !text.contains('#')).then(|| {
            let moved = text.split_whitespace().collect::<Vec<_>>().join(" ");
            vec![Edit::new(used.bytes.clone(), ""), Edit::new(end..end, format!(" {moved}"))]
        })
    })
    .into_iter()
    .map(|edits| Injection { kind: Kind::UseAfter, function: function.name.clone(), edits })
    .collect()
}

/// Asks about each release that is a statement in a block: the statements of the block, what is
/// around it, which statement it is, and what it releases.
fn each_release(
    unit: &Unit,
    function: &Function,
    edits: impl Fn(&[&Tree], &[&Tree], usize, &str) -> Option<Vec<Edit>>,
) -> Vec<Vec<Edit>> {
    let mut found = Vec::new();
    walk(&function.tree, &mut |around, node| {
        let block: Vec<&Tree> = match node.kind {
            "compound_statement" => statements(node),
            _ => return,
        };
        for (index, statement) in block.iter().enumerate() {
            if let Some(place) = release(unit, statement) {
                found.extend(edits(&block, around, index, &place));
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;
    use super::*;

    fn drop_one(text: &str) -> Vec<String> {
        changed(text, |unit, function, _| dropped(unit, function))
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn what_a_released_record_held_is_not_looked_for_in_null() {
        let text = "void f(struct s *p) {\n  free(p->q->a);\n  free(p->q);\n  p->q = NULL;\n}\n";
        let found = changed(text, twice);
        assert_eq!(found, ["free(p->q); free(p->q->a);"]);
    }

    #[test]
    fn a_release_before_an_error_return_is_dropped() {
        let text = "int f(int n) {\n  char *p = malloc(n);\n  if (n) {\n    free(p);\n    return 1;\n  }\
                    \n  use(p);\n  free(p);\n  return 0;\n}\n";
        assert_eq!(drop_one(text), [";"]);
        let label = "int f(int n) {\n  FILE *p;\n  p = fopen(s, t);\n  if (n) goto out;\n  return 0;\
                     \nout: ;\n  fclose(p);\n  return 1;\n}\n";
        assert_eq!(drop_one(label), [";"]);
    }

    #[test]
    fn what_is_not_owned_or_is_kept_is_still_released() {
        let body = |before: &str, block: &str| {
            drop_one(&format!(
                "int f(char *q) {{\n  char *p;\n  {before}\n  if (g()) {{\n    {block}\n  }}\n}}\n"
            ))
        };
        assert_eq!(body("p = malloc(1);", "free(p); return 1;").len(), 1);
        assert_eq!(body("p = find(1);", "free(p); return 1;"), NONE);
        assert_eq!(body("p = malloc(1);", "free(q); return 1;"), NONE);
        assert_eq!(body("p = malloc(1); s->p = p;", "free(p); return 1;"), NONE);
        assert_eq!(body("p = malloc(1);", "free(p);"), NONE);
        assert_eq!(body("p = malloc(1);", "use(p); return 1;"), NONE);
        let text = "#define OUT(p) { free(p); return 1; }\nint f(void) {\n  char *p = malloc(1);\n  OUT(p)\n}\n";
        assert_eq!(drop_one(text), NONE);
    }

    #[test]
    fn a_release_is_repeated_before_the_block_ends() {
        let text = "void f(struct s *p) {\n  FREE(z, p->a);\n  g(1);\n  return;\n}\n";
        assert_eq!(changed(text, twice), ["g(1); FREE(z, p->a);"]);
        let set = "void f(struct s *p) {\n  free(p->a);\n  p->a = NULL;\n}\n";
        assert_eq!(changed(set, twice), NONE);
        let macros = "#define FREE(p) (free(p), (p) = NULL)\nvoid f(char *p) {\n  FREE(p);\n}\n";
        assert_eq!(changed(macros, twice), NONE);
        assert_eq!(changed("void f(char *p) {\n  release_lock(p);\n}\n", twice), NONE);
    }

    #[test]
    fn a_use_is_moved_behind_the_release() {
        let text = "void f(struct s *p) {\n  n = p->n;\n  g();\n  free(p);\n}\n";
        assert_eq!(changed(text, use_after), ["free(p); n = p->n;"]);
        let nested = "void f(struct s *p) {\n  free(p->a);\n  free(p);\n}\n";
        assert_eq!(changed(nested, use_after), ["free(p); free(p->a);"]);
        assert_eq!(changed("void f(struct s *p) {\n  n = 1;\n  free(p);\n}\n", use_after), NONE);
        assert_eq!(changed("void f(struct s *p) {\n  p = p->n;\n  free(p);\n}\n", use_after), NONE);
        let declared = "void f(struct s *p) {\n  int n = p->n;\n  free(p);\n}\n";
        assert_eq!(changed(declared, use_after), NONE);
    }
}

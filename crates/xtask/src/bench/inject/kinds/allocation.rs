//! An allocation is one byte or element short: `+ 1` is dropped from its size, or one is taken
//! from the number of elements.
//!
//! The size must be an expression of a variable, and the memory must be filled in the same
//! function as the text shows: by a function that copies up to that size, by an element with the
//! index of that size, or in a loop that runs to it.

use syntax::Tree;

use crate::bench::inject::code::{
    Function, Unit, bare, call, child, is_place, names, nodes, operator, walk,
};
use crate::bench::inject::facts::is_allocator;
use crate::bench::inject::kind::{Edit, Injection, Kind};

pub fn find(unit: &Unit, function: &Function) -> Vec<Injection> {
    let mut found = Vec::new();
    walk(&function.tree, &mut |around, node| {
        let Some((name, arguments)) = call(unit, node) else { return };
        let Some(target) = target(unit, around) else { return };
        if !is_allocator(&name) {
            return;
        }
        let after = node.bytes.end;
        for argument in &arguments {
            let Some((edit, size)) = shorter(unit, argument) else { continue };
            let filled = match &size {
                Size::Exact(size) => is_filled(unit, function, &target, size, after, false),
                Size::PlusOne(size) => is_filled(unit, function, &target, size, after, true),
            };
            if filled {
                let edits = vec![edit];
                let function = function.name.clone();
                found.push(Injection { kind: Kind::Allocation, function, edits });
                return;
            }
        }
    });
    found
}

/// What the result is stored in.
fn target(unit: &Unit, around: &[&Tree]) -> Option<String> {
    let outer = around
        .iter()
        .rev()
        .find(|outer| !matches!(outer.kind, "parenthesized_expression" | "cast_expression"))?;
    let target = match outer.kind {
        "assignment_expression" if operator(outer) == "=" => bare(child(outer, "left")?),
        "init_declarator" => {
            let names = names(unit, child(outer, "declarator")?);
            return names.into_iter().next();
        }
        _ => return None,
    };
    is_place(target).then(|| unit.flat(target))
}

enum Size {
    /// So many elements: each index below is used.
    Exact(Vec<String>),
    /// One more: the index itself is used, too.
    PlusOne(Vec<String>),
}

fn shorter(unit: &Unit, argument: &Tree) -> Option<(Edit, Size)> {
    for node in nodes(argument) {
        if node.kind != "binary_expression" || operator(node) != "+" {
            continue;
        }
        let (left, right) = (child(node, "left")?, child(node, "right")?);
        for (one, other) in [(right, left), (left, right)] {
            let size = variables(unit, other);
            if unit.flat(one) == "1" && !size.is_empty() {
                let edit = Edit::new(node.bytes.clone(), unit.at(&other.bytes));
                return Some((edit, Size::PlusOne(size)));
            }
        }
    }
    let node = bare(argument);
    let count = match node.kind {
        "identifier" | "field_expression" => node,
        "binary_expression" if operator(node) == "*" => {
            let (left, right) = (bare(child(node, "left")?), bare(child(node, "right")?));
            if left.kind == "sizeof_expression" { right } else { left }
        }
        _ => return None,
    };
    let size = variables(unit, count);
    let declared = unit.declaration(&unit.flat(count), count.bytes.start);
    let is_pointer = declared.is_some_and(|declared| !declared.shape.is_empty());
    let is_count = is_place(count) && !size.is_empty() && !is_pointer;
    is_count.then(|| {
        let new = format!("({} - 1)", unit.at(&count.bytes));
        (Edit::new(count.bytes.clone(), new), Size::Exact(size))
    })
}

/// The variables a size hangs on, not the macros.
fn variables(unit: &Unit, node: &Tree) -> Vec<String> {
    let is_variable = |name: &String| name.bytes().any(|b| b.is_ascii_lowercase());
    let sizes: Vec<String> = nodes(node)
        .into_iter()
        .filter(|node| is_place(node) || call(unit, node).is_some())
        .map(|node| unit.flat(node))
        .collect();
    sizes.into_iter().filter(is_variable).collect()
}

const COPYING: [&str; 5] = ["memcpy", "memmove", "memset", "strncpy", "fread"];
const FILLING: [&str; 5] = ["strcpy", "strcat", "sprintf", "stpcpy", "vsprintf"];

fn is_filled(
    unit: &Unit,
    function: &Function,
    target: &str,
    size: &[String],
    after: usize,
    plus_one: bool,
) -> bool {
    let is_target = |node: &Tree| unit.flat(bare(node)) == target;
    let has_size = |node: &Tree| {
        let text = unit.flat(node);
        nodes(node).into_iter().any(|node| size.contains(&unit.flat(node)))
            && (!plus_one || text.ends_with("+1") || text.starts_with("1+"))
    };
    let mut filled = false;
    walk(&function.tree, &mut |around, node| {
        if node.bytes.start < after || filled {
            return;
        }
        if let Some((name, arguments)) = call(unit, node) {
            let is_to = arguments.first().is_some_and(|first| is_target(first));
            let name = name.trim_start_matches('_');
            let whole = arguments.last().is_some_and(|last| has_size(last));
            // A string is copied with its end; only there the `+ 1` is for it.
            filled |= is_to && COPYING.contains(&name) && whole;
            filled |= is_to && FILLING.contains(&name) && plus_one;
        }
        if node.kind == "subscript_expression"
            && child(node, "argument").is_some_and(is_target)
            && let Some(index) = child(node, "index")
        {
            let index = unit.flat(index);
            let in_loop = around.iter().any(|outer| {
                let condition = child(outer, "condition");
                matches!(outer.kind, "for_statement" | "while_statement")
                    && condition.is_some_and(|c| {
                        let compared = nodes(c).into_iter().any(|n| size.contains(&unit.flat(n)));
                        let inclusive = nodes(c).into_iter().any(|n| operator(n) == "<=");
                        compared && unit.flat(c).contains(&index) && inclusive == plus_one
                    })
            });
            filled |= in_loop || (plus_one && size.contains(&index));
        }
    });
    filled
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;

    fn find(text: &str) -> Vec<String> {
        changed(text, |unit, function, _| super::find(unit, function))
    }

    #[test]
    fn one_is_taken_from_what_is_filled() {
        let end = "void f(int n) {\n  char *p = malloc(n + 1);\n  p[n] = 0;\n}\n";
        assert_eq!(find(end), ["char *p = malloc(n);"]);
        let string = "void f(char *s) {\n  q->t = malloc(strlen(s) + 1);\n  strcpy(q->t, s);\n}\n";
        assert_eq!(find(string), ["q->t = malloc(strlen(s));"]);
        let whole = "void f(int n) {\n  p = ALLOC(z, n);\n  memcpy(p, s, n);\n}\n";
        assert_eq!(find(whole), ["p = ALLOC(z, (n - 1));"]);
        let elements = "void f(int n) {\n  int *p = calloc(n, sizeof(int));\n  \
                        for (i = 0; i < n; i++) p[i] = 1;\n}\n";
        assert_eq!(find(elements), ["int *p = calloc((n - 1), sizeof(int));"]);
    }

    #[test]
    fn what_is_not_seen_to_be_filled_stays() {
        let none = |text| assert_eq!(find(text), [] as [&str; 0]);
        none("void f(int n) {\n  char *p = malloc(n + 1);\n  memcpy(p, s, n);\n}\n");
        none("void f(int n) {\n  char *p = malloc(sizeof(struct s));\n  memset(p, 0, n);\n}\n");
        none("void f(struct s *z) {\n  char *p = ALLOC(z, 8);\n  memset(p, 0, z->n);\n}\n");
        none("void f(int n) {\n  char *p = malloc(n + 8);\n  p[0] = 0;\n}\n");
        none("void f(int n) {\n  p[n] = 0;\n  p = malloc(n + 1);\n}\n");
        none("#define MAKE(n) p = malloc(n + 1)\nvoid f(int n) {\n  MAKE(n);\n  p[n] = 0;\n}\n");
    }
}

//! An initialisation with a constant is dropped: of a local number or pointer where it is declared,
//! or in the head of a `for`.
//!
//! What follows must be able to read it as the text shows: the first statement that mentions it
//! reads it, or gives it a value only under a condition while a later one reads it. A taken address
//! may be a value given.

use syntax::Tree;

use crate::bench::inject::code::{
    Function, Unit, assignments, bare, child, mentions, nodes, operator, statements, walk,
};
use crate::bench::inject::kind::{Edit, Injection, Kind};

pub fn find(unit: &Unit, function: &Function) -> Vec<Injection> {
    let mut found = Vec::new();
    let mut add = |edit| {
        let function = function.name.clone();
        found.push(Injection { kind: Kind::Initialisation, function, edits: vec![edit] });
    };
    walk(&function.tree, &mut |around, node| match node.kind {
        "compound_statement" => {
            let block = statements(node);
            for (index, statement) in block.iter().enumerate() {
                if statement.kind == "declaration" && !is_kept(unit, statement) {
                    for (name, bytes) in initialised(unit, statement) {
                        if is_read(unit, &block[index + 1..], &name) {
                            add(Edit::new(bytes, ""));
                        }
                    }
                }
            }
        }
        "for_statement" => {
            let Some(start) = child(node, "initializer") else { return };
            let plain = start.kind == "assignment_expression" && operator(start) == "=";
            let name = child(start, "left").filter(|left| plain && left.kind == "identifier");
            let Some(name) = name.map(|name| unit.flat(name)) else { return };
            let is_read = child(node, "condition").is_some_and(|c| reads(unit, c, &name));
            let is_first = !is_given_before(unit, function, &name, start.bytes.start, around);
            let value = child(start, "right");
            if is_read && is_first && value.is_some_and(|value| is_constant(unit, value)) {
                add(Edit::new(start.bytes.clone(), ""));
            }
        }
        _ => {}
    });
    found
}

/// Whether a variable has a value before a place: where it is declared, or by a statement.
fn is_given_before(
    unit: &Unit,
    function: &Function,
    name: &str,
    at: usize,
    around: &[&Tree],
) -> bool {
    let is_local = unit.declaration(name, at).is_some_and(|declared| {
        declared.bytes.start > child(&function.tree, "body").map_or(0, |body| body.bytes.start)
    });
    let in_loop = around.iter().any(|outer| outer.kind.ends_with("for_statement"));
    let given = assignments(unit, &function.tree, name).iter().any(|(end, _)| *end <= at);
    !is_local || in_loop || given
}

/// Values that outlive the function, or that nothing else can be given.
fn is_kept(unit: &Unit, declaration: &Tree) -> bool {
    let words = declaration.children.iter().filter(|child| child.role != Some("declarator"));
    let mut words = words.map(|word| unit.at(&word.bytes));
    words.any(|word| matches!(word, "static" | "const" | "extern" | "register_static" | "local"))
}

/// The names a declaration gives a value, each with the bytes of `= value`.
fn initialised(unit: &Unit, declaration: &Tree) -> Vec<(String, std::ops::Range<usize>)> {
    let parts = declaration.children.iter().filter(|child| child.kind == "init_declarator");
    let scalar = parts.filter_map(|part| {
        let (declarator, value) = (child(part, "declarator")?, child(part, "value")?);
        let is_scalar = is_constant(unit, value)
            && nodes(declarator).iter().all(|node| node.kind != "array_declarator");
        let name = nodes(declarator).into_iter().find(|node| node.kind == "identifier")?;
        let value = declarator.bytes.end..value.bytes.end;
        is_scalar.then(|| (unit.flat(name), value))
    });
    scalar.collect()
}

/// A number, null, or a macro: what a variable starts with. Other values are not forgotten.
fn is_constant(unit: &Unit, value: &Tree) -> bool {
    let value = bare(value);
    match value.kind {
        "number_literal" | "char_literal" | "null" | "true" | "false" => true,
        "unary_expression" => child(value, "argument").is_some_and(|v| is_constant(unit, v)),
        "identifier" => !unit.flat(value).bytes().any(|byte| byte.is_ascii_lowercase()),
        _ => false,
    }
}

/// Whether a node reads a variable: mentions it other than to give it a value as a whole.
fn reads(unit: &Unit, node: &Tree, name: &str) -> bool {
    let mut found = false;
    walk(node, &mut |around, node| {
        if node.kind != "identifier" || unit.flat(node) != name {
            return;
        }
        let is_given = around.last().is_some_and(|outer| {
            outer.kind == "assignment_expression"
                && operator(outer) == "="
                && node.role == Some("left")
        });
        let is_size = around.iter().any(|outer| outer.kind == "sizeof_expression");
        found |= !is_given && !is_size;
    });
    found
}

fn is_read(unit: &Unit, following: &[&Tree], name: &str) -> bool {
    for (index, statement) in following.iter().enumerate() {
        if !mentions(unit, statement, name) {
            // Behind a label or directive more than one way leads.
            if matches!(statement.kind, "labeled_statement")
                || statement.kind.starts_with("preproc")
            {
                return false;
            }
            continue;
        }
        let taken = nodes(statement).iter().any(|node| {
            node.kind == "pointer_expression" && operator(node) == "&" && mentions(unit, node, name)
        });
        if taken || statement.kind.starts_with("preproc") {
            return false;
        }
        return match statement.kind {
            "expression_statement" | "return_statement" | "declaration" => {
                let is_given = statement.children.first().is_some_and(|node| {
                    node.kind == "assignment_expression"
                        && child(node, "left").is_some_and(|left| unit.flat(left) == name)
                        && operator(node) == "="
                });
                let value = statement.children.first().and_then(|node| child(node, "right"));
                let only_given =
                    is_given && value.is_some_and(|value| !mentions(unit, value, name));
                !only_given && reads(unit, statement, name)
            }
            "if_statement" | "while_statement" | "for_statement" | "switch_statement" => {
                let head = child(statement, "condition");
                // In a head `(x = f())` may come first.
                let given = head.is_some_and(|head| !assignments(unit, head, name).is_empty())
                    || child(statement, "initializer")
                        .is_some_and(|start| !assignments(unit, start, name).is_empty());
                let read_at_once = head.is_some_and(|head| reads(unit, head, name));
                let no_other_way = statement.kind != "switch_statement"
                    && child(statement, "alternative").is_none();
                let later = following[index + 1..].iter().find(|s| mentions(unit, s, name));
                let read_later = later.is_some_and(|later| {
                    matches!(later.kind, "return_statement" | "expression_statement")
                        && is_read(unit, &[later], name)
                });
                !given && (read_at_once || (no_other_way && read_later))
            }
            _ => false,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;

    fn find(text: &str) -> Vec<String> {
        changed(text, |unit, function, _| super::find(unit, function))
    }

    fn body(body: &str) -> Vec<String> {
        find(&format!("int f(int a) {{\n{body}\n}}\n"))
    }

    #[test]
    fn what_is_read_loses_its_value() {
        assert_eq!(body("int n = 0;\nn += a;\nreturn n;"), ["int n;"]);
        assert_eq!(body("int n = 0, m;\nif (a)\n  n = 1;\nreturn n;"), ["int n, m;"]);
        assert_eq!(body("char *p = NULL;\nwhile (a--) p = g();\nuse(p);"), ["char *p;"]);
        assert_eq!(body("int i;\nfor (i = 0; i < a; i++) g();"), ["for (; i < a; i++) g();"]);
    }

    #[test]
    fn what_is_given_a_value_first_keeps_it() {
        let none = |text| assert_eq!(body(text), [] as [&str; 0]);
        none("int n = 0;\nn = a;\nreturn n;");
        none("int n = 0;\nscan(&n);\nreturn n;");
        none("int n = 0;\nif (a) n = 1; else n = 2;\nreturn n;");
        none("static int n = 0;\nreturn n++;");
        none("char *p;\nfor (p = g(); p; p = h(p)) g();");
        none("int n = g();\nreturn n;");
        none("int v[2] = {0};\nreturn v[0];");
        none("int n = 0;\nif ((n = g())) return n;");
        none("int i = 0;\nfor (i = 0; i < a; i++) g();");
        none("int n = 0;\nreturn sizeof(n);");
        none("#define ZERO int n = 0\nZERO;\nreturn n;");
    }
}

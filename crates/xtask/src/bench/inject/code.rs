//! The text of a unit as trees of its functions, and the questions the kinds of faults ask of
//! it: where is a pointer dereferenced, where assigned, what comes first.
//!
//! This is the text alone, in its order: no types of other files, no flow. Faults must be put in
//! without asking the tool that is measured.

use std::ops::Range;

use syntax::{Declaration, Source, Tree};

/// A parsed source file.
pub struct Unit {
    pub text: String,
    pub functions: Vec<Function>,
    /// Variables, parameters and members, in source order.
    pub declarations: Vec<Declaration>,
}

/// A function with a body.
pub struct Function {
    pub name: String,
    pub bytes: Range<usize>,
    pub tree: Tree,
}

impl Unit {
    pub fn parse(text: String) -> Self {
        let source = Source::parse(text.as_bytes());
        let functions = source.functions().into_iter().filter_map(|function| {
            let mut trees = source.trees(&function.bytes).into_iter();
            let tree = trees.find(|tree| tree.kind == "function_definition")?;
            Some(Function { name: function.name, bytes: function.bytes, tree })
        });
        let functions = functions.collect();
        Self { functions, declarations: source.declarations(), text }
    }

    pub fn at(&self, bytes: &Range<usize>) -> &str {
        self.text.get(bytes.clone()).unwrap_or_default()
    }

    /// The text of a node without blanks, so that the same expression is the same text.
    pub fn flat(&self, node: &Tree) -> String {
        self.at(&node.bytes).split_whitespace().collect()
    }

    pub fn line(&self, byte: usize) -> u32 {
        self.text[..byte.min(self.text.len())].matches('\n').count() as u32 + 1
    }

    /// The declaration of a variable or parameter that is seen at a place: the innermost.
    pub fn declaration(&self, name: &str, at: usize) -> Option<&Declaration> {
        let seen = self
            .declarations
            .iter()
            .filter(|d| !d.is_member && d.name == name && d.scope.contains(&at));
        seen.min_by_key(|d| d.scope.end - d.scope.start)
    }

    /// The parameters of a function, in order.
    pub fn parameters(&self, function: &Function) -> Vec<&Declaration> {
        let Some(body) = child(&function.tree, "body") else { return Vec::new() };
        let head = function.bytes.start..body.bytes.start;
        let in_head = |d: &&Declaration| {
            !d.is_member && head.contains(&d.bytes.start) && d.scope.end == function.bytes.end
        };
        self.declarations.iter().filter(in_head).collect()
    }
}

/// The child in a role.
pub fn child<'t>(node: &'t Tree, role: &str) -> Option<&'t Tree> {
    node.children.iter().find(|child| child.role == Some(role))
}

/// Every node below and including one, in source order, with what it stands in, outermost first.
pub fn walk<'t>(node: &'t Tree, each: &mut dyn FnMut(&[&'t Tree], &'t Tree)) {
    fn inner<'t>(
        node: &'t Tree,
        around: &mut Vec<&'t Tree>,
        each: &mut dyn FnMut(&[&'t Tree], &'t Tree),
    ) {
        each(around, node);
        around.push(node);
        for child in &node.children {
            inner(child, around, each);
        }
        around.pop();
    }
    inner(node, &mut Vec::new(), each);
}

/// All nodes below and including one, in source order.
pub fn nodes(node: &Tree) -> Vec<&Tree> {
    let mut found = Vec::new();
    walk(node, &mut |_, node| found.push(node));
    found
}

/// An expression without the parentheses and casts around it.
pub fn bare(node: &Tree) -> &Tree {
    match node.kind {
        "parenthesized_expression" => node.children.get(1).map_or(node, bare),
        "cast_expression" => child(node, "value").map_or(node, bare),
        _ => node,
    }
}

/// A name or a member of something, read without side effects.
pub fn is_place(node: &Tree) -> bool {
    match node.kind {
        "identifier" => true,
        "field_expression" => child(node, "argument").is_some_and(|base| is_place(bare(base))),
        _ => false,
    }
}

/// A call of a name: the name and the arguments.
pub fn call<'t>(unit: &Unit, node: &'t Tree) -> Option<(String, Vec<&'t Tree>)> {
    if node.kind != "call_expression" {
        return None;
    }
    let name = unit.flat(child(node, "function")?);
    let list = child(node, "arguments")?;
    let is_argument = |node: &&Tree| !matches!(node.kind, "(" | ")" | ",");
    Some((name, list.children.iter().filter(is_argument).collect()))
}

/// The call that a whole statement is, as in `free(p);`.
pub fn call_statement<'t>(unit: &Unit, node: &'t Tree) -> Option<(String, Vec<&'t Tree>)> {
    let expression = (node.kind == "expression_statement").then(|| node.children.first())??;
    call(unit, expression)
}

/// The name at the start of a place: `p` of `p->next.x`.
pub fn root(place: &str) -> &str {
    let end = place.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &place[..end.unwrap_or(place.len())]
}

/// The identifiers in an expression.
pub fn names(unit: &Unit, node: &Tree) -> Vec<String> {
    let leaves = nodes(node).into_iter();
    let named = leaves.filter(|n| matches!(n.kind, "identifier" | "field_identifier"));
    named.map(|node| unit.flat(node)).collect()
}

/// Whether an expression occurs in a node.
pub fn mentions(unit: &Unit, node: &Tree, expression: &str) -> bool {
    nodes(node).into_iter().any(|n| is_place(n) && unit.flat(n) == expression)
}

/// Where a place, or something it hangs on, is given a value, each by the end of the assignment, with
/// the value where there is one; a taken address counts.
pub fn assignments<'t>(unit: &Unit, node: &'t Tree, place: &str) -> Vec<(usize, Option<&'t Tree>)> {
    let mut found = Vec::new();
    for node in nodes(node) {
        let target = match node.kind {
            "assignment_expression" => child(node, "left"),
            "init_declarator" => child(node, "declarator"),
            "update_expression" => child(node, "argument"),
            "pointer_expression" if operator(node) == "&" => child(node, "argument"),
            _ => None,
        };
        let Some(target) = target else { continue };
        let target = unit.flat(bare(target));
        let target = target.trim_start_matches('*');
        // With `p->a` changes what hangs on it: `p->a->b`, `p->a.c`.
        let is_held = place.strip_prefix(target).is_some_and(|rest| rest.starts_with(['-', '.']));
        let is_same = target == place || is_held;
        if is_same && !(node.kind == "assignment_expression" && is_deref_target(node)) {
            let plain = node.kind == "init_declarator"
                || (node.kind == "assignment_expression" && operator(node) == "=");
            let value = if plain { child(node, "right").or(child(node, "value")) } else { None };
            found.push((node.bytes.end, value.filter(|_| target == place)));
        }
    }
    found
}

fn is_deref_target(assignment: &Tree) -> bool {
    child(assignment, "left").is_some_and(|left| left.kind == "pointer_expression")
}

/// The operator of an expression: `=`, `<`, `->`.
pub fn operator(node: &Tree) -> &str {
    child(node, "operator").map_or("", |operator| operator.kind)
}

/// Functions of the library that access what some of their arguments point to.
const ACCESSING: [&str; 22] = [
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strcpy", "strncpy", "strcat",
    "strcmp", "strncmp", "strchr", "strrchr", "strstr", "strtol", "sprintf", "snprintf", "fread",
    "fwrite", "fgets", "fputs", "fprintf",
];

/// Where what a pointer points to is accessed.
pub fn dereferences(unit: &Unit, node: &Tree, pointer: &str) -> Vec<usize> {
    let is_it = |node: Option<&Tree>| node.is_some_and(|node| unit.flat(bare(node)) == pointer);
    let mut found = Vec::new();
    walk(node, &mut |around, node| {
        let is_access = match node.kind {
            "field_expression" => operator(node) == "->" && is_it(child(node, "argument")),
            "pointer_expression" => operator(node) == "*" && is_it(child(node, "argument")),
            "subscript_expression" => is_it(child(node, "argument")),
            "call_expression" => call(unit, node).is_some_and(|(name, arguments)| {
                let name = name.trim_start_matches('_');
                ACCESSING.contains(&name) && arguments.iter().any(|a| is_it(Some(a)))
            }),
            _ => false,
        };
        // `&p->member` and `sizeof *p` access nothing.
        let is_taken = around.iter().rev().take(3).any(|outer| {
            outer.kind == "sizeof_expression"
                || (outer.kind == "pointer_expression" && operator(outer) == "&")
        });
        if is_access && !is_taken {
            found.push(node.bytes.start);
        }
    });
    found
}

/// Whether a pointer is accessed in a node after a place, before it is given another value.
pub fn is_dereferenced_after(unit: &Unit, node: &Tree, pointer: &str, from: usize) -> bool {
    let first = dereferences(unit, node, pointer).into_iter().find(|at| *at >= from);
    let assigned = assignments(unit, node, pointer).into_iter().find(|(end, _)| *end > from);
    first.is_some_and(|first| assigned.is_none_or(|(end, _)| first < end))
}

/// Whether a statement ends in leaving: `return`, `goto`, `break`, `continue` or a call that does
/// not come back.
pub fn leaves(unit: &Unit, statement: &Tree) -> bool {
    match statement.kind {
        "return_statement" | "goto_statement" | "break_statement" | "continue_statement" => true,
        "compound_statement" => {
            let last = statement.children.iter().rev().find(|child| child.kind != "}");
            last.is_some_and(|last| leaves(unit, last))
        }
        "expression_statement" => call_statement(unit, statement)
            .is_some_and(|(name, _)| matches!(name.as_str(), "exit" | "abort" | "_exit")),
        _ => false,
    }
}

/// The statements of a block, directives among them.
pub fn statements(block: &Tree) -> Vec<&Tree> {
    block.children.iter().filter(|child| !matches!(child.kind, "{" | "}")).collect()
}

/// An `if` without `else`: its condition and what it guards.
pub fn plain_if(node: &Tree) -> Option<(&Tree, &Tree)> {
    let is_plain = node.kind == "if_statement" && child(node, "alternative").is_none();
    is_plain.then(|| Some((child(node, "condition")?, child(node, "consequence")?))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(body: &str) -> Unit {
        Unit::parse(format!("int f(struct s *p, int n) {{ {body} }}\n"))
    }

    #[test]
    fn what_is_accessed_and_what_is_given_a_value() {
        let unit = unit("p = g(n); n = p->a; q = &p->b; k = sizeof *p; *p = h; strlen(p); p++;");
        let tree = &unit.functions[0].tree;
        let at = |text: &str| unit.text.find(text).unwrap();
        assert_eq!(dereferences(&unit, tree, "p"), [at("p->a"), at("*p = h"), at("strlen")]);
        let ends: Vec<usize> = assignments(&unit, tree, "p").iter().map(|(end, _)| *end).collect();
        assert_eq!(ends, [at("p = g(n)") + 8, at("p++") + 3]);
        let held: Vec<usize> =
            assignments(&unit, tree, "p->a").iter().map(|(end, _)| *end).collect();
        assert_eq!(held, ends);
        assert!(is_dereferenced_after(&unit, tree, "p", at("n = p")));
        assert!(!is_dereferenced_after(&unit, tree, "p", at("p++")));
    }

    #[test]
    fn parameters_and_the_innermost_declaration() {
        let unit = unit("{ char n[4]; n[0] = 1; } n = 2;");
        let parameters = unit.parameters(&unit.functions[0]);
        assert_eq!(parameters.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["p", "n"]);
        assert_eq!(unit.declaration("n", unit.text.find("n[0]").unwrap()).unwrap().shape, "[");
        assert_eq!(unit.declaration("n", unit.text.find("n = 2").unwrap()).unwrap().shape, "");
    }

    #[test]
    fn broken_text_is_no_reason_to_stop() {
        let unit = Unit::parse("int f( { if (p = ) \n#define\n }}} \u{e4} int".to_owned());
        assert!(unit.functions.len() <= 1);
        assert_eq!(unit.at(&(5..900)), "");
    }
}

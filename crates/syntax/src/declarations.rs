//! What names are declared where, with their types as they are written.

use std::ops::Range;

use tree_sitter::Node;

use crate::Source;

/// A variable, parameter, or member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub name: String,
    /// The type without the declarator: `unsigned int`, `struct node`.
    pub base: String,
    /// What the declarator adds, outermost first: `*` pointer, `[` array, `(` function.
    pub shape: String,
    /// Of the declared name.
    pub bytes: Range<usize>,
    /// Where the name can be used; of a member, the struct's braces.
    pub scope: Range<usize>,
    pub is_member: bool,
    /// The length of an array as it is written.
    pub length: Option<Range<usize>>,
}

impl Source {
    /// Every variable, parameter and struct member, in source order.
    pub fn declarations(&self) -> Vec<Declaration> {
        let mut found = Vec::new();
        self.visit(|node| {
            let is_member = node.kind() == "field_declaration";
            if is_member || matches!(node.kind(), "declaration" | "parameter_declaration") {
                self.declared(node, is_member, &mut found);
            }
        });
        found
    }

    fn declared(&self, node: Node, is_member: bool, found: &mut Vec<Declaration>) {
        let Some(base) = node.child_by_field_name("type") else { return };
        // Of a struct defined in place only the name counts.
        let named = base.child_by_field_name("body").and_then(|_| base.child_by_field_name("name"));
        let base = match named {
            Some(name) => format!("struct {}", self.slice(&name.byte_range())),
            None => self.slice(&base.byte_range()),
        };
        let mut base = base.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut cursor = node.walk();
        let is_const = node.children(&mut cursor).any(|child| {
            child.kind() == "type_qualifier" && self.slice(&child.byte_range()) == "const"
        });
        if is_const {
            base = format!("const {base}");
        }
        let mut cursor = node.walk();
        let declarators: Vec<Node> =
            node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            let Some((name, shape, length)) = peel(declarator) else { continue };
            found.push(Declaration {
                name: self.slice(&name.byte_range()),
                base: base.clone(),
                shape,
                bytes: name.byte_range(),
                scope: scope(node, name.end_byte()),
                is_member,
                length,
            });
        }
    }
}

/// The name inside a declarator, and what is around it.
fn peel(declarator: Node) -> Option<(Node, String, Option<Range<usize>>)> {
    let mut shape = String::new();
    let mut length = None;
    let mut node = declarator;
    for _ in 0..64 {
        match node.kind() {
            "identifier" | "field_identifier" => return Some((node, shape, length)),
            "pointer_declarator" => shape.push('*'),
            "array_declarator" => {
                shape.push('[');
                length = node.child_by_field_name("size").map(|size| size.byte_range());
            }
            "function_declarator" => shape.push('('),
            _ => {}
        }
        let inner = node.child_by_field_name("declarator");
        node = inner.or_else(|| node.named_child(0))?;
    }
    None
}

/// From the declaration to the end of the block, loop, function or file it stands in.
fn scope(declaration: Node, from: usize) -> Range<usize> {
    let mut around = declaration.parent();
    while let Some(node) = around {
        match node.kind() {
            "compound_statement"
            | "for_statement"
            | "function_definition"
            | "field_declaration_list" => return from..node.end_byte(),
            // Parameters of a declaration without a body are nobody's.
            "declaration" => return from..from,
            _ => around = node.parent(),
        }
    }
    from..usize::MAX
}

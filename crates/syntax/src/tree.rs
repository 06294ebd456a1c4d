//! A part of a file as a plain tree, to compare with another and to make changed copies of.

use std::ops::Range;

use tree_sitter::{Node, TreeCursor};

use crate::Source;

/// A node of the grammar with everything below it; without children it is a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The grammar's name: `binary_expression`, `identifier`, `<=`, ...
    pub kind: &'static str,
    /// What it is to its parent: `condition`, `left`, `operator`, ...
    pub role: Option<&'static str>,
    pub bytes: Range<usize>,
    pub children: Vec<Tree>,
}

/// What lies deeper is taken as one token: sources are hostile, and trees are walked by
/// recursion.
const MAX_DEPTH: usize = 200;

impl Source {
    /// The largest nodes that lie in some bytes, in source order; comments are left out.
    pub fn trees(&self, within: &Range<usize>) -> Vec<Tree> {
        let mut found = Vec::new();
        let mut cursor = self.tree.walk();
        loop {
            let node = cursor.node();
            let is_inside = within.start <= node.start_byte() && node.end_byte() <= within.end;
            let is_outside = node.end_byte() <= within.start || within.end <= node.start_byte();
            if is_inside && node.start_byte() < node.end_byte() && !is_comment(node) {
                found.push(tree(&mut cursor, 0));
            }
            if !is_inside && !is_outside && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return found;
                }
            }
        }
    }
}

fn is_comment(node: Node) -> bool {
    node.kind() == "comment"
}

/// Literals are tokens, whatever the grammar sees in them.
fn is_token(node: Node) -> bool {
    matches!(node.kind(), "string_literal" | "char_literal" | "system_lib_string")
}

fn tree(cursor: &mut TreeCursor, depth: usize) -> Tree {
    let node = cursor.node();
    let role = cursor.field_name();
    let mut children = Vec::new();
    if depth < MAX_DEPTH && !is_token(node) && cursor.goto_first_child() {
        loop {
            if !is_comment(cursor.node()) {
                children.push(tree(cursor, depth + 1));
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        cursor.goto_parent();
    }
    Tree { kind: node.kind(), role, bytes: node.byte_range(), children }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(source: &Source, tree: &Tree) -> String {
        if tree.children.is_empty() {
            return source.slice(&tree.bytes);
        }
        let children: Vec<String> = tree.children.iter().map(|c| outline(source, c)).collect();
        format!("({})", children.join(" "))
    }

    #[test]
    fn the_head_of_a_statement_without_its_body() {
        let source = Source::parse("int f(int a) { if (a /* n */ <= g(1, \"x y\")) a = 2; }");
        let statement = &source.statements()[0];
        let trees = source.trees(&statement.bytes);
        let read: Vec<String> = trees.iter().map(|tree| outline(&source, tree)).collect();
        assert_eq!(read, ["if", "(( (a <= (g (( 1 , \"x y\" )))) ))"]);
        assert_eq!(trees[1].children[1].children[0].role, Some("left"));
    }

    #[test]
    fn deep_nesting_is_cut() {
        let deep = format!("int x = {}1{};", "(".repeat(5000), ")".repeat(5000));
        let source = Source::parse(deep);
        let length = source.text().len();
        assert_eq!(source.trees(&(0..length)).len(), 1);
    }
}

//! C sources as they are written: functions, statements, expressions and tokens with the
//! bytes they stand on.
//!
//! The program model says what the code does; edits, diffs and the shape of a statement are
//! about its text, macros and all. Parsing never fails: what is no C becomes an error node,
//! and everything around it is still there.

mod declarations;
mod tokens;
mod tree;

pub use declarations::Declaration;
pub use tokens::{Token, TokenKind, tokens};
pub use tree::Tree;

use std::ops::Range;

use tree_sitter::{Node, Parser, TreeCursor};

/// A parsed file.
pub struct Source {
    text: Vec<u8>,
    tree: tree_sitter::Tree,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub bytes: Range<usize>,
    pub body: Range<usize>,
}

/// A statement or declaration inside a function, without the statements nested in it: of an
/// `if` the condition, of a `for` its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    /// What belongs to it alone: `if (a < b)`, `x = y + 1;`.
    pub bytes: Range<usize>,
    /// Nested statements included.
    pub whole: Range<usize>,
    pub function: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatementKind {
    If,
    For,
    While,
    DoWhile,
    Switch,
    Case,
    Return,
    Jump,
    Declaration,
    Expression,
    Other,
}

/// An expression, whatever it is nested in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The grammar's name: `binary_expression`, `number_literal`, `identifier`, ...
    pub kind: &'static str,
    pub bytes: Range<usize>,
    /// Of unary, binary, assignment and update expressions.
    pub operator: Option<Range<usize>>,
    /// The expressions directly below, in source order.
    pub operands: Vec<Range<usize>>,
    /// The grammar's name of what it stands in, and its role there: `("for_statement",
    /// Some("condition"))`.
    pub parent: (&'static str, Option<&'static str>),
    /// How deep below the file.
    pub depth: usize,
}

impl Source {
    pub fn parse(text: impl Into<Vec<u8>>) -> Source {
        let text = text.into();
        let mut parser = Parser::new();
        let language = tree_sitter_c::LANGUAGE.into();
        parser.set_language(&language).expect("the grammar and the parser are of one version");
        let tree = parser.parse(&text, None).expect("only a time limit makes parsing fail");
        Source { text, tree }
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text of some bytes; what is not UTF-8 is replaced.
    pub fn slice(&self, bytes: &Range<usize>) -> String {
        let bytes = self.text.get(bytes.clone()).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Line and column of a byte, both from 1, the column in bytes.
    pub fn position(&self, byte: usize) -> (u32, u32) {
        let before = &self.text[..byte.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (narrow(line), narrow(before.len() - start + 1))
    }

    /// The bytes of a line, its end not included.
    pub fn line(&self, line: u32) -> Option<Range<usize>> {
        let mut start = 0;
        for _ in 1..line {
            start += self.text[start..].iter().position(|byte| *byte == b'\n')? + 1;
        }
        let length = self.text[start..].iter().position(|byte| *byte == b'\n');
        (line > 0).then(|| start..length.map_or(self.text.len(), |length| start + length))
    }

    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        self.visit(|node| {
            if node.kind() == "function_definition" {
                found.extend(self.function(node));
            }
        });
        found
    }

    /// The statements of all functions, in source order.
    pub fn statements(&self) -> Vec<Statement> {
        let functions = self.functions();
        let mut found = Vec::new();
        self.visit(|node| {
            let Some(kind) = statement_kind(node) else { return };
            let around = functions.iter().rev().find(|f| f.body.contains(&node.start_byte()));
            let Some(function) = around else { return };
            found.push(Statement {
                kind,
                bytes: own_bytes(node),
                whole: node.byte_range(),
                function: function.name.clone(),
            });
        });
        found
    }

    /// The statements that start in a line, or else the innermost that stands on it.
    pub fn statements_at(&self, line: u32) -> Vec<Statement> {
        let Some(bytes) = self.line(line) else { return Vec::new() };
        let all = self.statements();
        let starting = all.iter().filter(|s| bytes.contains(&s.bytes.start));
        let starting: Vec<Statement> = starting.cloned().collect();
        if !starting.is_empty() {
            return starting;
        }
        let text = &self.text[bytes.clone()];
        let indent = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let first = bytes.start + indent;
        let around = all.into_iter().filter(|s| s.bytes.contains(&first));
        around.min_by_key(|s| s.bytes.len()).into_iter().collect()
    }

    /// The expressions in some bytes, outermost first.
    pub fn expressions(&self, within: &Range<usize>) -> Vec<Expression> {
        let mut found = Vec::new();
        self.visit_deep(|node, depth, role| {
            let inside = within.start <= node.start_byte() && node.end_byte() <= within.end;
            if inside && is_expression(node) {
                found.push(expression(node, depth, role));
            }
        });
        found
    }

    /// Whether something in these bytes is not C as the parser knows it.
    pub fn has_error(&self, within: &Range<usize>) -> bool {
        let mut any = false;
        self.visit(|node| {
            let inside = within.start <= node.start_byte() && node.end_byte() <= within.end;
            any |= inside && (node.is_error() || node.is_missing());
        });
        any
    }

    fn function(&self, node: Node) -> Option<Function> {
        let body = node.child_by_field_name("body")?.byte_range();
        let mut declarator = node.child_by_field_name("declarator")?;
        while declarator.kind() != "identifier" {
            let nested = declarator.child_by_field_name("declarator");
            declarator = nested.or_else(|| declarator.named_child(0))?;
        }
        let name = self.slice(&declarator.byte_range());
        Some(Function { name, bytes: node.byte_range(), body })
    }

    fn visit(&self, mut each: impl FnMut(Node)) {
        self.visit_deep(|node, _, _| each(node));
    }

    /// Every node in source order with its depth and its role in its parent; without
    /// recursion, since hostile sources nest deeply.
    fn visit_deep(&self, mut each: impl FnMut(Node, usize, Option<&'static str>)) {
        let mut cursor = self.tree.walk();
        let mut depth = 0;
        loop {
            each(cursor.node(), depth, role(&cursor));
            if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }
}

fn role(cursor: &TreeCursor) -> Option<&'static str> {
    cursor.field_name()
}

fn statement_kind(node: Node) -> Option<StatementKind> {
    Some(match node.kind() {
        "if_statement" => StatementKind::If,
        "for_statement" => StatementKind::For,
        "while_statement" => StatementKind::While,
        "do_statement" => StatementKind::DoWhile,
        "switch_statement" => StatementKind::Switch,
        "case_statement" => StatementKind::Case,
        "return_statement" => StatementKind::Return,
        "break_statement" | "continue_statement" | "goto_statement" => StatementKind::Jump,
        // The declaration in the head of a `for` belongs to the `for`.
        "declaration" if !is_in_head(node) => StatementKind::Declaration,
        "expression_statement" => StatementKind::Expression,
        "labeled_statement" | "attributed_statement" => StatementKind::Other,
        _ => return None,
    })
}

fn is_in_head(node: Node) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == "for_statement")
}

/// Up to where the first nested statement begins; of a `do` the condition at its end.
fn own_bytes(node: Node) -> Range<usize> {
    let whole = node.byte_range();
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "if_statement" => field("condition").map_or(whole.clone(), |c| whole.start..c.end_byte()),
        "do_statement" => field("condition").map_or(whole.clone(), |c| c.byte_range()),
        "while_statement" | "for_statement" | "switch_statement" => {
            let head = field("body").and_then(|body| body.prev_sibling());
            head.map_or(whole.clone(), |last| whole.start..last.end_byte())
        }
        "case_statement" => {
            let mut cursor = node.walk();
            let colon = node.children(&mut cursor).find(|child| child.kind() == ":");
            colon.map_or(whole.clone(), |colon| whole.start..colon.end_byte())
        }
        "labeled_statement" => {
            field("label").map_or(whole.clone(), |label| whole.start..label.end_byte())
        }
        _ => whole,
    }
}

fn is_expression(node: Node) -> bool {
    let kind = node.kind();
    let is_leaf = matches!(
        kind,
        "identifier"
            | "number_literal"
            | "string_literal"
            | "char_literal"
            | "concatenated_string"
            | "true"
            | "false"
            | "null"
    );
    // A name that is being declared is no expression.
    let is_declared = |role: &str| {
        node.parent().and_then(|parent| parent.child_by_field_name(role)) == Some(node)
    };
    node.is_named()
        && ((is_leaf && !is_declared("declarator") && !is_declared("label"))
            || (kind.ends_with("_expression") && kind != "preproc_expression"))
}

fn expression(node: Node, depth: usize, role: Option<&'static str>) -> Expression {
    let mut cursor = node.walk();
    let children: Vec<Node> = node.named_children(&mut cursor).collect();
    let operands = children.into_iter().flat_map(|child| match child.kind() {
        "argument_list" => {
            let mut cursor = child.walk();
            child.named_children(&mut cursor).filter(|node| is_expression(*node)).collect()
        }
        _ if is_expression(child) => vec![child],
        _ => Vec::new(),
    });
    Expression {
        kind: node.kind(),
        bytes: node.byte_range(),
        operator: node.child_by_field_name("operator").map(|operator| operator.byte_range()),
        operands: operands.map(|operand| operand.byte_range()).collect(),
        parent: (node.parent().map_or("", |parent| parent.kind()), role),
        depth,
    }
}

//! A statement as a tree of terms: tokens and what is made of them, without blanks, comments
//! and parentheses that only group.

use std::ops::Range;

use syntax::{Source, Statement, Tree, tokens};

/// Part of a statement.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub kind: &'static str,
    pub role: Option<&'static str>,
    pub bytes: Range<usize>,
    /// The tokens, one blank between each: equal for equal code.
    pub text: String,
    pub children: Vec<Term>,
}

impl Term {
    /// The pieces of a statement's own bytes under one root.
    pub fn of_statement(source: &Source, statement: &Statement) -> Term {
        let trees = source.trees(&statement.bytes);
        let children: Vec<Term> = trees.iter().map(|tree| Term::new(source, tree)).collect();
        // Most statements are one node; the head of a loop is several.
        match <[Term; 1]>::try_from(children) {
            Ok([only]) => only,
            Err(children) => Term {
                kind: "head",
                role: None,
                bytes: statement.bytes.clone(),
                text: text_of(source, &statement.bytes),
                children,
            },
        }
    }

    fn new(source: &Source, tree: &Tree) -> Term {
        let children: Vec<Term> = tree.children.iter().map(|c| Term::new(source, c)).collect();
        let text = text_of(source, &tree.bytes);
        Term { kind: tree.kind, role: tree.role, bytes: tree.bytes.clone(), text, children }
    }

    /// What is inside parentheses that only group.
    pub fn inner(&self) -> &Term {
        let mut term = self;
        while term.kind == "parenthesized_expression" && term.children.len() == 3 {
            term = &term.children[1];
        }
        term
    }

    pub fn child(&self, role: &str) -> Option<&Term> {
        self.children.iter().find(|child| child.role == Some(role))
    }

    pub fn operator(&self) -> Option<&str> {
        self.child("operator").map(|operator| operator.text.as_str())
    }

    /// Both operands of a binary expression.
    pub fn operands(&self) -> Option<(&Term, &Term)> {
        let is_binary = self.kind == "binary_expression";
        is_binary.then(|| Some((self.child("left")?, self.child("right")?)))?
    }

    /// The arguments of a call.
    pub fn arguments(&self) -> Option<Vec<&Term>> {
        let list = (self.kind == "call_expression").then(|| self.child("arguments"))??;
        let is_argument = |term: &&Term| !matches!(term.kind, "(" | ")" | ",");
        Some(list.children.iter().filter(is_argument).collect())
    }

    /// This term and all below it, outermost first.
    pub fn all(&self) -> Vec<&Term> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(term) = open.pop() {
            found.push(term);
            open.extend(term.children.iter().rev());
        }
        found
    }

    pub fn is_constant(&self) -> bool {
        matches!(
            self.kind,
            "number_literal" | "char_literal" | "string_literal" | "true" | "false" | "null"
        ) || (self.kind == "concatenated_string")
    }

    pub fn is_name(&self) -> bool {
        self.kind == "identifier"
    }
}

/// The tokens of some bytes, joined by blanks.
pub(crate) fn text_of(source: &Source, bytes: &Range<usize>) -> String {
    let text = source.text().get(bytes.clone()).unwrap_or_default();
    let texts: Vec<String> = tokens(text).into_iter().map(|token| token.text).collect();
    texts.join(" ")
}

//! Situation descriptors from the structure of a statement: figure 8.2's table.

use syntax::{Source, Statement, StatementKind};

use crate::Situation;
use crate::scope::Scope;
use crate::term::Term;

/// The descriptors of a statement's tokens, and of what kind of statement it is.
pub fn structure_descriptors(source: &Source, scope: &Scope, statement: &Statement) -> Situation {
    let root = Term::of_statement(source, statement);
    let mut found = Situation::new();
    found.extend(kind_of(statement.kind, &root).map(str::to_owned));
    let mut open = vec![(&root, "")];
    while let Some((term, parent)) = open.pop() {
        describe(term, parent, scope, &mut found);
        open.extend(term.children.iter().rev().map(|child| (child, term.kind)));
    }
    found
}

fn kind_of(kind: StatementKind, root: &Term) -> Option<&'static str> {
    let assigns = |term: &&Term| {
        matches!(term.kind, "assignment_expression" | "update_expression" | "init_declarator")
    };
    match kind {
        StatementKind::If
        | StatementKind::For
        | StatementKind::While
        | StatementKind::DoWhile
        | StatementKind::Switch => Some("COND_STMT"),
        StatementKind::Expression | StatementKind::Declaration
            if root.all().iter().any(assigns) =>
        {
            Some("ASSIGN_STMT")
        }
        StatementKind::Declaration => Some("DECL_STMT"),
        _ => None,
    }
}

fn describe(term: &Term, parent: &str, scope: &Scope, found: &mut Situation) {
    let mut add = |descriptor: &str| {
        found.insert(descriptor.to_owned());
    };
    match term.kind {
        "call_expression" => add("FUNC_CALL"),
        "subscript_expression" => add("ARRAY_ACCESS"),
        "cast_expression" => add("CAST"),
        "identifier" if parent == "call_expression" && term.role == Some("function") => {}
        "identifier" if scope.is_constant(&term.text, term.bytes.start) => {
            add("CONST");
            add("int-CONST");
        }
        "identifier" => {
            add("VAR");
            if let Some(ty) = scope.type_of(&term.text, term.bytes.start) {
                add(&format!("{ty}-VAR"));
            }
        }
        "field_identifier" => {
            add("VAR");
            if let Some(ty) = scope.type_of_member(&term.text) {
                add(&format!("{ty}-VAR"));
            }
        }
        "type_identifier" => add("user-defined"),
        _ if term.is_constant() && term.kind != "concatenated_string" => {
            add("CONST");
            add(&format!("{}-CONST", constant_type(term)));
        }
        // The words of a type stand for themselves, and its name for the type.
        "primitive_type" => add(&term.text),
        _ if term.children.is_empty() => {
            if let Some(descriptor) = token(&term.text, parent) {
                add(descriptor);
            }
        }
        _ => {}
    }
}

fn constant_type(term: &Term) -> &'static str {
    let text = term.text.to_ascii_lowercase();
    let is_hexadecimal = text.starts_with("0x");
    match term.kind {
        "char_literal" => "char",
        "string_literal" => "char*",
        "null" => "void*",
        "number_literal" if text.contains('.') || (!is_hexadecimal && text.contains('e')) => {
            "double"
        }
        _ => "int",
    }
}

/// Keywords and operators as they are; what only formats is nothing.
fn token<'a>(text: &'a str, parent: &str) -> Option<&'a str> {
    match (text, parent) {
        ("*", "pointer_expression") => Some("Deref"),
        ("&", "pointer_expression") => Some("REF"),
        ("*", parent) if parent.contains("declarator") => None,
        ("," | ";" | "(" | ")" | "{" | "}" | "[" | "]" | ":" | "...", _) => None,
        (text, _) if text.is_empty() || text.starts_with(['"', '\'', '\\', '#']) => None,
        (text, _) if text.starts_with(|c: char| c.is_ascii_lowercase()) => {
            is_keyword(text).then_some(text)
        }
        (text, _) => text.chars().all(|c| c.is_ascii_punctuation()).then_some(text),
    }
}

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 32] = [
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
        "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
        "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
        "unsigned", "void", "while",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptors(declarations: &str, statement: &str) -> Vec<String> {
        let text = format!("void test(void) {{ {declarations}\n{statement} }}");
        let source = Source::parse(text);
        let scope = Scope::new(&source);
        let statement = source.statements_at(2).remove(0);
        structure_descriptors(&source, &scope, &statement).into_iter().collect()
    }

    fn assert_set(found: Vec<String>, expected: &str) {
        let mut expected: Vec<&str> = expected.split(", ").collect();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn figure_8_3() {
        assert_set(
            descriptors("int a, b;", "int x = a + b;"),
            "ASSIGN_STMT, int, VAR, int-VAR, =, +",
        );
        assert_set(
            descriptors("char c; int *y;", "c = (char)(2 + *y);"),
            "ASSIGN_STMT, VAR, char-VAR, =, CAST, char, CONST, int-CONST, +, Deref, int*-VAR",
        );
        assert_set(
            descriptors("int x; int *a;", "if (foo(x) + a[3] < 0) ;"),
            "COND_STMT, if, FUNC_CALL, VAR, int-VAR, +, ARRAY_ACCESS, int*-VAR, CONST, int-CONST, <",
        );
    }

    #[test]
    fn other_entities_of_figure_8_2() {
        assert_set(
            descriptors("", "unsigned int *p;"),
            "DECL_STMT, VAR, int, unsigned, unsigned int*-VAR",
        );
        assert_set(
            descriptors("char *s;", "return s[0] != 'x' && !strcmp(s, \"rabbit\");"),
            "return, VAR, char*-VAR, ARRAY_ACCESS, CONST, int-CONST, char-CONST, char*-CONST, \
             !=, &&, !, FUNC_CALL",
        );
        assert_set(
            descriptors("struct s *p; double d;", "d = p->x * 3.21 & f(&d, NULL);"),
            "ASSIGN_STMT, VAR, double-VAR, user-defined*-VAR, =, ->, *, &, REF, FUNC_CALL, CONST, \
             double-CONST, void*-CONST",
        );
        assert_set(
            descriptors("int i;", "for (i = 0; i < 9; i++) { int hidden = i; }"),
            "COND_STMT, for, VAR, int-VAR, =, <, ++, CONST, int-CONST",
        );
    }
}

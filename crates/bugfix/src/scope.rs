//! What names mean, as far as one file tells: types of variables and members, constants.
//!
//! Situations come from programs that build and from old commits that may not, and must be
//! comparable: types are read from the declarations in the file, never from a compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syntax::{Source, Tree};

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub name: String,
    /// `int`, `char*`, `user-defined`, ...
    pub ty: String,
    /// Where it is declared.
    pub at: usize,
}

/// The names of a file.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    globals: Vec<Variable>,
    /// By function: its bytes and what it declares.
    functions: Vec<(Range<usize>, Vec<Variable>)>,
    members: BTreeMap<String, String>,
    /// The members that stand together in one structure.
    structures: Vec<Vec<String>>,
    constants: BTreeSet<String>,
}

impl Scope {
    pub fn new(source: &Source) -> Self {
        let mut scope = Scope::default();
        let all = 0..source.text().len();
        for tree in source.trees(&all) {
            scope.read(source, &tree);
        }
        scope
    }

    fn read(&mut self, source: &Source, top: &Tree) {
        let mut open = vec![(top, None)];
        while let Some((tree, function)) = open.pop() {
            let mut function: Option<usize> = function;
            match tree.kind {
                "function_definition" => {
                    self.functions.push((tree.bytes.clone(), Vec::new()));
                    function = Some(self.functions.len() - 1);
                }
                "declaration" | "parameter_declaration" => {
                    let declared = declared(source, tree);
                    match function {
                        Some(function) => self.functions[function].1.extend(declared),
                        // Parameters of mere declarations declare nothing.
                        None if tree.kind == "declaration" => self.globals.extend(declared),
                        None => {}
                    }
                }
                "field_declaration_list" => self.read_members(source, tree),
                "enumerator" => {
                    let name = tree.children.first().map(|name| source.slice(&name.bytes));
                    self.constants.extend(name);
                }
                "preproc_def" => {
                    let name = tree.children.iter().find(|c| c.role == Some("name"));
                    let has_value = tree.children.iter().any(|c| c.role == Some("value"));
                    self.constants
                        .extend(name.filter(|_| has_value).map(|name| source.slice(&name.bytes)));
                }
                _ => {}
            }
            // The last is looked at first: names stay in source order.
            open.extend(tree.children.iter().rev().map(|child| (child, function)));
        }
    }

    fn read_members(&mut self, source: &Source, list: &Tree) {
        let declarations = list.children.iter().filter(|c| c.kind == "field_declaration");
        let members: Vec<Variable> = declarations.flat_map(|d| declared(source, d)).collect();
        self.structures.push(members.iter().map(|member| member.name.clone()).collect());
        for member in members {
            self.members.entry(member.name).or_insert(member.ty);
        }
    }

    /// The type of a variable used at a byte.
    pub(crate) fn type_of(&self, name: &str, at: usize) -> Option<&str> {
        let visible = self.visible(at);
        visible.into_iter().rev().find(|v| v.name == name).map(|v| v.ty.as_str())
    }

    pub(crate) fn type_of_member(&self, name: &str) -> Option<&str> {
        self.members.get(name).map(String::as_str)
    }

    /// Members beside this one with the same type.
    pub(crate) fn siblings(&self, member: &str) -> Vec<&str> {
        let ty = self.type_of_member(member);
        let with = self.structures.iter().filter(|s| s.iter().any(|name| name == member));
        let mut found: Vec<&str> = with
            .flatten()
            .map(String::as_str)
            .filter(|name| *name != member && self.type_of_member(name) == ty)
            .collect();
        found.dedup();
        found
    }

    /// The variables that can be used at a byte, those of the function last.
    pub(crate) fn visible(&self, at: usize) -> Vec<&Variable> {
        let locals = self.functions.iter().filter(|(bytes, _)| bytes.contains(&at));
        let locals = locals.flat_map(|(_, variables)| variables).filter(|v| v.at <= at);
        self.globals.iter().chain(locals).collect()
    }

    /// An enumerator, a macro with a value, or a name that is written like one.
    pub(crate) fn is_constant(&self, name: &str, at: usize) -> bool {
        if self.constants.contains(name) {
            return true;
        }
        let is_loud = name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        is_loud && self.type_of(name, at).is_none()
    }
}

/// What a declaration declares; functions are left out.
fn declared(source: &Source, declaration: &Tree) -> Vec<Variable> {
    let Some(ty) = declaration.children.iter().find(|c| c.role == Some("type")) else {
        return Vec::new();
    };
    let base = base_type(source, ty);
    let declarators = declaration.children.iter().filter(|c| c.role == Some("declarator"));
    declarators.filter_map(|declarator| variable(source, declarator, &base)).collect()
}

fn variable(source: &Source, declarator: &Tree, base: &str) -> Option<Variable> {
    let mut ty = base.to_owned();
    let mut tree = declarator;
    loop {
        match tree.kind {
            "identifier" | "field_identifier" => {
                let name = source.slice(&tree.bytes);
                return Some(Variable { name, ty, at: tree.bytes.start });
            }
            "pointer_declarator" | "array_declarator" => ty.push('*'),
            // A function is no variable; a pointer to one is.
            "function_declarator" => {
                let is_pointer = tree.children.iter().any(|c| c.kind == "parenthesized_declarator");
                if !is_pointer {
                    return None;
                }
                ty = "user-defined".to_owned();
            }
            _ => {}
        }
        let nested = tree.children.iter().find(|c| c.role == Some("declarator"));
        tree = nested.or_else(|| {
            let named = |c: &&Tree| c.kind.ends_with("declarator") || c.kind == "identifier";
            tree.children.iter().find(named)
        })?;
    }
}

/// The name of a type as descriptors have it.
pub(crate) fn base_type(source: &Source, ty: &Tree) -> String {
    let text = source.slice(&ty.bytes);
    let words: BTreeSet<&str> = text.split_ascii_whitespace().collect();
    match ty.kind {
        "primitive_type" => text,
        "sized_type_specifier" => {
            let is_unsigned = words.contains("unsigned");
            let size = ["short", "long", "char"].into_iter().find(|size| words.contains(size));
            let base = if words.contains("double") { "double" } else { size.unwrap_or("int") };
            if is_unsigned { format!("unsigned {base}") } else { base.to_owned() }
        }
        "enum_specifier" => "int".to_owned(),
        _ => "user-defined".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_types_of_their_declarations() {
        let text = "#define LIMIT 5\nenum color { RED };\nstruct s { int a, b; char *name; };\n\
            static unsigned long total; int add(int x);\n\
            int add(x, y) int x; char y; { double d[3]; struct s *p = 0;\n\
              for (int i = 0; i < 3; i++) { total += d[i]; } return x + (*p).a; }";
        let source = Source::parse(text);
        let scope = Scope::new(&source);
        let at = text.find("return").unwrap();
        let ty = |name| scope.type_of(name, at);
        assert_eq!(ty("x"), Some("int"));
        assert_eq!(ty("y"), Some("char"));
        assert_eq!(ty("d"), Some("double*"));
        assert_eq!(ty("p"), Some("user-defined*"));
        assert_eq!(ty("i"), Some("int"));
        assert_eq!(ty("total"), Some("unsigned long"));
        assert_eq!(ty("add"), None);
        assert_eq!(scope.type_of("x", 10), None);
        assert_eq!(scope.type_of_member("name"), Some("char*"));
        assert_eq!(scope.siblings("a"), ["b"]);
        for name in ["LIMIT", "RED", "EOF"] {
            assert!(scope.is_constant(name, at), "{name}");
        }
        assert!(!scope.is_constant("total", at) && !scope.is_constant("X", at));
    }
}

//! A local variable gets a narrower type: 16 bits where there were 32 or 64.
//!
//! It must be given a length that the text does not bound (the length of a string, a number read
//! from a message, a parameter that says how much there is, a sum or product of these) and then be used as the size of an allocation,
//! the length of a copy, an index or the bound of a loop.

use syntax::Tree;

use crate::bench::inject::code::{
    Function, Unit, assignments, bare, call, child, is_place, mentions, nodes, operator, walk,
};
use crate::bench::inject::facts::is_allocator;
use crate::bench::inject::kind::{Edit, Injection, Kind};

pub fn find(unit: &Unit, function: &Function) -> Vec<Injection> {
    let mut found = Vec::new();
    walk(&function.tree, &mut |around, node| {
        let is_block = around.last().is_some_and(|outer| outer.kind == "compound_statement");
        if node.kind != "declaration" || !is_block {
            return;
        }
        let Some(declared) = child(node, "type") else { return };
        let Some(new) = narrower(&unit.at(&declared.bytes).split_whitespace().collect::<Vec<_>>())
        else {
            return;
        };
        let declarators: Vec<&Tree> =
            node.children.iter().filter(|child| child.role == Some("declarator")).collect();
        let [declarator] = declarators[..] else { return };
        let name = match declarator.kind {
            "identifier" => declarator,
            "init_declarator" => match child(declarator, "declarator") {
                Some(name) if name.kind == "identifier" => name,
                _ => return,
            },
            _ => return,
        };
        let name = unit.flat(name);
        let given = assignments(unit, &function.tree, &name);
        let is_taken = nodes(&function.tree).into_iter().any(|node| {
            node.kind == "pointer_expression"
                && operator(node) == "&"
                && mentions(unit, node, &name)
        });
        let is_length =
            given.iter().any(|(_, v)| v.is_some_and(|v| is_unbounded(unit, function, v)));
        if is_length && !is_taken && is_measure(unit, function, &name) {
            found.push(Injection {
                kind: Kind::Narrower,
                function: function.name.clone(),
                edits: vec![Edit::new(declared.bytes.clone(), new)],
            });
        }
    });
    found
}

fn narrower(words: &[&str]) -> Option<&'static str> {
    const UNSIGNED: [&str; 9] = [
        "size_t",
        "unsigned",
        "unsigned long",
        "unsigned int",
        "uint32_t",
        "uint64_t",
        "uInt",
        "uLong",
        "lu_mem",
    ];
    const SIGNED: [&str; 7] =
        ["int", "long", "ssize_t", "int32_t", "int64_t", "off_t", "ptrdiff_t"];
    let base = words.join(" ");
    if UNSIGNED.contains(&base.as_str()) {
        Some("unsigned short")
    } else {
        SIGNED.contains(&base.as_str()).then_some("short")
    }
}

/// Whether a value can be large as far as the text shows.
fn is_unbounded(unit: &Unit, function: &Function, value: &Tree) -> bool {
    let value = bare(value);
    match value.kind {
        "call_expression" => call(unit, value).is_some_and(|(name, _)| {
            let name = name.to_ascii_lowercase();
            ["strlen", "ntoh", "tell", "u32", "uint32"].iter().any(|part| name.contains(part))
        }),
        "identifier" => {
            let name = unit.flat(value);
            is_length_name(&name) && unit.parameters(function).iter().any(|p| p.name == name)
        }
        "field_expression" => {
            child(value, "field").is_some_and(|member| unit.flat(member).ends_with("len"))
        }
        "binary_expression" if matches!(operator(value), "+" | "*" | "-") => ["left", "right"]
            .iter()
            .any(|role| child(value, role).is_some_and(|side| is_unbounded(unit, function, side))),
        _ => false,
    }
}

fn is_length_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["len", "size", "count", "num", "avail", "bytes"];
    name == "n" || words.iter().any(|word| name.contains(word))
}

/// Whether something is as large as a variable says.
fn is_measure(unit: &Unit, function: &Function, name: &str) -> bool {
    nodes(&function.tree).into_iter().any(|node| match node.kind {
        "call_expression" => call(unit, node).is_some_and(|(called, arguments)| {
            let is_sized = is_allocator(&called)
                || ["memcpy", "memmove", "memset", "memcmp", "strncpy"].contains(&called.as_str());
            is_sized && arguments.iter().any(|argument| mentions(unit, argument, name))
        }),
        "subscript_expression" => {
            child(node, "index").is_some_and(|index| mentions(unit, index, name))
        }
        "for_statement" | "while_statement" => child(node, "condition").is_some_and(|condition| {
            nodes(condition).into_iter().any(|part| {
                let larger = match operator(part) {
                    "<" | "<=" => child(part, "right"),
                    ">" | ">=" => child(part, "left"),
                    _ => None,
                };
                larger.is_some_and(|side| is_place(bare(side)) && unit.flat(bare(side)) == name)
            })
        }),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed;

    fn find(text: &str) -> Vec<String> {
        changed(text, |unit, function, _| super::find(unit, function))
    }

    #[test]
    fn lengths_become_short() {
        let copied = "void f(char *s) {\n  size_t n = strlen(s);\n  memcpy(b, s, n + 1);\n}\n";
        assert_eq!(find(copied), ["unsigned short n = strlen(s);"]);
        let bound =
            "void f(struct s *p, int i) {\n  int n;\n  n = p->len * 2;\n  while (i < n) i++;\n}\n";
        assert_eq!(find(bound), ["short n;"]);
    }

    #[test]
    fn what_is_small_or_only_printed_stays() {
        let none = |text| assert_eq!(find(text), [] as [&str; 0]);
        none("void f(char *s) {\n  size_t n = 8;\n  memcpy(b, s, n);\n}\n");
        none("void f(struct s *p) {\n  size_t n = p->block_size;\n  memcpy(b, s, n);\n}\n");
        none("void f(char *s) {\n  size_t n = strlen(s);\n  print(n);\n}\n");
        none("void f(char *s) {\n  char n = strlen(s);\n  memcpy(b, s, n);\n}\n");
        none("void f(char *s) {\n  size_t n = strlen(s), m;\n  memcpy(b, s, n);\n}\n");
        none("void f(char *s) {\n  size_t n = strlen(s);\n  g(&n);\n  memcpy(b, s, n);\n}\n");
        none(
            "#define LEN size_t n = strlen(s)\nvoid f(char *s) {\n  LEN;\n  memcpy(b, s, n);\n}\n",
        );
    }
}
